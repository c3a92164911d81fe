"""make: what it ran is read from the tools that it starts; here only that a target had nothing to do."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line

NAME = "make"
KIND = "runner"

_IDLE = closing_line(
    r"g?make(?:\[\d+\])?: (?P<what>[‘'`][^\n]+['’] is up to date|Nothing to be done for [‘'`][^\n]+['’])\.$"
)


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is make."""
    return argv[0] in {"make", "gmake", "ninja"}


def read(ran: Ran) -> Counts:
    """Return why make did nothing, if it says so."""
    idle = _IDLE.search(ran.output)
    if idle:
        return Counts(hollow=f"make ran nothing: {idle['what']}")
    return Counts(hollow="ninja ran nothing: no work to do") if "ninja: no work to do." in ran.output else Counts()
