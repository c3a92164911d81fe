"""Which other issues a ticket depends on, read from its text. No I/O."""

import re
from collections.abc import Iterable, Mapping

HARD = "after"  # waits until the other is done
PART = "part"  # as hard, unless the whole waits for this part
NATIVE = "native"  # the forge's own dependencies and sub-issues; as hard, and not read from the text
SOFT = "beside"  # not at the same time
_HARD = re.compile(
    r"(?:depends\s+on|blocked\s+by|requires|needs|after|follows)\s*:?\s*((?:(?:,|and|\s)*#\d+)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"part\s+of\s*:?\s*((?:(?:,|and|\s)*#\d+)+)", re.IGNORECASE)
_TASK = re.compile(r"^\s*[-*+]\s+\[([ xX])\]\s.*?#(\d+)", re.MULTILINE)
_ANY = re.compile(r"(?<![\w/&])#(\d+)\b")
_CODE = re.compile(r"```[\s\S]*?(?:```|\Z)|~~~[\s\S]*?(?:~~~|\Z)|`[^`\n]*`")

Edge = tuple[str, int]


def read_edges(text: str, *, own: int) -> tuple[Edge, ...]:
    """Return (kind, issue) for each other issue that the text names; hard where it says so or a task is open."""
    plain = _CODE.sub(" ", text)
    hard = {int(n) for match in _HARD.finditer(plain) for n in _ANY.findall(match[1])}
    part = {int(n) for match in _PART.finditer(plain) for n in _ANY.findall(match[1])} - hard
    done: set[int] = set()
    for match in _TASK.finditer(plain):
        (hard if match[1] == " " else done).add(int(match[2]))
    soft = {int(n) for n in _ANY.findall(plain)} - hard - part - done
    edges = [(kind, n) for kind, issues in ((HARD, hard), (PART, part - hard), (SOFT, soft)) for n in sorted(issues)]
    return tuple(edge for edge in edges if edge[1] != own)


def cycles(after: Mapping[int, Iterable[int]]) -> list[list[int]]:
    """Return each circle of issues that wait for each other, smallest number first."""
    found: list[list[int]] = []
    seen: set[int] = set()
    for start in sorted(after):
        path: list[int] = []
        at: dict[int, int] = {}
        stack: list[tuple[int, bool]] = [(start, True)]
        while stack:
            node, entering = stack.pop()
            if not entering:
                at.pop(path.pop())
                continue
            if node in at:
                circle = path[at[node] :]
                low = circle.index(min(circle))
                circle = circle[low:] + circle[:low]
                if circle not in found:
                    found.append(circle)
                continue
            if node in seen:
                continue
            seen.add(node)
            at[node] = len(path)
            path.append(node)
            stack.append((node, False))
            stack += [(n, True) for n in sorted(after.get(node, ()), reverse=True)]
    return found
