"""next build: the table of routes at its end; error pages, which every build has, are not counted."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, per_line

NAME = "next build"
KIND = "build"

_TABLE = closing_line(r"Route \((?:app|pages)\)")
_ROUTE = per_line(r"^(?:[^\n]{0,200}?[>|:│\]] ?)?[ \t]*[┌├└─+] +(?:\S+ +)?(?P<route>/\S*)")
_OWN = {"/_not-found", "/404", "/500", "/_app", "/_error", "/_global-error"}


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is a build by Next.js."""
    return argv[0] == "next" and "build" in argv[1:3]


def read(ran: Ran) -> Counts:
    """Return how many routes were built."""
    tables = list(_TABLE.finditer(ran.output))
    if not tables:
        return Counts()
    routes = {match["route"] for match in _ROUTE.finditer(ran.output, tables[0].start())} - _OWN
    return Counts(files=len(routes), hollow="" if routes else "next build built no route")
