"""minitest and test-unit, through rails and rake: `3 runs, 3 assertions, 0 failures, 0 errors, 1 skips`."""

import re
from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, tally

NAME = "minitest"
KIND = "test"

_CLOSING = closing_line(
    r"(?P<runs>\d+) (?:runs|tests), \d+ assertions, (?P<failures>\d+) failures, (?P<errors>\d+) errors"
    r"(?:, (?P<pendings>\d+) pendings, (?P<omissions>\d+) omissions)?(?:, (?P<skips>\d+) skips)?"
)


def matches(argv: Sequence[str]) -> bool:
    """Return whether Ruby tests run."""
    if argv[0] in {"rails", "rake"}:
        return any(word == "test" or word.startswith("test:") for word in argv[1:])
    return argv[0] == "ruby" and any(re.search(r"test", word) for word in argv[1:])


def is_guess(argv: Sequence[str]) -> bool:
    """Return whether only the file's or the task's name speaks for a test."""
    return argv[0] in {"ruby", "rake"}


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts()
    skipped = sum(int(line[key] or 0) for line in lines for key in ("pendings", "omissions", "skips"))
    failed = sum(int(line[key]) for line in lines for key in ("failures", "errors"))
    return tally(NAME, sum(int(line["runs"]) for line in lines) - skipped, skipped=skipped, failed=failed)
