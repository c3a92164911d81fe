"""The SQL of what is counted for monitoring: what is under way each time, what is over as seldom as that takes long."""

import asyncio
import time

import sqlalchemy as sa

from bot.tickets.deliveries import CLOSED, OPEN
from bot.tickets.schema import deliveries, hosts, ledger, posts, slots, tickets
from bot.tickets.store import Store
from bot.tickets.ticket import State

QUICK_S = 0.05  # what takes no longer is counted before each answer
_UNDER_WAY = tuple(state for state in State if state is not State.DONE)

Counts = dict[str, dict[tuple[tuple[str, str], ...], float]]  # name -> labels -> value


def present(c: sa.Connection) -> Counts:
    """Return the counts of what is under way: indexes lead to it past everything that is over."""
    due = sa.select(sa.func.count()).where(posts.c.wanted_version > posts.c.posted_version)
    found: Counts = {
        "sluice_tickets": _tickets(c, _UNDER_WAY),
        "sluice_deliveries": _deliveries(c, OPEN),
        "sluice_slots": {},
        "sluice_posts_due": {(): float(c.execute(due).scalar_one())},
        "sluice_hosts": {(): float(c.execute(sa.select(sa.func.count()).select_from(hosts)).scalar_one())},
    }
    for row in c.execute(sa.select(slots.c.host, slots.c.state, sa.func.count()).group_by("host", "state")):
        found["sluice_slots"][("host", row[0]), ("state", row[1])] = row[2]
    return found


def past(c: sa.Connection) -> Counts:
    """Return the counts of all that is over: with a million tickets more than half a second's work."""
    spent = c.execute(sa.select(ledger.c.model, sa.func.sum(ledger.c.dollars)).group_by("model"))
    return {
        "sluice_tickets": _tickets(c, (State.DONE,)),
        "sluice_deliveries": _deliveries(c, CLOSED),
        "sluice_dollars": {(("model", row[0]),): float(row[1] or 0.0) for row in spent},
    }


class Past:
    """What is over as it was counted last; where counting takes long, it is done behind an answer for the next one."""

    def __init__(self, *, quick_s: float = QUICK_S) -> None:
        self._quick_s = self._took_s = quick_s
        self._last: Counts | None = None
        self._counting: asyncio.Task[Counts] | None = None

    async def read(self, store: Store) -> Counts:
        """Return the counts: as they are now, or where that takes long as they were at the last call."""
        if self._last is None or self._took_s <= self._quick_s:
            return await asyncio.to_thread(self._count, store)
        if self._counting is None or self._counting.done():
            before, self._counting = self._counting, asyncio.create_task(asyncio.to_thread(self._count, store))
            if before is not None:
                before.result()  # raises what went wrong meanwhile
        return self._last

    def _count(self, store: Store) -> Counts:
        began = time.perf_counter()
        with store.read() as c:
            found = self._last = past(c)
        self._took_s = time.perf_counter() - began
        return found


def together(one: Counts, other: Counts) -> Counts:
    """Return both."""
    return {name: one.get(name, {}) | other.get(name, {}) for name in {**one, **other}}


def _tickets(c: sa.Connection, states: tuple[State, ...]) -> dict[tuple[tuple[str, str], ...], float]:
    chosen = tickets.c.state.in_(states)
    query = sa.select(tickets.c.state, tickets.c.outcome, sa.func.count()).where(chosen).group_by("state", "outcome")
    return {(("state", row[0]), ("outcome", row[1] or "")): row[2] for row in c.execute(query)}


def _deliveries(c: sa.Connection, states: tuple[str, ...]) -> dict[tuple[tuple[str, str], ...], float]:
    # the states stand in the statement itself, so that the index that covers them is seen
    chosen = deliveries.c.state.in_(sa.bindparam("states", states, expanding=True, literal_execute=True))
    query = sa.select(deliveries.c.state, sa.func.count()).where(chosen).group_by("state")
    return {(("state", row[0]),): row[1] for row in c.execute(query)}
