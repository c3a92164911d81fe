"""What tickets said they would touch, against what they really touched. No I/O beside one query."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from bot.tickets.claims import EVERYTHING, covers, meet
from bot.tickets.schema import attempts, tickets
from bot.tickets.tickets import list_tickets

OFTEN = 3  # attempts that reached for the same file outside of their claims


@dataclass(frozen=True, slots=True)
class Compared:
    """One attempt: what it declared, what it touched, and where the two differ."""

    ticket: int
    repository: str
    issue: int
    attempt: int
    declared: tuple[str, ...]
    touched: tuple[str, ...]

    @property
    def outside(self) -> tuple[str, ...]:
        """Return the files that were touched outside of the claim."""
        return tuple(path for path in self.touched if not covers(self.declared or (EVERYTHING,), path))

    @property
    def unused(self) -> tuple[str, ...]:
        """Return the claimed paths below which nothing was touched: others waited for them in vain."""
        return tuple(
            claimed for claimed in self.declared if not any(meet(claimed, touched) for touched in self.touched)
        )


def compared(c: sa.Connection, *, repository: str | None = None, limit: int = 50) -> list[Compared]:
    """Return the latest attempts that touched anything, newest first; of a repository, those of its latest tickets."""
    query = (
        sa.select(tickets.c.id, tickets.c.repository, tickets.c.issue, attempts.c.number, attempts.c.claim,
                  attempts.c.touched)
        .join(tickets, tickets.c.id == attempts.c.ticket)
        .where(attempts.c.touched != "[]")
        .order_by(attempts.c.ticket.desc(), attempts.c.number.desc())
        .limit(limit)
    )  # fmt: skip
    if repository is not None:
        latest = [ticket.id for ticket in list_tickets(c, repository=repository, limit=limit)]
        query = query.where(attempts.c.ticket.in_(latest))
    return [
        Compared(row[0], row[1], row[2], row[3], tuple(json.loads(row[4])), tuple(json.loads(row[5])))
        for row in c.execute(query)
    ]


def reached_often(rows: Sequence[Compared]) -> list[tuple[str, str, int]]:
    """Return (repository, path, attempts) of what many attempts touched outside of their claims, most first."""
    counted = Counter((row.repository, path) for row in rows for path in row.outside)
    return [(repository, path, n) for (repository, path), n in counted.most_common() if n >= OFTEN]
