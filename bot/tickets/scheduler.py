"""Take from the queue what may start here, in one short transaction under one lock; say of the rest why it waits."""

from collections.abc import Callable
from dataclasses import dataclass, field

import sqlalchemy as sa

from bot.tickets import held, ledger, open_issues, repository, tickets
from bot.tickets.admission import Admit, Decision, Limits, Wait, admit, chain
from bot.tickets.budget import Budget
from bot.tickets.schema import hosts
from bot.tickets.store import Store
from bot.tickets.ticket import Ticket
from bot.tickets.warmth import Warmth

_LOCK = 0x5105CE  # of PostgreSQL; on SQLite the write transaction is the lock


@dataclass(frozen=True, slots=True)
class Here:
    """What one host knows and no database: its free slots, its disk, and the operator's limits."""

    free_slots: int
    now: float
    low_disk: str = ""  # why nothing starts
    total: int = 0  # tickets at the same time on all hosts; 0: no limit
    day: Budget = field(default_factory=Budget)  # of all repositories together


def tick(
    store: Store, here: Here, *, host: str, changed: Callable[[sa.Connection, Ticket], None] | None = None,
    warmth: Warmth | None = None,
) -> list[Ticket]:  # fmt: skip
    """Mark the queued tickets that this host takes now as running, and return them.

    A ticket whose reason for waiting is new is written, and told through `changed`; one that is warm elsewhere is left
    to that host for a moment.
    """
    with store.read() as c:  # without the one write lock: ticks are many, and most find nothing
        if not tickets.is_any_waiting(c):
            return []
    with store.write() as c:
        lock(c)
        for ticket in held.release(c, now=here.now):
            if changed is not None:
                changed(c, ticket)
        admitted: list[Ticket] = []
        for decision in decide(c, here):
            if isinstance(decision, Admit):
                admitted.append(decision.ticket)
            elif decision.reason != decision.ticket.reason:
                told = tickets.set_reason(c, decision.ticket, decision.reason)
                if changed is not None:
                    changed(c, told)
        kept = warmth.kept(c, admitted) if warmth is not None else admitted
        return [tickets.take(c, ticket, host, here.now) for ticket in kept]


def lock(c: sa.Connection) -> None:
    """Let nobody else admit, or let a claim grow, until this transaction ends."""
    if c.dialect.name == "postgresql":
        c.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def decide(c: sa.Connection, here: Here) -> list[Decision]:
    """Return what admission says of every queued ticket now."""
    return _decide(c, *tickets.open_tickets(c), here)


def explain(c: sa.Connection, ticket: Ticket, *, now: float) -> str:
    """Return why a queued ticket waits, with how many more are in its way; empty where it may start."""
    queued, running = tickets.open_tickets(c)
    slots = c.execute(sa.select(sa.func.sum(hosts.c.slots)).where(~hosts.c.draining)).scalar()
    here = Here(free_slots=max(1, slots or 1) - len(running), now=now)
    for decision in _decide(c, queued, running, here):
        if decision.ticket.id == ticket.id:
            # what only a host knows, such as its disk, stands in the reason that it wrote
            return chain(decision, queued, running) if isinstance(decision, Wait) else ticket.reason
    return ticket.reason


def _decide(c: sa.Connection, queued: list[Ticket], running: list[Ticket], here: Here) -> list[Decision]:
    if not queued:
        return []
    settings = repository.settings_of_all(c, {t.repository for t in queued})
    limits = Limits(
        free=here.free_slots, total=here.total, per_repository={name: s.tickets for name, s in settings.items()},
        paused=repository.paused(c), low_disk=here.low_disk,
        exhausted=ledger.exhausted(c, {name: Budget(tokens=s.day.tokens, dollars=s.day.dollars)
                                       for name, s in settings.items()}, bot=here.day, now=here.now),
    )  # fmt: skip
    return admit(queued, running, limits=limits, unfinished=open_issues.unfinished(c, queued))
