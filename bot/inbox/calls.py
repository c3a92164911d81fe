"""Find the commands in a comment: lines that begin with `/bot` or `@name`, outside quotes and code."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 5  # commands that one comment may give
LEFT_OUT = "left out"  # the name of what stands for those below; nobody can write it, for it holds a space
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARKED = re.compile(r"^ {0,3}<(pre|code|blockquote)[\s>]", re.IGNORECASE)  # quotes and code written as HTML


@dataclass(frozen=True, slots=True)
class Call:
    """One command as it was written: `/bot budget $2`."""

    name: str  # in lower case; empty where nothing followed
    args: tuple[str, ...]
    text: str  # everything behind `/bot`
    by_name: bool = False  # written as `@name ...`: it may be a question


def find_calls(text: str, *, name: str) -> tuple[Call, ...]:
    """Return the commands of a comment in their order; `name` is what people call the bot by.

    Where there are more than MOST, one call named LEFT_OUT, with the number of all, stands for the rest.
    """
    found = [call for line in _spoken(_HIDDEN.sub("", text)) if (call := _read(line, name)) is not None]
    rest = [Call(LEFT_OUT, (str(len(found)),), "")] if len(found) > MOST else []
    return (*found[:MOST], *rest)


def _read(line: str, name: str) -> Call | None:
    first, rest = (*line.split(maxsplit=1), "", "")[:2]  # a tab or a space that does not break parts words too
    by_name = first.lower().rstrip(",:") == f"@{name.lower()}"
    if first.lower() != "/bot" and not (name and by_name):
        return None
    words: Sequence[str] = rest.split()
    return Call(words[0].lower() if words else "", tuple(words[1:]), rest.strip(), by_name)


def _spoken(text: str) -> list[str]:
    """Return the lines that the author says: no quotes, no fenced and no indented code."""
    lines: list[str] = []
    fence, marked = "", ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif marked:
            if f"</{marked}>" in line.lower():
                marked = ""
        elif mark:
            fence = mark[1]
        elif opens := _MARKED.match(line):
            marked = opens[1].lower() if f"</{opens[1].lower()}>" not in line.lower() else ""
        elif not line.startswith(("    ", "\t")) and not line.lstrip().startswith(">"):
            lines.append(line)
    return lines
