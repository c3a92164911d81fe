"""The SQL of repositories beside their settings: through which installation they are reached, and under which name."""

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


def rename(c: sa.Connection, old: str, new: str) -> None:
    """Follow a repository to its new name; what it was called before may be taken by another one later."""
    for table in (tickets, posts, ledger, memory, marks, asks, pull_checks):
        c.execute(table.update().where(table.c.repository == old).values(repository=new))
    c.execute(repositories.delete().where(repositories.c.name == new))
    c.execute(repositories.update().where(repositories.c.name == old).values(name=new, settings_sha=None))
