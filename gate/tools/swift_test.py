"""swift test and xcodebuild test: XCTest's last `Executed 3 tests` and Swift Testing's `Test run with 3 tests`."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, tally

NAME = "swift test"
KIND = "test"

_XCTEST = closing_line(
    r"Executed (?P<tests>\d+) tests?, with (?:(?P<skipped>\d+) tests? skipped and )?(?P<failed>\d+) failures?"
)
_TESTING = closing_line(
    r"(?:\S+ +)?Test run with (?P<tests>\d+) tests? (?:in \d+ suites? )?(?:passed|failed)[^\n]*?"
    r"(?: with (?P<failed>\d+) issues?)?\.?$"
)


def matches(argv: Sequence[str]) -> bool:
    """Return whether Swift tests run."""
    if argv[0] == "xcodebuild":
        return bool({"test", "test-without-building"} & set(argv[1:]))
    return argv[0] == "swift" and argv[1:2] == ("test",) and "list" not in argv[2:3]


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed in both frameworks."""
    lines = [*ran.closing(_XCTEST), *ran.closing(_TESTING)]
    if not lines:
        return Counts()
    skipped = sum(int(line.groupdict().get("skipped") or 0) for line in lines)
    failed = sum(int(line["failed"] or 0) for line in lines)
    return tally(NAME, sum(int(line["tests"]) for line in lines) - skipped, skipped=skipped, failed=failed)
