"""Find the places that tools name in their output: file, line and what is wrong there."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gate.report import Level

MOST_CHARS = 1000  # of one line that are looked at
MESSAGE_CHARS = 500
_FILE = r"(?:file://)?(?:[A-Za-z]:[\\/]|\.{0,2}/|[\w@])[^\s:()\"]*\.\w{1,6}"
# `path:line[:column]: message` of most linters and compilers; `rspec path:line`, `❯ path:line:column` of vitest
_PLAIN = re.compile(rf"^\s*(?:(?:rspec|#|❯|\[ERROR\]) )?({_FILE}):(?:\[?(\d+)(?:[:,]\d+\]?)?)(?::|\s+-|\s|$)\s*(.*)$")
_PAREN = re.compile(rf"^\s*({_FILE})\((\d+),\d+\):\s*(.*)$")  # tsc, dotnet
_ARROW = re.compile(rf"^\s*-->\s*({_FILE}):(\d+)")  # cargo, ruff: the message stands above
_PYTHON = re.compile(r'^\s*File "([^"]+)", line (\d+)')  # the message stands below the last frame
_SHORT = re.compile(rf"^({_FILE}):(\d+): in \S+$")  # the same of pytest --tb=short
_NODE = re.compile(rf"^\s+(?:at )?(?:[^()]{{0,200}} \()?({_FILE}):(\d+):\d+\)?$")  # the message stands above
_NODE_TEST = re.compile(r"^\s+error: (?:'(.*)'|(?!\|)(\S.*))$")
_HEADING = re.compile(rf"^({_FILE})$")  # eslint names a file once, its problems below
_UNDER = re.compile(r"^\s+(\d+):\d+\s+(error|warning)\s+(.+)$")
_SAID = re.compile(r"^(?:E  |\s*(?:[\w.]*(?:Error|Exception)\b|error\b|expect\())")
_WARNS = re.compile(r"warning\b", re.IGNORECASE)
_NOTES = re.compile(r"(?:note|help|info)\b", re.IGNORECASE)
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Place(NamedTuple):
    """A line of a file, and what a tool says of it."""

    path: str
    line: int
    message: str
    level: Level = Level.ERROR


def find(output: str, *, inside: Callable[[str], str | None]) -> list[Place]:
    """Return the places named in an output, each line of a file once, errors first.

    `inside` returns the path of a file of the repository from the root, None for what is no such file.
    """
    reader = _Reader(inside)
    for raw in output.splitlines():
        reader.read(_ESCAPES.sub("", raw[:MOST_CHARS]).rstrip())
    return sorted(reader.found.values(), key=lambda place: place.level is not Level.ERROR)


def files_below(root: Path, cwd: str) -> Callable[[str], str | None]:
    """Return what tells a worktree's files from other paths; relative ones start at a step's folder or the root."""

    def inside(raw: str) -> str | None:
        path = raw.removeprefix("file://")
        for start in (cwd, "."):
            whole = os.path.normpath(root / start / path)
            if whole.startswith(f"{root}{os.sep}") and os.path.isfile(whole):  # noqa: PTH113 hot
                return os.path.relpath(whole, root).replace(os.sep, "/")
        return None

    return inside


class _Reader:
    """Reads line by line; what is said of a place may stand before or after it."""

    def __init__(self, inside: Callable[[str], str | None]) -> None:
        self.found: dict[tuple[str, int], Place] = {}
        self._inside = inside
        self._said = self._previous = self._heading = ""
        self._frame: tuple[str, int] | None = None

    def read(self, line: str) -> None:
        if not self._frame_of_python(line) and not self._named(line):
            if match := _NODE_TEST.match(line):
                self._said = match[1] or match[2]
            elif _SAID.match(line):
                self._said = line.removeprefix("E  ").strip()
        if line.strip():
            self._previous = line.strip()

    def _frame_of_python(self, line: str) -> bool:
        if match := _PYTHON.match(line) or _SHORT.match(line):
            path = self._inside(match[1])
            self._frame = (path, int(match[2])) if path else self._frame
            return True
        if self._frame and line and not line[0].isspace():
            self._add(*self._frame, line.removeprefix("E  "))
            self._frame = None
            return True
        return False

    def _named(self, line: str) -> bool:
        """Read a line that names a place; return whether it does."""
        if match := _UNDER.match(line):
            if self._heading:
                self._add(self._heading, int(match[1]), f"{match[2]}: {re.sub(' {2,}', '  ', match[3])}")
            return True
        if match := _HEADING.match(line):
            self._heading = self._inside(match[1]) or ""
            return True
        if match := _ARROW.match(line):
            return self._at(match, self._previous)
        if match := _NODE.match(line):
            said, self._said = self._said, ""
            return not said or self._at(match, said)  # the first frame of a stack that is ours says it
        if match := _PLAIN.match(line) or _PAREN.match(line):
            said, self._said = self._said, ""
            above = (
                "" if self._previous.startswith(">") else self._previous
            )  # a frame of pytest: what is wrong comes later
            message = said if said.startswith(match[3]) and said else match[3] or above
            return not message or self._at(match, message)
        return False

    def _at(self, match: re.Match[str], message: str) -> bool:
        path = self._inside(match[1])
        if path is None:
            return False
        self._add(path, int(match[2]), message)
        return True

    def _add(self, path: str, line: int, message: str) -> None:
        message = message.removeprefix("- ").strip(" ━─")
        if not _NOTES.match(message):
            level = Level.WARNING if _WARNS.match(message) else Level.ERROR
            self.found.setdefault((path, line), Place(path, line, message[:MESSAGE_CHARS], level))
