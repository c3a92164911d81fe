"""Take from the queue what may start here, in one short transaction under one lock; say of the rest why it waits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from bot.tickets import held, ledger, open_issues, repository, tickets
from bot.tickets.admission import Admit, Decision, Limits, Wait, admit, chain
from bot.tickets.budget import Budget
from bot.tickets.queue import Queue
from bot.tickets.schema import hosts
from bot.tickets.store import Store
from bot.tickets.ticket import Ticket
from bot.tickets.warmth import Warmth

LONG = 100  # queued tickets: from here on it pays to look first whether a tick finds anything
TOLD_AT_ONCE = 200  # new reasons in one transaction: nobody else writes meanwhile, not even a delivery
_LOCK = 0x5105CE  # of PostgreSQL; on SQLite the write transaction is the lock

Changed = Callable[
    [sa.Connection, Ticket], None
]  # told of each ticket that was queued again or waits for another reason


@dataclass(frozen=True, slots=True)
class Here:
    """What one host knows and no database: its free slots, its disk, and the operator's limits."""

    free_slots: int
    now: float
    low_disk: str = ""  # why nothing starts
    total: int = 0  # tickets at the same time on all hosts; 0: no limit
    day: Budget = field(default_factory=Budget)  # of all repositories together


def tick(
    store: Store, here: Here, *, host: str, changed: Changed | None = None,
    warmth: Warmth | None = None, queue: Queue | None = None,
) -> list[Ticket]:  # fmt: skip
    """Mark the queued tickets that this host takes now as running, and return them.

    A ticket whose reason for waiting is new is written, and told through `changed`, some hundred at a time: then
    `queue.is_behind`, and another tick tells more. One that is warm elsewhere is left to that host for a moment.
    """
    queue = queue if queue is not None else Queue()
    queue.is_behind = False
    with store.read() as c:  # without the one write lock: ticks are many, and most find nothing
        queued, running = queue.read(c)
        is_held = held.is_any(c)
        if not is_held and (not queued or (len(queued) > LONG and not _news(_decide(c, queue, queued, running, here)))):
            return []
    try:
        with store.write() as c:
            return _let_in(c, here, queue, host=host, is_held=is_held, changed=changed, warmth=warmth)
    except BaseException:
        queue.forget()
        raise


def _let_in(
    c: sa.Connection, here: Here, queue: Queue, *, host: str, is_held: bool, changed: Changed | None,
    warmth: Warmth | None,
) -> list[Ticket]:  # fmt: skip
    lock(c)
    for ticket in held.release(c, now=here.now) if is_held else ():
        if changed is not None:
            changed(c, ticket)
    decisions = decide(c, here, queue)
    admitted = [decision.ticket for decision in decisions if isinstance(decision, Admit)]
    news = [decision for decision in _news(decisions) if isinstance(decision, Wait)]
    for wait in news[:TOLD_AT_ONCE]:
        told = tickets.set_reason(c, wait.ticket, wait.reason)
        if changed is not None:
            changed(c, told)
    queue.is_behind = len(news) > TOLD_AT_ONCE
    kept = warmth.kept(c, admitted) if warmth is not None else admitted
    return [tickets.take(c, ticket, host, here.now) for ticket in kept]


def _news(decisions: Sequence[Decision]) -> list[Decision]:
    return [d for d in decisions if isinstance(d, Admit) or d.reason != d.ticket.reason]


def lock(c: sa.Connection) -> None:
    """Let nobody else admit, or let a claim grow, until this transaction ends."""
    if c.dialect.name == "postgresql":
        c.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def decide(c: sa.Connection, here: Here, queue: Queue | None = None) -> Sequence[Decision]:
    """Return what admission says of every queued ticket now; a `queue` that was read before spares most of it."""
    queue = queue if queue is not None else Queue()
    return _decide(c, queue, *queue.read(c), here)


def _decide(c: sa.Connection, queue: Queue, queued: list[Ticket], running: list[Ticket], here: Here) -> list[Decision]:
    if not queued:
        return []
    limits, unfinished, links = _limits(c, queued, here), open_issues.unfinished(c, queued), repository.links_of_all(c)
    if queue.last is None or queue.last[0] != (limits, unfinished, links):
        decided = admit(queued, running, limits=limits, unfinished=unfinished, links=links)
        queue.last = (limits, unfinished, links), decided
    return queue.last[1]


def explain(c: sa.Connection, ticket: Ticket, *, now: float) -> str:
    """Return why a queued ticket waits, with how many more are in its way; empty where it may start."""
    queue = Queue()
    queued, running = queue.read(c)
    slots = c.execute(sa.select(sa.func.sum(hosts.c.slots)).where(~hosts.c.draining)).scalar()
    here = Here(free_slots=max(1, slots or 1) - len(running), now=now)
    for decision in decide(c, here, queue):
        if decision.ticket.id == ticket.id:
            # what only a host knows, such as its disk, stands in the reason that it wrote
            return chain(decision, queued, running) if isinstance(decision, Wait) else ticket.reason
    return ticket.reason


def _limits(c: sa.Connection, queued: list[Ticket], here: Here) -> Limits:
    settings = repository.settings_of_all(c, {t.repository for t in queued})
    return Limits(
        free=here.free_slots, total=here.total, per_repository={name: s.tickets for name, s in settings.items()},
        paused=repository.paused(c), low_disk=here.low_disk,
        exhausted=ledger.exhausted(c, {name: Budget(tokens=s.day.tokens, dollars=s.day.dollars)
                                       for name, s in settings.items()}, bot=here.day, now=here.now),
    )  # fmt: skip
