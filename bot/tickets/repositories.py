"""The SQL of repositories beside their settings: through which installation they are reached, and under which name."""

import json
from collections.abc import Mapping

import sqlalchemy as sa

from bot.tickets.schema import asks, ledger, marks, memory, posts, pull_checks, rechecks, repositories, tickets


def keep_installation(c: sa.Connection, name: str, installation: int | None) -> None:
    """Note through which installation a repository is reached; None: through none any more."""
    _write(c, name, installation=installation)


def known(c: sa.Connection) -> list[str]:
    """Return the repositories that are reached through an installation."""
    query = sa.select(repositories.c.name).where(repositories.c.installation.is_not(None))
    return list(c.execute(query.order_by(repositories.c.name)).scalars())


def of_installation(c: sa.Connection, installation: int) -> list[str]:
    """Return the repositories that are reached through one installation."""
    query = sa.select(repositories.c.name).where(repositories.c.installation == installation)
    return list(c.execute(query.order_by(repositories.c.name)).scalars())


def missing(c: sa.Connection, name: str) -> tuple[str, ...]:
    """Return the permissions that were found missing in a repository, such as "checks: write"."""
    return tuple(json.loads(c.execute(_MISSING.where(repositories.c.name == name)).scalar() or "[]"))


def note_missing(c: sa.Connection, name: str, permission: str) -> bool:
    """Note that a permission is missing; False where that is known."""
    known = missing(c, name)
    if permission in known:
        return False
    _write(c, name, missing=json.dumps(sorted({*known, permission})))
    return True


def note_granted(c: sa.Connection, name: str, permission: str = "") -> bool:
    """Note that a permission, such as "checks", is there after all, or that all may be; False: it was not missing."""
    known = missing(c, name)
    kept = [other for other in known if permission and not other.startswith(f"{permission}:")]
    if len(kept) < len(known):
        _write(c, name, missing=json.dumps(kept))
    return len(kept) < len(known)


def _write(c: sa.Connection, name: str, **values: object) -> None:
    if c.execute(repositories.update().where(repositories.c.name == name).values(**values)).rowcount == 0:
        c.execute(repositories.insert().values(name=name, **values))


def note_cold(c: sa.Connection, name: str, part: str, seconds: float) -> None:
    """Note what a part that only a slot without warmth pays has just cost."""
    known_s = json.dumps({**cold_of(c, name), part: round(seconds, 3)})
    _write(c, name, cold_s=known_s)


def cold_of(c: sa.Connection, name: str) -> dict[str, float]:
    """Return what each cold part of a repository cost when it was last paid, in seconds."""
    return dict(json.loads(c.execute(_COLD.where(repositories.c.name == name)).scalar() or "{}"))


def cold_of_all(c: sa.Connection) -> Mapping[str, Mapping[str, float]]:
    """Return the same for every repository."""
    return {name: json.loads(text) for name, text in c.execute(sa.select(repositories.c.name, repositories.c.cold_s))}


_COLD = sa.select(repositories.c.cold_s)
_MISSING = sa.select(repositories.c.missing)


def rename(c: sa.Connection, old: str, new: str) -> None:
    """Follow a repository to its new name; what it was called before may be taken by another one later."""
    for table in (tickets, posts, ledger, memory, marks, asks, pull_checks, rechecks):
        c.execute(table.update().where(table.c.repository == old).values(repository=new))
    c.execute(repositories.delete().where(repositories.c.name == new))
    c.execute(repositories.update().where(repositories.c.name == old).values(name=new, settings_sha=None))
