"""Gradle's build files as text: statements, and the blocks in which each stands. Nothing is evaluated."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gate.repository.tree import Tree

# what is opened and never closed goes on to the end of its line, or of the file: nothing is looked through twice
_STRINGS = r'"(?:\\.|[^"\\\n])*+\\?(?:"|(?=\n)|\Z)|\'(?:\\.|[^\'\\\n])*+\\?(?:\'|(?=\n)|\Z)'
_COMMENT = re.compile(rf"{_STRINGS}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SIGN = re.compile(rf"{_STRINGS}|[{{}}]", re.DOTALL)
_CONDITION = re.compile(r"\b(?:if|else|when|unless|hasProperty|providers|getenv)\b|\?")


class Statement(NamedTuple):
    """Text that fits a pattern: its line in its file, what stands before it in the line, and its blocks' headers."""

    path: str
    line: int
    text: str
    before: str
    blocks: tuple[str, ...]

    @property
    def is_sure(self) -> bool:
        """Return whether no condition stands around it, as far as the text shows."""
        return not any(_CONDITION.search(words) for words in (*self.blocks, self.before))

    @property
    def owner(self) -> str:
        """Return what the statement is about: the words before it, else the innermost block's header."""
        return self.before or (self.blocks[-1] if self.blocks else "")


def build_files(tree: Tree) -> list[str]:
    """Return the build files that people wrote here, convention plugins among them."""
    return [p for p in tree.sources(".gradle", ".gradle.kts") if "/src/test/" not in f"/{p}"]


def statements(tree: Tree, path: str, pattern: re.Pattern[str]) -> Iterator[Statement]:
    """Yield where a pattern is met in the code of a build file."""
    text = tree.text(path) or ""
    if not pattern.search(text):
        return
    code = _COMMENT.sub(_blank, text)
    blocks = list[str]()
    signs = _SIGN.finditer(code)
    sign = next(signs, None)
    start = 0
    for found in pattern.finditer(code):
        while sign is not None and sign.start() < found.start():
            if sign[0] == "{":
                blocks.append(_header(code, start, sign.start()))
            elif sign[0] == "}" and blocks:
                blocks.pop()
            if sign[0] in "{}":
                start = sign.end()
            sign = next(signs, None)
        begin = (
            max(
                code.rfind("\n", 0, found.start()), code.rfind("{", 0, found.start()), code.rfind(";", 0, found.start())
            )
            + 1
        )
        line = code.count("\n", 0, found.start()) + 1
        behind = code[found.end() : code.find("\n", found.end()) if "\n" in code[found.end() :] else len(code)]
        if not re.match(r"\s*(?:&&|\|\||\?)", behind):
            yield Statement(path, line, found[0], code[begin : found.start()].strip(), tuple(blocks))


def _header(code: str, start: int, end: int) -> str:
    """Return the text right before a brace, in its line and without what ended before it."""
    return re.split(r"[\n;{}]", code[max(start, end - 300) : end].rstrip())[-1].strip()


def _blank(found: re.Match[str]) -> str:
    text = found[0]
    return text if text[0] in "\"'" else re.sub(r"[^\n]", " ", text)
