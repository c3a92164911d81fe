"""The SQL of hosts: who lives, what each holds, and what a dead one left behind."""

from collections.abc import Sequence

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
    if c.execute(hosts.update().where(hosts.c.name == host).values(**values)).rowcount == 0:
        c.execute(hosts.insert().values(name=host, **values))


def dead(c: sa.Connection, *, dead_s: float) -> list[str]:
    """Return the hosts that have been silent for `dead_s` seconds."""
    return list(c.execute(sa.select(hosts.c.name).where(hosts.c.heartbeat < clock(c) - dead_s)).scalars())


def take_back(c: sa.Connection, *, host: str, now: float) -> Sequence[Ticket]:
    """Return what this host was running when it stopped, at a new epoch."""
    rows = c.execute(sa.select(tickets).where(tickets.c.state == State.RUNNING, tickets.c.host == host))
    return [hold(c, read_ticket(row), host, now) for row in rows.fetchall()]


def take_orphans(c: sa.Connection, *, host: str, most: int, dead_s: float, now: float) -> Sequence[Ticket]:
    """Take over at most `most` tickets of dead hosts, at a new epoch."""
    gone = [name for name in dead(c, dead_s=dead_s) if name != host]
    if not gone or most <= 0:
        return []
    rows = c.execute(
        sa.select(tickets)
        .where(tickets.c.state == State.RUNNING, tickets.c.host.in_(gone))
        .order_by(tickets.c.id)
        .limit(most)
    )
    return [hold(c, read_ticket(row), host, now) for row in rows.fetchall()]


def cancel_requests(c: sa.Connection, host: str) -> list[int]:
    """Return the running tickets of this host that somebody cancelled."""
    where = (tickets.c.state == State.RUNNING, tickets.c.host == host, tickets.c.cancel_requested)
    return list(c.execute(sa.select(tickets.c.id).where(*where)).scalars())


def hold(c: sa.Connection, ticket: Ticket, host: str, now: float) -> Ticket:
    c.execute(
        tickets.update().where(tickets.c.id == ticket.id).values(host=host, epoch=ticket.epoch + 1, updated_at=now)
    )
    return get_ticket(c, ticket.id)
