"""Take from the queue what may start here, in one short transaction under one lock."""

import sqlalchemy as sa

from bot.tickets import tickets
from bot.tickets.store import Store
from bot.tickets.ticket import Ticket

_LOCK = 0x5105CE  # of PostgreSQL; on SQLite the write transaction is the lock


def tick(store: Store, *, host: str, free_slots: int, now: float) -> list[Ticket]:
    """Mark the queued tickets that this host takes now as running, and return them."""
    with store.write() as c:
        if c.dialect.name == "postgresql":
            c.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        queued, running = tickets.open_tickets(c)
        busy = {ticket.repository for ticket in running}
        taken: list[Ticket] = []
        for ticket in queued:
            if len(taken) < free_slots and ticket.repository not in busy:
                taken.append(tickets.take(c, ticket, host, now))
                busy.add(ticket.repository)
        return taken
