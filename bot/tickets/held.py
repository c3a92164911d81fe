"""Tickets that are held because another one works where they reached: they go on by themselves once that has ended."""

import sqlalchemy as sa

from bot.tickets.schema import tickets
from bot.tickets.ticket import State, Ticket
from bot.tickets.tickets import find_attempt, read_ticket, requeue


def is_any(c: sa.Connection) -> bool:
    """Return whether any ticket is held for another one."""
    return c.execute(sa.select(tickets.c.id).where(tickets.c.held_for.is_not(None)).limit(1)).first() is not None


def release(c: sa.Connection, *, now: float) -> list[Ticket]:
    """Queue again what was held for a ticket that no longer runs; each goes on from the work that it had."""
    other = tickets.alias()
    still = sa.select(other.c.id).where(other.c.id == tickets.c.held_for, other.c.state == State.RUNNING)
    rows = c.execute(sa.select(tickets).where(tickets.c.held_for.is_not(None), ~still.exists())).fetchall()
    found = sorted((read_ticket(row) for row in rows), key=lambda ticket: ticket.id)
    return [_again(c, ticket, now) for ticket in found if ticket.state is State.DONE]


def _again(c: sa.Connection, ticket: Ticket, now: float) -> Ticket:
    attempt = find_attempt(c, ticket.id, ticket.attempt)
    return requeue(
        c, ticket, title=ticket.title, body=ticket.body, feedback=ticket.feedback, now=now,
        resume_sha=attempt.head_sha if attempt else None,
    )  # fmt: skip
