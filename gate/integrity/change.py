"""A change as the looks see it: each file's text before and now."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gate import git
from gate.report import Finding, Level

MOST_BYTES = 1_000_000  # of one file that are read; what is larger is not written by hand
MOST_FILES = 20_000
_AT_ONCE = 200  # files of the base that git is asked for in one call


class File(NamedTuple):
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


class Change(NamedTuple):
    """All changed files, the root of the worktree, and the commit that they are compared with."""

    root: Path
    files: tuple[File, ...]
    base: str = ""
    left_out: int = 0  # changed files beyond the most that are compared


def read_change(repo: Path, base: str) -> Change:
    """Return what differs between a commit and the worktree, untracked files too."""
    changed = git.changed(repo, base)
    paths = changed[:MOST_FILES]
    before = dict[str, bytes]()
    for start in range(0, len(paths), _AT_ONCE):
        before |= git.show_all(repo, base, paths[start : start + _AT_ONCE], most_bytes=MOST_BYTES)
    files = tuple(File(path, _text(before.get(path)), _now(repo, path)) for path in paths)
    return Change(repo, files, base, len(changed) - len(paths))


def error(rule: str, message: str, path: str, line: int | None = None, fix: str = "") -> Finding:
    """Return a finding that makes the verdict TAMPERED."""
    mend = fix or "take it back, or let a person merge it knowingly"
    return Finding(rule, Level.ERROR, message, path, line, fix=mend)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _now(repo: Path, path: str) -> str | None:
    """Read a file without following a link that leads out of the repository."""
    try:
        handle = os.open(repo / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            return _text(file.read(MOST_BYTES))
    except OSError:
        return None
