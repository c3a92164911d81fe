"""The SQL of asks: who asked for what when, so that a loop or a flood can be noticed."""

import sqlalchemy as sa

from bot.tickets.schema import asks

KEPT_S = 86_400.0


def add(c: sa.Connection, repository: str, issue: int, sender: int, kind: str, *, now: float) -> None:
    """Note that something was asked; what is older than a day is forgotten."""
    c.execute(asks.delete().where(asks.c.at < now - KEPT_S))
    c.execute(asks.insert().values(repository=repository, issue=issue, sender=sender, kind=kind, at=now))


def count(
    c: sa.Connection,
    kind: str,
    *,
    since: float,
    repository: str | None = None,
    issue: int | None = None,
    sender: int | None = None,
) -> int:
    """Return how often this was asked since a time."""
    query = sa.select(sa.func.count()).select_from(asks).where(asks.c.kind == kind, asks.c.at > since)
    if repository is not None:
        query = query.where(asks.c.repository == repository)
    if issue is not None:
        query = query.where(asks.c.issue == issue)
    if sender is not None:
        query = query.where(asks.c.sender == sender)
    return int(c.execute(query).scalar_one())


def work(
    c: sa.Connection, repository: str, issue: int, sender: int, *, issue_since: float, since: float
) -> tuple[int, int, int]:  # fmt: skip
    """Return how often work was asked for: on an issue since `issue_since`; by a sender, and in a repository, since."""
    here = asks.c.repository == repository
    counts = (
        sa.func.count().filter(here, asks.c.issue == issue, asks.c.at > issue_since),
        sa.func.count().filter(asks.c.sender == sender, asks.c.at > since),
        sa.func.count().filter(here, asks.c.at > since),
    )
    asked = sa.select(*counts).where(asks.c.kind == "work", asks.c.at > min(issue_since, since))
    of_issue, of_sender, of_repository = c.execute(asked).one()
    return int(of_issue), int(of_sender), int(of_repository)
