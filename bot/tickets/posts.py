"""What the forge should show against what it shows: the rows behind the outbox."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.tickets.schema import posts
from bot.tickets.store import insert

CLAIM_S = 20.0  # whoever takes longer to post one thing has died over it
LONGEST_S = 2 * 3600.0  # of any wait: no forge asks for more than an hour
_WAITS = posts.c.wanted_version > posts.c.posted_version


KEPT_S = 30 * 86_400.0


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
    new = insert(c, posts).values(
        key=key, kind=kind, repository=repository, installation=installation, wanted=text, wanted_version=1,
        updated_at=now,
    )  # fmt: skip
    again = {"wanted": text, "wanted_version": posts.c.wanted_version + 1, "updated_at": now}
    c.execute(
        new.on_conflict_do_update(
            index_elements=["key"], set_=again | ({"not_before": 0} if urgent else {}), where=posts.c.wanted != text
        )
    )


def wants_again(c: sa.Connection, key: str) -> None:
    """Have a post made once more although nothing new is wanted: the forge lost it."""
    c.execute(posts.update().where(posts.c.key == key).values(wanted_version=posts.c.wanted_version + 1))


def try_now(c: sa.Connection, repository: str) -> None:
    """Have everything that could not be posted in a repository tried at once: what stood in the way is gone."""
    c.execute(posts.update().where(posts.c.repository == repository, posts.c.error != "").values(not_before=0))


def prune(c: sa.Connection, *, now: float) -> None:
    """Forget what was posted long ago and is asked for no more; wished for again it would be found by its marker."""
    settled = (posts.c.posted_version >= posts.c.wanted_version, posts.c.updated_at < now - KEPT_S)
    c.execute(posts.delete().where(*settled, posts.c.kind.in_(("reply", "reaction", "check"))))


def due(c: sa.Connection, now: float, *, limit: int = 50) -> Sequence[Post]:
    """Return what waits to be posted and nobody is posting, the longest waiting first."""
    rows = c.execute(
        sa.select(posts).where(_WAITS, _ready_at(now) <= now).order_by(posts.c.updated_at).limit(limit)
    )  # fmt: skip
    return [_post(row) for row in rows]


def next_due_at(c: sa.Connection, now: float) -> float | None:
    """Return when the earliest waiting post may be tried, or None if nothing waits."""
    return c.execute(sa.select(sa.func.min(_ready_at(now))).where(_WAITS)).scalar()


def _ready_at(now: float) -> sa.ColumnElement[float]:
    """Return when a post may be tried: no jump of the clock strands it beyond the longest wait that we ever set."""
    wanted = sa.case((posts.c.claimed_until > posts.c.not_before, posts.c.claimed_until), else_=posts.c.not_before)
    return sa.case((wanted > now + LONGEST_S, 0.0), else_=wanted)


def claim(c: sa.Connection, post: Post, now: float, *, host: str, seconds: float = CLAIM_S) -> float | None:
    """Take a post for a host until it is recorded, at most until the time returned; None where another has it."""
    free = sa.or_(posts.c.claimed_until <= now, posts.c.claimed_until > now + LONGEST_S)
    where = (
        posts.c.key == post.key,
        posts.c.wanted_version >= post.version,
        posts.c.posted_version < post.version,
        free,
    )
    until = now + seconds
    taken = posts.update().where(*where).values(claimed_until=until, claimed_by=host)
    return until if c.execute(taken).rowcount == 1 else None


def release(c: sa.Connection, host: str) -> None:
    """Give back what a host was posting when it died: it starts anew, and need not wait for itself."""
    c.execute(posts.update().where(posts.c.claimed_by == host, posts.c.claimed_until > 0).values(claimed_until=0))


def find(c: sa.Connection, key: str) -> Post | None:
    """Return the post under a key."""
    row = c.execute(sa.select(posts).where(posts.c.key == key)).first()
    return None if row is None else _post(row)


def is_shown(c: sa.Connection, key: str) -> bool:
    """Return whether the forge shows what is wanted under a key."""
    return c.execute(sa.select(posts.c.key).where(posts.c.key == key, _WAITS)).first() is None


def record_posted(
    c: sa.Connection, post: Post, *, posted: Mapping[str, Any], remote: str | None, now: float, pace_s: float = 0.0
) -> None:
    """Note that the forge shows what version `post.version` wanted; a newer wish waits `pace_s`."""
    c.execute(
        posts.update()
        .where(posts.c.key == post.key, posts.c.posted_version < post.version)  # else another host was later, and newer
        .values(
            claimed_until=0, posted_version=post.version, posted=json.dumps(posted, sort_keys=True), remote=remote,
            tries=0, error="", updated_at=now,
            # a newer wish that came meanwhile keeps its own time
            not_before=sa.case((posts.c.wanted_version > post.version, posts.c.not_before), else_=now + pace_s),
        )
    )  # fmt: skip


def record_failure(c: sa.Connection, post: Post, *, error: str, not_before: float, claimed_until: float = 0) -> None:
    """Note why posting failed, and when it may be tried again; nothing where another host has claimed it since."""
    c.execute(
        posts.update()
        .where(posts.c.key == post.key, posts.c.claimed_until == claimed_until)
        .values(tries=posts.c.tries + 1, error=error[:2000], not_before=not_before, claimed_until=0)
    )


def give_up(c: sa.Connection, post: Post, *, error: str) -> None:
    """Leave the forge as it is, with the reason; a newer wish starts anew."""
    c.execute(
        posts.update()
        .where(posts.c.key == post.key, posts.c.posted_version < post.version)
        .values(claimed_until=0, posted_version=post.version, tries=0, error=error[:2000])
    )


def _post(row: sa.Row[Any]) -> Post:
    return Post(
        key=row.key, kind=row.kind, repository=row.repository, installation=row.installation,
        wanted=json.loads(row.wanted), version=row.wanted_version,
        posted=None if row.posted is None else json.loads(row.posted), remote=row.remote, tries=row.tries,
    )  # fmt: skip
