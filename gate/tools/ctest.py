"""ctest: `100% tests passed, 0 tests failed out of 3`; disabled and skipped tests are not in that number."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, tally

NAME = "ctest"
KIND = "test"

_CLOSING = closing_line(r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<tests>\d+)")
_SKIPPED = closing_line(r"\d+/\d+ Test +#\d+: [^\n]*\*\*\*(?:Skipped|Not Run \(Disabled\))")
_SKIPPED_RUN = closing_line(r"\d+/\d+ Test +#\d+: [^\n]*\*\*\*Skipped")
_NONE = closing_line(r"No tests were found!!!|\*?No test configuration file found!")


def matches(argv: Sequence[str]) -> bool:
    """Return whether ctest runs tests."""
    return argv[0] == "ctest" and not {"-N", "--show-only", "--version"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts(tests=0, hollow="ctest found no tests") if _NONE.search(ran.output) else Counts()
    skipped_inside = len(_SKIPPED_RUN.findall(ran.output))  # these are in `out of N`, as passed
    tests, failed = (sum(int(line[key]) for line in lines) for key in ("tests", "failed"))
    return tally(NAME, tests - skipped_inside, skipped=len(_SKIPPED.findall(ran.output)), failed=failed)
