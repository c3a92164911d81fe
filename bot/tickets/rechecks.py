"""The SQL of gates that are run again without caches: asked for when a job ends, done later on the same host."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from bot.tickets.schema import rechecks
from bot.tickets.ticket import Outcome

NEW, SAME, DIFFERS, UNSTEADY, FAILED = "new", "same", "differs", "unsteady", "failed"


@dataclass(frozen=True, slots=True)
class Recheck:
    """One verdict that caches took part in, and what a gate without them said."""

    id: int
    repository: str
    installation: int | None
    ticket: int
    attempt: int
    issue: int
    host: str  # that has slot and caches
    slot: str
    base_sha: str
    head_sha: str
    caches: tuple[tuple[str, str, str], ...]  # path, tool and key of each
    report: str  # with caches, JSON
    state: str
    reason: str
    cold: str | None  # without them, JSON
    created_at: float
    updated_at: float


def is_due(outcome: Outcome, *, every: int, draw: int) -> bool:
    """Return whether a job's gate is run again: every merge, and one of `every` others; 0 is never.

    `draw` is a number below `every` that nobody can foresee.
    """
    return every > 0 and (outcome is Outcome.MERGED or draw == 0)


def ask(
    c: sa.Connection, repository: str, *, installation: int | None, ticket: int, attempt: int, issue: int, host: str,
    slot: str, base_sha: str, head_sha: str, caches: Sequence[tuple[str, str, str]], report: str, now: float,
) -> None:  # fmt: skip
    """Ask for one; asking twice for one attempt is a no-op."""
    same = (rechecks.c.ticket == ticket, rechecks.c.attempt == attempt)
    if c.execute(sa.select(rechecks.c.id).where(*same)).first() is None:
        c.execute(
            rechecks.insert().values(
                repository=repository, installation=installation, ticket=ticket, attempt=attempt, issue=issue,
                host=host, slot=slot, base_sha=base_sha, head_sha=head_sha, caches=json.dumps(caches), report=report,
                state=NEW, created_at=now, updated_at=now,
            )
        )  # fmt: skip


def next_of(c: sa.Connection, host: str) -> Recheck | None:
    """Return what a host is to look at next: the one that waits longest."""
    where = (rechecks.c.host == host, rechecks.c.state == NEW)
    row = c.execute(sa.select(rechecks).where(*where).order_by(rechecks.c.id).limit(1)).first()
    return None if row is None else _read(row)


def settle(c: sa.Connection, number: int, state: str, reason: str, *, cold: str | None, now: float) -> None:
    """Keep what came out."""
    values = {"state": state, "reason": reason, "cold": cold, "updated_at": now}
    c.execute(rechecks.update().where(rechecks.c.id == number).values(**values))


def of_ticket(c: sa.Connection, ticket: int, attempt: int) -> Recheck | None:
    """Return the one of an attempt."""
    row = c.execute(sa.select(rechecks).where(rechecks.c.ticket == ticket, rechecks.c.attempt == attempt)).first()
    return None if row is None else _read(row)


def counts(c: sa.Connection, host: str) -> dict[str, int]:
    """Return how many a host has of each state."""
    query = sa.select(rechecks.c.state, sa.func.count()).where(rechecks.c.host == host).group_by(rechecks.c.state)
    return {str(state): int(count) for state, count in c.execute(query)}


def _read(row: sa.Row[tuple[object, ...]]) -> Recheck:
    fields = dict(row._mapping)
    fields["caches"] = tuple((str(p), str(t), str(k)) for p, t, k in json.loads(fields["caches"]))
    return Recheck(**fields)
