"""Leave a ticket for a moment to a host that has its repository warm: a cold slot costs a clone and an install."""

import time
from collections.abc import Callable

import sqlalchemy as sa

from bot.tickets.hosts import clock as database_clock
from bot.tickets.schema import hosts, slots, tickets
from bot.tickets.ticket import State, Ticket

WAIT_S = 3.0  # a cold start costs more than this, a warm host that does not take it must not cost much more
ALIVE_S = 15.0


class Warmth:
    """What one host passes by, and since when."""

    def __init__(
        self, host: str, *, wait_s: float = WAIT_S, clock: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        self._host, self._wait_s, self._clock = host, wait_s, clock
        self._passed: dict[int, float] = {}

    def kept(self, c: sa.Connection, admitted: list[Ticket]) -> list[Ticket]:
        """Return those of the admitted tickets that this host takes now."""
        if not admitted or c.dialect.name == "sqlite":
            return admitted  # one host alone
        warm = _warm(c)
        now = self._clock()
        left = {t.id for t in admitted if self._host not in (warm.get(t.repository) or {self._host})}
        self._passed = {ticket: self._passed.get(ticket, now) for ticket in left}
        return [t for t in admitted if t.id not in left or now - self._passed[t.id] >= self._wait_s]

    @property
    def again_s(self) -> float | None:
        """Return after how many seconds to look again at what was passed by; None where nothing was."""
        if not self._passed:
            return None
        return max(0.0, min(self._passed.values()) + self._wait_s - self._clock())


def _warm(c: sa.Connection) -> dict[str, set[str]]:
    """Return for each repository the living hosts that have a free slot of it and room for one more ticket."""
    runs = sa.select(sa.func.count()).where(tickets.c.state == State.RUNNING, tickets.c.host == hosts.c.name)
    rows = c.execute(
        sa.select(slots.c.repository, slots.c.host)
        .join(hosts, hosts.c.name == slots.c.host)
        .where(
            slots.c.state == "free", ~hosts.c.draining, hosts.c.heartbeat > database_clock(c) - ALIVE_S,
            runs.scalar_subquery() < hosts.c.slots,
        )
    )  # fmt: skip
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row.repository, set()).add(row.host)
    return found
