"""The SQL of what happened when: seconds of stages, and lines of the log."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from bot.tickets.schema import log_lines, stage_times, tickets
from bot.tickets.seconds import Time


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds with the attempt that they belong to."""

    repository: str
    ticket: int
    attempt: int
    took: Time


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a ticket's log."""

    id: int
    attempt: int
    at: float
    stage: str
    line: str


def add_time(
    c: sa.Connection, ticket: int, attempt: int, *, stage: str, part: str, kind: str, started_at: float, seconds: float
) -> None:
    """Keep the seconds of a stage or of a part of it."""
    c.execute(
        stage_times.insert().values(
            ticket=ticket, attempt=attempt, stage=stage, part=part, kind=kind, started_at=started_at, seconds=seconds
        )
    )


def add_lines(c: sa.Connection, ticket: int, attempt: int, *, stage: str, lines: Sequence[str], now: float) -> None:
    """Keep lines of one stage's log."""
    add_batch(c, [(ticket, attempt, stage, line, now) for line in lines])


def add_batch(c: sa.Connection, batch: Sequence[tuple[int, int, str, str, float]]) -> None:
    """Keep lines given as (ticket, attempt, stage, line, time)."""
    if batch:
        names = ("ticket", "attempt", "stage", "line", "at")
        c.execute(log_lines.insert(), [dict(zip(names, entry, strict=True)) for entry in batch])


def times_of(c: sa.Connection, ticket: int, attempt: int) -> list[Time]:
    """Return the seconds of an attempt in the order in which they were spent."""
    t = stage_times.c
    rows = c.execute(
        sa.select(t.stage, t.seconds, t.part, t.kind, t.started_at)
        .where(t.ticket == ticket, t.attempt == attempt)
        .order_by(t.started_at, t.id)
    )
    return [Time(*row) for row in rows]


def ended_since(c: sa.Connection, since: float, repository: str | None = None) -> list[Timed]:
    """Return the seconds of all attempts that began after a time and ended, of one repository or of all."""
    t = stage_times.c
    query = (
        sa.select(tickets.c.repository, t.ticket, t.attempt, t.stage, t.seconds, t.part, t.kind, t.started_at)
        .join(tickets, tickets.c.id == t.ticket)
        .where(t.started_at >= since, sa.or_(tickets.c.state != "running", tickets.c.attempt != t.attempt))
        .order_by(t.id)
    )
    if repository:
        query = query.where(tickets.c.repository == repository)
    return [Timed(row[0], row[1], row[2], Time(*row[3:])) for row in c.execute(query)]


def lines_after(c: sa.Connection, ticket: int, after: int, *, limit: int = 2000) -> list[Line]:
    """Return the lines of a ticket behind the line `after`, oldest first."""
    ln = log_lines.c
    rows = c.execute(
        sa.select(ln.id, ln.attempt, ln.at, ln.stage, ln.line)
        .where(ln.ticket == ticket, ln.id > after)
        .order_by(ln.id)
        .limit(limit)
    )
    return [Line(*row) for row in rows]
