"""CMake's files as text: commands with the lines in which they stand, comments left out."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gate.repository.tree import Tree

# what is opened and never closed goes on to the end: nothing is looked through twice
_COMMENT = re.compile(r'"(?:\\.|[^"\\])*+\\?(?:"|\Z)|#\[\[.*?(?:\]\]|\Z)|#[^\n]*', re.DOTALL)
_COMMAND = re.compile(r"^[ \t]*(?P<name>\w+)[ \t]*\((?P<words>[^()]*(?:\([^()]*\)[^()]*)*)\)", re.M)


class CMakeCommand(NamedTuple):
    """One command: its name in small letters, the text between its parentheses, and where it stands."""

    name: str
    words: str
    path: str
    line: int


def cmake_commands(tree: Tree) -> tuple[CMakeCommand, ...]:
    """Return the commands of all files of CMake that people wrote here."""
    return tree.once(
        "cmake", lambda: tuple(c for p in tree.sources("CMakeLists.txt", ".cmake") for c in _read(tree, p))
    )


def _read(tree: Tree, path: str) -> Iterator[CMakeCommand]:
    text = _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), tree.text(path) or "")
    for found in _COMMAND.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield CMakeCommand(found["name"].lower(), found["words"], path, line)
