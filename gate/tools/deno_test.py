"""deno test: `ok | 3 passed | 0 failed | 1 ignored (12ms)`."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, tally

NAME = "deno test"
KIND = "test"

_CLOSING = closing_line(
    r"(?:ok|FAILED) \| (?P<passed>\d+) passed(?: \([^)\n]*\))? \| (?P<failed>\d+) failed(?: \([^)\n]*\))?"
    r"(?: \| (?P<ignored>\d+) ignored)?"
)
_NONE = closing_line(r"(?:error: )?No test modules found")


def matches(argv: Sequence[str]) -> bool:
    """Return whether deno's test runner runs."""
    return argv[0] == "deno" and argv[1:2] == ("test",) and "--no-run" not in argv


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts(tests=0, hollow="deno test found no tests") if _NONE.search(ran.output) else Counts()
    passed, failed, ignored = (sum(int(line[i] or 0) for line in lines) for i in (1, 2, 3))
    return tally(NAME, passed + failed, skipped=ignored, failed=failed)
