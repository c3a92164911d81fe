"""Take from the queue what may start here, in one short transaction under one lock; say of the rest why it waits."""

from collections.abc import Callable, Mapping

import sqlalchemy as sa

from bot.tickets import held, repository, tickets
from bot.tickets.admission import Admit, Decision, Limits, admit
from bot.tickets.edges import HARD
from bot.tickets.store import Store
from bot.tickets.ticket import State, Ticket

_LOCK = 0x5105CE  # of PostgreSQL; on SQLite the write transaction is the lock


def tick(
    store: Store,
    *,
    host: str,
    free_slots: int,
    now: float,
    low_disk: str = "",
    changed: Callable[[sa.Connection, Ticket], None] | None = None,
) -> list[Ticket]:
    """Mark the queued tickets that this host takes now as running, and return them.

    A ticket whose reason for waiting is new is written, and told through `changed`.
    """
    with store.write() as c:
        lock(c)
        for ticket in held.release(c, now=now):
            if changed is not None:
                changed(c, ticket)
        taken: list[Ticket] = []
        for decision in decide(c, free_slots=free_slots, low_disk=low_disk):
            if isinstance(decision, Admit):
                taken.append(tickets.take(c, decision.ticket, host, now))
            elif decision.reason != decision.ticket.reason:
                told = tickets.set_reason(c, decision.ticket, decision.reason)
                if changed is not None:
                    changed(c, told)
        return taken


def lock(c: sa.Connection) -> None:
    """Let nobody else admit, or let a claim grow, until this transaction ends."""
    if c.dialect.name == "postgresql":
        c.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def decide(c: sa.Connection, *, free_slots: int, low_disk: str = "") -> list[Decision]:
    """Return what admission says of every queued ticket now."""
    queued, running = tickets.open_tickets(c)
    if not queued:
        return []
    limits = Limits(
        free=free_slots, per_repository=_limits(c, {t.repository for t in queued}), paused=repository.paused(c),
        low_disk=low_disk,
    )  # fmt: skip
    return admit(queued, running, limits=limits, unfinished=_unfinished(c, queued))


def _limits(c: sa.Connection, names: set[str]) -> Mapping[str, int]:
    return {name: repository.settings_of(c, name).tickets for name in names}


def _unfinished(c: sa.Connection, queued: list[Ticket]) -> set[tuple[str, int]]:
    """Return the issues that queued tickets depend on and whose newest ticket waits for approval or did not succeed."""
    wanted = {(t.repository, issue) for t in queued for kind, issue in t.edges if kind == HARD}
    open_ones: set[tuple[str, int]] = set()
    for name, issue in wanted:
        other = tickets.find_ticket(c, name, issue)
        if other is not None and (other.state is not State.DONE or other.outcome not in tickets.FINISHED):
            open_ones.add((name, issue))
    return open_ones
