"""The SQL of hosts: who lives, what each holds, and what a dead one left behind."""

import time
from collections.abc import Callable, Sequence

import sqlalchemy as sa

from bot.tickets.schema import hosts, tickets
from bot.tickets.ticket import State, Ticket
from bot.tickets.tickets import get_ticket, read_ticket


def clock(c: sa.Connection) -> sa.ColumnElement[float]:
    """Return the database's own clock, in seconds since the epoch: hosts compare nothing else."""
    if c.dialect.name == "postgresql":
        return sa.cast(sa.func.extract("epoch", sa.func.clock_timestamp()), sa.Double)
    return sa.cast((sa.func.julianday("now") - 2440587.5) * 86400.0, sa.Double)


def beat(c: sa.Connection, host: str, *, slots: int, draining: bool = False) -> None:
    """Say that a host lives."""
    values = {"heartbeat": clock(c), "slots": slots, "draining": draining}
    done = c.execute(hosts.update().where(hosts.c.name == host).values(beats=hosts.c.beats + 1, **values))
    if done.rowcount == 0:
        c.execute(hosts.insert().values(name=host, **values))


class Watch:
    """Tells which hosts are dead: those whose count of beats did not move for a while.

    The while is measured by this process alone, so that no clock that jumps, here or on the database's machine, makes
    a living host look dead.
    """

    def __init__(self, host: str, *, dead_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._host, self._dead_s, self._clock = host, dead_s, clock
        self._looked_at = clock()
        self._seen: dict[str, tuple[int, float]] = {}  # name -> count of beats, and when it was new

    def dead(self, c: sa.Connection) -> list[str]:
        """Look at every other host's count; return those that have been silent for `dead_s` seconds."""
        now = self._clock()
        if now - self._looked_at > self._dead_s / 2:
            self._seen.clear()  # this process itself was away: what it did not see proves nothing
        self._looked_at = now
        rows = c.execute(sa.select(hosts.c.name, hosts.c.beats).where(hosts.c.name != self._host))
        counts = {row.name: row.beats for row in rows}
        before = self._seen
        self._seen = {
            name: before[name] if name in before and before[name][0] == beats else (beats, now)
            for name, beats in counts.items()
        }
        return [name for name, (_, since) in self._seen.items() if now - since >= self._dead_s]


def take_back(c: sa.Connection, *, host: str, now: float) -> Sequence[Ticket]:
    """Return what this host was running when it stopped, at a new epoch."""
    return _hold_all(c, tickets.c.host == host, host=host, now=now)


def take_orphans(c: sa.Connection, gone: Sequence[str], *, host: str, most: int, now: float) -> Sequence[Ticket]:
    """Take over at most `most` tickets of the hosts that are gone, at a new epoch."""
    if not gone or most <= 0:
        return []
    return _hold_all(c, tickets.c.host.in_(gone), host=host, now=now, most=most)


def held(c: sa.Connection, host: str) -> dict[int, tuple[int, bool]]:
    """Return the running tickets of a host: the epoch of each, and whether somebody cancelled it."""
    t = tickets.c
    rows = c.execute(sa.select(t.id, t.epoch, t.cancel_requested).where(t.state == State.RUNNING, t.host == host))
    return {row.id: (row.epoch, row.cancel_requested) for row in rows}


def leave(c: sa.Connection, host: str) -> None:
    """Say that a host stops because it was told to: it lives no more, and no stage is to blame for its end."""
    c.execute(hosts.update().where(hosts.c.name == host).values(heartbeat=0.0))
    c.execute(tickets.update().where(tickets.c.state == State.RUNNING, tickets.c.host == host).values(tries=0))


def _hold_all(
    c: sa.Connection, whose: sa.ColumnElement[bool], *, host: str, now: float, most: int | None = None
) -> list[Ticket]:
    rows = c.execute(
        sa.select(tickets).where(tickets.c.state == State.RUNNING, whose).order_by(tickets.c.id).limit(most)
    )
    taken = []
    for ticket in [read_ticket(row) for row in rows.fetchall()]:
        same = (tickets.c.id == ticket.id, tickets.c.epoch == ticket.epoch, tickets.c.state == State.RUNNING)
        values = {"host": host, "epoch": ticket.epoch + 1, "updated_at": now}
        if c.execute(tickets.update().where(*same).values(**values)).rowcount == 1:  # else another host was faster
            taken.append(get_ticket(c, ticket.id))
    return taken
