"""rubocop and standardrb: `12 files inspected, no offenses detected`."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line

NAME = "rubocop"
KIND = "lint"

_CLOSING = closing_line(r"(?P<files>\d+) files? inspected, ")


def matches(argv: Sequence[str]) -> bool:
    """Return whether Ruby code is linted."""
    return argv[0] in {"rubocop", "standardrb"} and not {"--version", "-V", "-L"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return how many files rubocop looked at."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts()
    files = sum(int(line["files"]) for line in lines)
    return Counts(files=files, hollow="" if files else "rubocop looked at no file")
