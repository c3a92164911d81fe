"""What the forge should show against what it shows: the rows behind the outbox."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.tickets.schema import posts


@dataclass(frozen=True, slots=True)
class Post:
    """One thing on the forge that is not yet as wanted."""

    key: str
    kind: str
    repository: str
    installation: int | None
    wanted: Mapping[str, Any]
    version: int
    posted: Mapping[str, Any] | None
    remote: str | None
    tries: int


def want(
    c: sa.Connection,
    key: str,
    kind: str,
    *,
    repository: str,
    wanted: Mapping[str, Any],
    now: float,
    installation: int | None = None,
    urgent: bool = False,
) -> None:
    """Say what the forge should show under `key`; the newest wish wins, an equal one changes nothing.

    What is `urgent` is posted at once; all else at the pace that the last posting set.
    """
    text = json.dumps(wanted, sort_keys=True)
    row = c.execute(sa.select(posts.c.wanted).where(posts.c.key == key)).first()
    if row is None:
        c.execute(
            posts.insert().values(
                key=key, kind=kind, repository=repository, installation=installation,
                wanted=text, wanted_version=1, updated_at=now,
            )
        )  # fmt: skip
    elif row.wanted != text:
        c.execute(
            posts.update()
            .where(posts.c.key == key)
            .values(
                wanted=text,
                wanted_version=posts.c.wanted_version + 1,
                updated_at=now,
                not_before=0 if urgent else posts.c.not_before,
            )
        )


def wants_again(c: sa.Connection, key: str) -> None:
    """Have a post made once more although nothing new is wanted: the forge lost it."""
    c.execute(posts.update().where(posts.c.key == key).values(wanted_version=posts.c.wanted_version + 1))


def due(c: sa.Connection, now: float, *, limit: int = 50) -> Sequence[Post]:
    """Return what waits to be posted, the longest waiting first."""
    rows = c.execute(
        sa.select(posts)
        .where(posts.c.wanted_version > posts.c.posted_version, posts.c.not_before <= now)
        .order_by(posts.c.updated_at)
        .limit(limit)
    )
    return [_post(row) for row in rows]


def next_due_at(c: sa.Connection) -> float | None:
    """Return when the earliest waiting post may be tried, or None if nothing waits."""
    return c.execute(
        sa.select(sa.func.min(posts.c.not_before)).where(posts.c.wanted_version > posts.c.posted_version)
    ).scalar()


def find(c: sa.Connection, key: str) -> Post | None:
    """Return the post under a key."""
    row = c.execute(sa.select(posts).where(posts.c.key == key)).first()
    return None if row is None else _post(row)


def record_posted(
    c: sa.Connection, post: Post, *, posted: Mapping[str, Any], remote: str | None, now: float, pace_s: float = 0.0
) -> None:
    """Note that the forge shows what version `post.version` wanted; a newer wish waits `pace_s`."""
    c.execute(
        posts.update()
        .where(posts.c.key == post.key)
        .values(
            posted_version=post.version, posted=json.dumps(posted, sort_keys=True), remote=remote,
            tries=0, error="", updated_at=now,
            # a newer wish that came meanwhile keeps its own time
            not_before=sa.case((posts.c.wanted_version > post.version, posts.c.not_before), else_=now + pace_s),
        )
    )  # fmt: skip


def record_failure(c: sa.Connection, post: Post, *, error: str, not_before: float) -> None:
    """Note why posting failed, and when it may be tried again."""
    c.execute(
        posts.update()
        .where(posts.c.key == post.key)
        .values(tries=posts.c.tries + 1, error=error[:2000], not_before=not_before)
    )


def _post(row: sa.Row[Any]) -> Post:
    return Post(
        key=row.key, kind=row.kind, repository=row.repository, installation=row.installation,
        wanted=json.loads(row.wanted), version=row.wanted_version,
        posted=None if row.posted is None else json.loads(row.posted), remote=row.remote, tries=row.tries,
    )  # fmt: skip
