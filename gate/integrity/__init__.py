"""What in a change weakens its own gate, against the base commit. Each concept of weakening has its module."""

from collections.abc import Callable, Iterable
from pathlib import Path

from gate.integrity import configs, paths, policies, programs, selection, shadows, shortcuts, silenced, tests
from gate.integrity.change import Change, error, read_change
from gate.policy import Policy
from gate.report import Finding

LOOKS: tuple[Callable[[Change, Policy], Iterable[Finding]], ...] = (
    policies.look,
    paths.look,
    tests.look,
    programs.look,
    shortcuts.look,
    configs.look,
    shadows.look,
    silenced.look,
    selection.look,
)


def compare(repo: Path, base: str, policy: Policy) -> tuple[Finding, ...]:
    """Return what the worktree weakens against the base; any finding of level error makes the verdict TAMPERED."""
    return weigh(read_change(repo, base), policy)


def weigh(change: Change, policy: Policy) -> tuple[Finding, ...]:
    """Return what a change weakens: one finding for each rule and line."""
    if change.left_out:
        message = f"{change.left_out} changed files are too many to compare; nothing is known of them"
        return (error("change-too-large", message, change.files[-1].path, fix="change less at a time"),)
    found: dict[tuple[str, str | None, int], Finding] = {}
    for look in LOOKS if change.files else ():
        for finding in look(change, policy):
            found.setdefault((finding.rule, finding.path, finding.line or -len(found)), finding)
    return tuple(found.values())
