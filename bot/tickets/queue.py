"""The open tickets as this process last read them: a queue of thousands is not read again because one changed."""

from typing import Any

import sqlalchemy as sa

from bot.tickets.admission import Decision, Limits, Links
from bot.tickets.schema import tickets
from bot.tickets.ticket import State, Ticket
from bot.tickets.tickets import read_ticket

_OPEN = (State.QUEUED, State.RUNNING)
_AT_ONCE = 500  # tickets in one question: databases bound the number of parameters
_COLUMNS = [column for column in tickets.c if column.name not in ("title", "body", "feedback")]


Inputs = tuple[Limits, set[tuple[str, int]], Links]


class Queue:
    """Queued and running tickets by number, each at the revision that was read. For one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Ticket]] = {}
        self.last: tuple[Inputs, list[Decision]] | None = None  # decided since it changed last, and from what else
        self.is_behind = False  # there are more new reasons than were written

    def read(self, c: sa.Connection) -> tuple[list[Ticket], list[Ticket]]:
        """Return (queued, running), each oldest first, without the issues' texts; only what changed is read whole."""
        where = tickets.c.state.in_(_OPEN)
        query = sa.select(tickets.c.id, tickets.c.revision).where(where)
        seen = {row[0]: row[1] for row in c.execute(query).all()}
        known = self._known
        stale = [number for number, revision in seen.items() if number not in known or known[number][0] != revision]
        gone = [number for number in known if number not in seen]
        if stale or gone:
            self.last = None  # so all of it is decided anew
        for number in gone:
            del known[number]
        for row in self._rows(c, stale, len(seen)):
            known[row.id] = (row.revision, read_ticket(row, title="", body="", feedback=""))
        found = [known[number][1] for number in sorted(known)]
        # a row may have moved on between the two questions
        return [t for t in found if t.state is State.QUEUED], [t for t in found if t.state is State.RUNNING]

    def forget(self) -> None:
        """Read all anew next time: what was read in a transaction that came to nothing never was."""
        self._known.clear()
        self.last = None

    def _rows(self, c: sa.Connection, stale: list[int], many: int) -> list[sa.Row[Any]]:
        """Return the rows of the stale tickets: all that are open in one question where most are."""
        if len(stale) > many / 2:
            return list(c.execute(sa.select(*_COLUMNS).where(tickets.c.state.in_(_OPEN))))
        some = (stale[start : start + _AT_ONCE] for start in range(0, len(stale), _AT_ONCE))
        return [row for ids in some for row in c.execute(sa.select(*_COLUMNS).where(tickets.c.id.in_(ids)))]
