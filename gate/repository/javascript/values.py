"""What expressions of JavaScript stand for: objects, arrays, patterns, and what cannot be known."""

import re
from typing import Any, NamedTuple

from gate.patterns import later

_ESCAPE = later(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}


class Unknown(NamedTuple):
    """An expression that is computed: its text, and the values that stand in it as arguments."""

    text: str
    inside: tuple[Any, ...] = ()


class Pattern(NamedTuple):
    """A regular expression, as written between the slashes."""

    source: str


class Table(dict[str, Any]):
    """An object: `lines` says where its keys stand; it is not `whole` when something unknown is spread into it."""

    whole: bool = True

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}

    def take(self, other: Any) -> None:
        """Take over what another object holds, as `...other` does."""
        if isinstance(other, Table):
            self.lines.update(other.lines)
            self.whole = self.whole and other.whole
        if isinstance(other, dict):
            self.update(other)
        else:
            self.whole = False


class Listed(list[Any]):
    """An array; it is not `whole` when something unknown is spread into it."""

    whole: bool = True


def merge(into: Table, other: Any) -> None:
    """Take over what another object holds, objects within objects one by one."""
    if not isinstance(other, dict):
        into.whole = False
        return
    for key, value in other.items():
        had = into.get(key)
        if isinstance(had, Table) and isinstance(value, dict):
            merged = Table()
            merge(merged, had)
            merge(merged, value)
            value = merged
        into[key] = value
    into.lines.update(getattr(other, "lines", {}))
    into.whole = into.whole and getattr(other, "whole", True)


def member(value: Any, name: str) -> Any:
    """Return what a value has under a name, an Unknown where that cannot be known."""
    if isinstance(value, dict) and name in value:
        return value[name]
    if name == "default" and isinstance(value, dict):
        return value
    return Unknown(f"{getattr(value, 'text', '')}.{name}")


def is_here(value: Any) -> bool:
    """Return whether a value is the module's own folder."""
    return isinstance(value, Unknown) and value.text in (
        "__dirname",
        "import.meta.dirname",
        ".dirname",
        "process.cwd()",
    )


def plain(kind: str, text: str) -> Any:
    """Return what a token of a kind (string, regex, number) stands for."""
    if kind == "regex":
        return Pattern(text[1 : text.rindex("/")])
    if kind == "number":
        number = re.fullmatch(r"\d+(?:\.\d+)?", text.replace("_", ""))
        return float(number[0]) if number else Unknown(text)
    return _template(text) if text[0] == "`" and "${" in text else string(text)


def _template(text: str) -> Any:
    """Return a template that begins in the module's own folder as a path, any other as an Unknown."""
    rest = re.fullmatch(r"`\$\{__dirname\}/([^$]*)`", text)
    return f"./{rest[1]}" if rest else Unknown(text)


def string(text: str) -> str:
    """Return what a string holds, by its text with the quotes; any other text as it is."""
    if text[:1] not in "\"'`":
        return text
    return _ESCAPE.sub(_escaped, text[1:-1]) if "\\" in text else text[1:-1]


def _escaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _SIMPLE.get(match[3], match[3])
