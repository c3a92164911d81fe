"""The SQL of repositories beside their settings: through which installation they are reached, and under which name."""

import json
from collections.abc import Mapping

import sqlalchemy as sa

from bot.tickets.schema import asks, ledger, marks, memory, posts, pull_checks, repositories, tickets


def keep_installation(c: sa.Connection, name: str, installation: int | None) -> None:
    """Note through which installation a repository is reached; None: through none any more."""
    if (
        c.execute(repositories.update().where(repositories.c.name == name).values(installation=installation)).rowcount
        == 0
    ):
        c.execute(repositories.insert().values(name=name, installation=installation))


def known(c: sa.Connection) -> list[str]:
    """Return the repositories that are reached through an installation."""
    query = sa.select(repositories.c.name).where(repositories.c.installation.is_not(None))
    return list(c.execute(query.order_by(repositories.c.name)).scalars())


def of_installation(c: sa.Connection, installation: int) -> list[str]:
    """Return the repositories that are reached through one installation."""
    query = sa.select(repositories.c.name).where(repositories.c.installation == installation)
    return list(c.execute(query.order_by(repositories.c.name)).scalars())


def note_cold(c: sa.Connection, name: str, part: str, seconds: float) -> None:
    """Note what a part that only a slot without warmth pays has just cost."""
    known_s = json.dumps({**cold_of(c, name), part: round(seconds, 3)})
    if c.execute(repositories.update().where(repositories.c.name == name).values(cold_s=known_s)).rowcount == 0:
        c.execute(repositories.insert().values(name=name, cold_s=known_s))


def cold_of(c: sa.Connection, name: str) -> dict[str, float]:
    """Return what each cold part of a repository cost when it was last paid, in seconds."""
    return dict(json.loads(c.execute(_COLD.where(repositories.c.name == name)).scalar() or "{}"))


def cold_of_all(c: sa.Connection) -> Mapping[str, Mapping[str, float]]:
    """Return the same for every repository."""
    return {name: json.loads(text) for name, text in c.execute(sa.select(repositories.c.name, repositories.c.cold_s))}


_COLD = sa.select(repositories.c.cold_s)


def rename(c: sa.Connection, old: str, new: str) -> None:
    """Follow a repository to its new name; what it was called before may be taken by another one later."""
    for table in (tickets, posts, ledger, memory, marks, asks, pull_checks):
        c.execute(table.update().where(table.c.repository == old).values(repository=new))
    c.execute(repositories.delete().where(repositories.c.name == new))
    c.execute(repositories.update().where(repositories.c.name == old).values(name=new, settings_sha=None))
