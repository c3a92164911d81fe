"""Rust's `#[cfg(...)]`: which modules and files stand under features, and whether a condition can hold.

https://doc.rust-lang.org/reference/conditional-compilation.html
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_WORD = re.compile(r'"[^"\n]*"|[\w:]+|[(),=]')
_FEATURE = re.compile(r'\bfeature\s*=\s*"([^"\n]+)"')
# a file's own condition, or that of a module in a file of its own, with other attributes between
_OPENS = re.compile(r"#(?P<inner>!?)\[cfg\((?P<cfg>[^\]]{1,400}?)\)\]")
_ATTRIBUTE = re.compile(r"#\[[^\]\n]*\]\s*")
_MODULE = re.compile(r"(?:pub(?:\([^)\n]*\))?\s+)?mod\s+(?P<name>\w+)\s*;")
_BOTH = frozenset({True, False})


class Conditional(NamedTuple):
    """A module in a file of its own (`name`), or the file itself (no name), that stands under a condition."""

    condition: str
    name: str
    line: int


def conditionals(text: str) -> Iterator[Conditional]:
    """Yield the files and modules of a Rust file that stand under a feature."""
    if "cfg" not in text:
        return
    for found in _OPENS.finditer(text):
        condition = " ".join(found["cfg"].split())
        if not _FEATURE.search(condition):
            continue
        line = text.count("\n", 0, found.start()) + 1
        if found["inner"]:
            if not re.search(r"^[ \t]*(?:pub )?(?:mod|fn|struct|use|impl)\b", text[: found.start()], re.M):
                yield Conditional(condition, "", line)
            continue
        name = _module(text[found.end() : found.end() + 2000])
        if name:
            yield Conditional(condition, name, line)


def features_of(condition: str) -> list[str]:
    """Return the features that a condition names, in order."""
    return list(dict.fromkeys(_FEATURE.findall(condition)))


def can_hold(condition: str, features: frozenset[str]) -> bool:
    """Return whether a condition may hold with just these features; what depends on the platform may."""
    words = _WORD.findall(condition)
    try:
        return len(words) > 500 or True in _Reader(words, features).one(0)
    except (IndexError, RecursionError):
        return True


def _module(text: str) -> str:
    """Return the name of the module that is declared behind attributes and comments, nothing where another item is."""
    for line in text.split("\n"):
        rest = line.strip()
        while rest.startswith("#[") and (attribute := _ATTRIBUTE.match(rest)):
            if "path" in attribute[0]:
                return ""
            rest = rest[attribute.end() :]
        if rest and not rest.startswith("//"):
            found = _MODULE.match(rest)
            return found["name"] if found else ""
    return ""


class _Reader:
    """Evaluates `all(unix, not(feature = "x"))` to the set of values that it may have."""

    def __init__(self, words: Sequence[str], features: frozenset[str]) -> None:
        self._words = words
        self._features = features
        self._at = 0

    def one(self, depth: int) -> frozenset[bool]:
        word = self._words[self._at]
        self._at += 1
        if self._next() == "(" and depth < 50:
            self._at += 1
            values = list[frozenset[bool]]()
            while self._next() != ")":
                values.append(self.one(depth + 1))
                self._at += self._next() == ","
            self._at += 1
            return _joined(word, values)
        if self._next() == "=":
            value = self._words[self._at + 1].strip('"')
            self._at += 2
            return frozenset({value in self._features}) if word == "feature" else _BOTH
        return _BOTH

    def _next(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ")"


def _joined(word: str, values: Sequence[frozenset[bool]]) -> frozenset[bool]:
    if word == "not" and len(values) == 1:
        return frozenset(not v for v in values[0])
    if word not in ("all", "any"):
        return _BOTH
    found = frozenset({word == "all"})
    for value in values:
        found = frozenset((a and b) if word == "all" else (a or b) for a in found for b in value)
    return found
