"""Cypress: the last row of its table of specs, with tests, passing, failing, pending and skipped."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, tally

NAME = "cypress"
KIND = "test"

_CLOSING = closing_line(
    r"[✔✖√×] +(?:All specs passed!|\d+ of \d+ failed \(\d+%\)) +\S+ +(?P<tests>\d+|-) +(?P<passing>\d+|-)"
    r" +(?P<failing>\d+|-) +(?P<pending>\d+|-) +(?P<skipped>\d+|-)"
)


def matches(argv: Sequence[str]) -> bool:
    """Return whether Cypress runs specs."""
    return argv[0] == "cypress" and argv[1:2] == ("run",)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts()
    passing, failing, pending, skipped = (
        sum(int(line[key]) for line in lines if line[key] != "-")
        for key in ("passing", "failing", "pending", "skipped")
    )
    return tally(NAME, passing + failing, skipped=pending + skipped, failed=failing)
