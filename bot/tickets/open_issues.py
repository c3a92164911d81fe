"""Which of the issues that tickets wait for are not done: by their tickets, else by what was heard of them."""

from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa

from bot.tickets.edges import HARD, NATIVE
from bot.tickets.schema import marks, tickets
from bot.tickets.ticket import State, Ticket
from bot.tickets.tickets import FINISHED

OPEN = "open"  # the mark of an issue that was heard to be open, or closed
_COLUMNS = ("id", "repository", "issue", "is_on", "state", "outcome")
_AT_ONCE = 500  # issues in one question: databases bound the number of parameters

Issue = tuple[str, int]  # repository, number


def unfinished(c: sa.Connection, queued: Iterable[Ticket]) -> set[Issue]:
    """Return the issues that queued tickets depend on and that are not done.

    A closed issue is done, whoever did it; one with a ticket is done when that succeeded; any other one is not done
    while it is known to be open.
    """
    wanted = {(t.repository, issue) for t in queued for kind, issue in t.edges if kind in (HARD, NATIVE)}
    if not wanted:
        return set()
    heard = {(r.repository, r.issue): r.is_on for r in _rows(c, marks, wanted, marks.c.what == OPEN)}
    ended: dict[Issue, bool] = {}
    for row in sorted(_rows(c, tickets, wanted), key=lambda row: row.id):  # the newest ticket of an issue counts
        ended[row.repository, row.issue] = row.state == State.DONE and row.outcome in FINISHED
    return {issue for issue in wanted if heard.get(issue) is not False and not ended.get(issue, issue not in heard)}


def _rows(
    c: sa.Connection, table: sa.Table, wanted: set[Issue], *where: sa.ColumnElement[bool]
) -> Iterator[sa.Row[Any]]:
    columns = [table.c[name] for name in _COLUMNS if name in table.c]
    every = sorted(wanted)
    for start in range(0, len(every), _AT_ONCE):
        some = every[start : start + _AT_ONCE]
        # two lists, for SQLite looks through the whole table for a list of pairs
        near = (table.c.repository.in_({name for name, _ in some}), table.c.issue.in_({n for _, n in some}))
        yield from c.execute(sa.select(*columns).where(*near, *where))
