"""vitest: `Tests  3 passed | 1 skipped (4)`; with another reporter its JSON, junit or TAP.

A test that is expected to fail stands apart in that line and does not count.
"""

from collections.abc import Sequence

from gate.tools.formats import is_asked_to_print, read_printed
from gate.tools.tool import Counts, Ran, closing_line, numbers, per_line, tally

NAME = "vitest"
KIND = "test"

_CLOSING = closing_line(r"Tests  +(?P<counts>(?:no tests|\d+ [a-z ]+)(?: \| \d+ [a-z ]+)*)(?: \(\d+\))?$")
_NONE = per_line(r"No test files found, exiting with code \d")


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is a vitest run."""
    return argv[0] == "vitest" and argv[1:2] not in (["list"], ["init"]) and "--version" not in argv


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    lines = [] if is_asked_to_print(ran) else ran.closing(_CLOSING)
    if not lines:
        printed = read_printed(NAME, ran)
        if printed is not None:
            return printed
        return Counts(tests=0, hollow="vitest found no test files") if _NONE.search(ran.output) else Counts()
    found = [numbers(line["counts"]) for line in lines]
    failed = sum(n.get("failed", 0) for n in found)
    left_out = sum(n.get("skipped", 0) + n.get("todo", 0) for n in found)
    return tally(NAME, sum(n.get("passed", 0) for n in found) + failed, skipped=left_out, failed=failed)
