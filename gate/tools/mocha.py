"""mocha: `3 passing (5ms)`, `1 pending`, `1 failing`; with another reporter its JSON, TAP or xunit."""

from collections.abc import Sequence

from gate.tools.formats import is_asked_to_print, read_printed
from gate.tools.tool import PREFIX, Counts, Ran, closing_line, per_line, tally

NAME = "mocha"
KIND = "test"

_CLOSING = closing_line(
    r"(?P<passing>\d+) passing(?: \([^)]*\))?\n(?:" + PREFIX[1:] + r"(?P<pending>\d+) pending\n)?"
    r"(?:" + PREFIX[1:] + r"(?P<failing>\d+) failing)?"
)
_NONE = per_line(r"^Error: No test files found")
_STATS = per_line(r'"passes":\s*(\d+),\s*"pending":\s*(\d+),\s*"failures":\s*(\d+)')


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is a mocha run."""
    return argv[0] in {"mocha", "_mocha", "electron-mocha", "ts-mocha"} and "--version" not in argv


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    lines = ran.closing(_STATS) or ([] if is_asked_to_print(ran) else ran.closing(_CLOSING))
    if not lines:
        printed = read_printed(NAME, ran)
        if printed is not None:
            return printed
        return Counts(tests=0, hollow="mocha found no test files") if _NONE.search(ran.output) else Counts()
    passed, pending, failed = (sum(int(line[i] or 0) for line in lines) for i in (1, 2, 3))
    return tally(NAME, passed + failed, skipped=pending, failed=failed)
