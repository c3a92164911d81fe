"""Open a repository for the audit's rules."""

from pathlib import Path
from typing import NamedTuple

from gate.policy import Policy
from gate.repository.checks import Check, gating, read_checks
from gate.repository.tree import Tree, open_tree
from gate.repository.workflows import Workflow, read_workflows


class Repository(NamedTuple):
    """What a rule sees: the files, every check, those of them that decide, and the workflows."""

    tree: Tree
    checks: tuple[Check, ...]
    gate: tuple[Check, ...]
    workflows: tuple[Workflow, ...]


def open_repository(root: Path, policy: Policy) -> Repository:
    """Return the repository at the root of a worktree. Raises UsageError where git cannot list its files."""
    tree = open_tree(root, policy)
    checks = read_checks(tree)
    return Repository(tree, checks, gating(checks), read_workflows(tree))
