"""biome: `Checked 12 files in 3ms`."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, hidden

NAME = "biome"
KIND = "lint"

_CLOSING = closing_line(r"(?:Checked|Formatted|Linted) (?P<files>\d+) files? in ")

_ERRORS = closing_line(r"Found (\d+) errors?\.$")


def matches(argv: Sequence[str]) -> bool:
    """Return whether biome looks at files."""
    return argv[0] in {"biome", "rome"} and bool({"check", "ci", "lint", "format"} & set(argv[1:3]))


def read(ran: Ran) -> Counts:
    """Return how many files biome looked at."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts()
    files = sum(int(line["files"]) for line in lines)
    return Counts(files=files, failed=hidden(ran, _ERRORS), hollow="" if files else "biome looked at no file")
