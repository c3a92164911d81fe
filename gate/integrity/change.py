"""A change as the looks see it: each file's text before and now."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gate import git
from gate.report import Finding, Level

MOST_BYTES = 1_000_000  # of one file that are read; what is larger is not written by hand
MOST_FILES = 5000


@dataclass(frozen=True, slots=True)
class File:
    """One changed file; `before` is None where it is new, `now` where it is gone. Undecodable bytes are kept."""

    path: str
    before: str | None
    now: str | None

    def added(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that are new, with their numbers; a line that only moved is not new."""
        had: dict[str, int] = {}
        for line in (self.before or "").splitlines():
            had[line.strip()] = had.get(line.strip(), 0) + 1
        for number, line in enumerate((self.now or "").splitlines(), 1):
            if had.get(line.strip(), 0) > 0:
                had[line.strip()] -= 1
            elif line.strip():
                yield number, line


@dataclass(frozen=True, slots=True)
class Change:
    """All changed files, the root of the worktree, and the commit that they are compared with."""

    root: Path
    files: tuple[File, ...]
    base: str = ""


def read_change(repo: Path, base: str) -> Change:
    """Return what differs between a commit and the worktree, untracked files too."""
    paths = git.changed(repo, base)[:MOST_FILES]
    return Change(repo, tuple(File(path, _before(repo, base, path), _now(repo, path)) for path in paths), base)


def error(rule: str, message: str, path: str, line: int | None = None, fix: str = "") -> Finding:
    """Return a finding that makes the verdict TAMPERED."""
    mend = fix or "take it back, or let a person merge it knowingly"
    return Finding(rule, Level.ERROR, message, path, line, fix=mend)


def _before(repo: Path, base: str, path: str) -> str | None:
    data = git.show(repo, base, path)
    return None if data is None else data[:MOST_BYTES].decode("utf-8", "surrogateescape")


def _now(repo: Path, path: str) -> str | None:
    """Read a file without following a link that leads out of the repository."""
    try:
        handle = os.open(repo / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
