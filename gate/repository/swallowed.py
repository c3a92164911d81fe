"""Checks whose failure is not the failure of what runs them, and by what it is lost."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gate.commands.resolve import Command
from gate.patterns import later
from gate.repository.checkers import is_check
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.shell_files import place

_KEEPS = later(r"\$\$?\?|PIPESTATUS|GITHUB_OUTPUT|GITHUB_ENV|\bwait\b")  # how it ended is kept and may be looked at
_IDLE = later(r"^(?:true|:|/bin/true|echo\b.*|printf\b.*|exit(?: 0)?|return(?: 0)?|continue|break|cat\b.*)$", re.DOTALL)
_FIVE = later(r"""\$\$?\{?(?:\?|\w+)\}?["']?\s*(?:-eq|==?|-ne|!=)\s*["']?5\b""")


class Swallowed(NamedTuple):
    """A check that can fail in vain; `by` is what loses its failure, `path` and `line` where that stands."""

    at: Check
    command: Command
    by: str
    path: str
    line: int | None

    @property
    def words(self) -> str:
        """Return the command line, short enough for a message."""
        text = " ".join(self.command.argv)
        return text if len(text) <= 60 else f"{text[:59]}…"


def swallowed(repo: Repository) -> tuple[Swallowed, ...]:
    """Return them all, each place once; quiet where the text looks at how the check ended."""
    return repo.tree.once("swallowed", lambda: tuple(_swallowed(repo)))


def _swallowed(repo: Repository) -> Iterator[Swallowed]:
    told = set[tuple[str, int | None]]()
    for at in repo.checks:
        if _is_red_already(repo, at):
            continue
        for command in at.commands:
            if command.binds or not is_check(command.argv) or not _loses(command.lost):
                continue
            path, line = place(repo.tree, at, command, _word(command.lost))
            if (path, line) not in told and not _is_kept(repo, at, path, line):
                told.add((path, line))
                yield Swallowed(at, command, command.lost, path, line)


def _is_red_already(repo: Repository, at: Check) -> bool:
    """Return whether a step runs only where one before it failed, as one that tells more of the failure does."""
    return any(
        "failure()" in step.condition and "success()" not in step.condition
        for workflow in repo.workflows
        if workflow.path == at.source
        for job in workflow.jobs
        for step in job.steps
        if step.run == at.text and f"{job.label} / {step.name}" == at.name
    )


def _loses(by: str) -> bool:
    """Return whether what is behind a check surely gives another status; what nobody knows may well look at it."""
    if by in ("!", ""):
        return False  # a check that has to fail
    if by.startswith("|| "):
        parts = [part.strip() for part in by[3:].split("; ")]
        return all(_IDLE.match(part) or not part for part in parts)
    if by.startswith("; "):
        return not re.match(r"\w+=", by[2:])
    return True


def _word(by: str) -> str:
    words = by.split() if by.startswith("|") else []
    return words[1].strip("'\"") if len(words) > 1 else ""


def _is_kept(repo: Repository, at: Check, path: str, line: int | None) -> bool:
    text = at.text if path == at.source else repo.tree.text(path) or ""
    if path != at.source and path.endswith((".json", ".toml")):
        lines = text.splitlines()
        text = lines[line - 1] if line and line <= len(lines) else text
    return _KEEPS.search(text) is not None


def turns_five(text: str) -> bool:
    """Return whether a text compares an exit code with 5, pytest's word for "no test was collected"."""
    return _FIVE.search(text) is not None
