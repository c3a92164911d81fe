"""prove and bats, which speak TAP: `Files=2, Tests=5, ...` of prove, `ok 1 a` and `5 tests, 0 failures` of bats."""

from collections.abc import Sequence

from gate.tools.formats import read_printed
from gate.tools.tool import Counts, Ran, closing_line, tally

NAME = "prove"
KIND = "test"

_PROVE = closing_line(r"Files=\d+, Tests=(?P<tests>\d+),")
_BATS = closing_line(r"(?P<tests>\d+) tests?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) skipped)?")


def matches(argv: Sequence[str]) -> bool:
    """Return whether TAP files run."""
    return argv[0] in {"prove", "bats"} and not {"--version", "-V", "--count"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed; prove counts skipped ones as tests unless it is verbose."""
    proved = ran.closing(_PROVE)
    if proved:
        return tally("prove", sum(int(line["tests"]) for line in proved))
    lines = ran.closing(_BATS)
    if lines:
        tests, failed, skipped = (sum(int(line[i] or 0) for line in lines) for i in (1, 2, 3))
        return tally("bats", tests - skipped, skipped=skipped, failed=failed)
    return read_printed("bats", ran) or Counts()
