"""The SQL of deliveries: what arrived, byte for byte, and what became of it."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from bot.tickets.schema import deliveries

NEW, WAITING, DONE, IGNORED, FAILED = "new", "waiting", "done", "ignored", "failed"
OPEN, CLOSED = (NEW, WAITING), (DONE, IGNORED, FAILED)
KEPT_S = 8 * 86_400.0  # the longest that a forge offers a delivery again, 7 days on Enterprise Server, and one more
BODY_KEPT_S = 86_400.0  # of what was ignored: its id is enough to know it by
MOST_PRUNED = 2000


@dataclass(frozen=True, slots=True)
class Arrived:
    """One verified webhook POST."""

    guid: str
    event: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Delivery:
    """One stored delivery."""

    seq: int
    guid: str
    event: str
    body: bytes
    received_at: float
    state: str
    reason: str
    tries: int


# The states stand in the statement itself: only so does SQLite see that the partial index covers it
_IS_OPEN = deliveries.c.state.in_(sa.bindparam("open", OPEN, expanding=True, literal_execute=True))
_UNREAD = sa.select(deliveries).where(_IS_OPEN).order_by(deliveries.c.seq)


def keep(c: sa.Connection, arrived: Sequence[Arrived], *, now: float) -> None:
    """Store deliveries; one that is known stays as it is, unless reading it failed: then it is new again."""
    rows = list({a.guid: (a.guid, a.event, a.body, now) for a in arrived}.values())
    start = 0
    for size in _SIZES:
        while len(rows) - start >= size:
            part = rows[start : start + size]
            c.exec_driver_sql(_keep(c.dialect.name, size), tuple(value for row in part for value in row))
            start += size


def unread(c: sa.Connection, *, after: int = 0, limit: int = 200) -> list[Delivery]:
    """Return what waits to be read behind a number, oldest first."""
    rows = c.execute(_UNREAD.where(deliveries.c.seq > after).limit(limit))
    return [Delivery(**row._mapping) for row in rows]


def close(c: sa.Connection, delivery: Delivery, state: str, reason: str = "") -> bool:
    """Note what became of a delivery, once; False where another host was faster."""
    done = c.execute(
        deliveries.update()
        .where(deliveries.c.seq == delivery.seq, deliveries.c.state.in_(OPEN))
        .values(state=state, reason=reason[:2000])
    )
    return done.rowcount == 1


def note(c: sa.Connection, delivery: Delivery, state: str, reason: str) -> None:
    """Say more about a delivery that this transaction closed."""
    c.execute(deliveries.update().where(deliveries.c.seq == delivery.seq).values(state=state, reason=reason[:2000]))


def count_try(c: sa.Connection, delivery: Delivery, reason: str) -> None:
    """Note that a delivery could not be read yet; it stays open."""
    c.execute(
        deliveries.update()
        .where(deliveries.c.seq == delivery.seq, deliveries.c.state.in_(OPEN))
        .values(tries=deliveries.c.tries + 1, reason=reason[:2000])
    )


def find(c: sa.Connection, guid: str) -> Delivery | None:
    """Return the delivery with this id."""
    row = c.execute(sa.select(deliveries).where(deliveries.c.guid == guid)).first()
    return None if row is None else Delivery(**row._mapping)


def latest(c: sa.Connection, most: int) -> Iterator[Delivery]:
    """Yield what arrived last, the newest first; one at a time, since each may be of 25 MiB."""
    query = sa.select(deliveries).order_by(deliveries.c.seq.desc()).limit(most)
    for row in c.execute(query.execution_options(yield_per=1)):
        yield Delivery(**row._mapping)


def has_come(c: sa.Connection, event: str, *, since: float) -> bool:
    """Return whether an event of this name arrived since a time."""
    came = sa.select(deliveries.c.seq).where(deliveries.c.event == event, deliveries.c.received_at >= since)
    return c.execute(came.limit(1)).first() is not None


def known(c: sa.Connection, guids: Sequence[str]) -> set[str]:
    """Return which of these ids are stored."""
    return set(c.execute(sa.select(deliveries.c.guid).where(deliveries.c.guid.in_(guids))).scalars())


def prune(c: sa.Connection, *, after: int, now: float, most: int = MOST_PRUNED) -> int:
    """Delete what is too old to come again, and empty what was ignored a day ago; return how far was looked.

    Each call looks at no more than `most` deliveries behind the number `after`, so that no transaction is long.
    """
    old = (deliveries.c.seq < _first_since(c, now - KEPT_S), deliveries.c.state.not_in(OPEN))
    some = sa.select(deliveries.c.seq).where(*old).order_by(deliveries.c.seq).limit(most)
    c.execute(deliveries.delete().where(deliveries.c.seq.in_(some)))
    to = min(after + most, _first_since(c, now - BODY_KEPT_S, after=after) - 1)
    seen = deliveries.c.seq.between(after + 1, to)
    c.execute(deliveries.update().where(seen, deliveries.c.state == IGNORED).values(body=b""))
    return to


def _first_since(c: sa.Connection, at: float, *, after: int = 0) -> int:
    """Return the number of the first delivery that arrived since then: found without a look at all the younger ones."""
    younger = sa.select(deliveries.c.seq).where(deliveries.c.seq > after, deliveries.c.received_at >= at)
    found = c.execute(younger.order_by(deliveries.c.seq).limit(1)).scalar()
    return found or (c.execute(sa.select(sa.func.max(deliveries.c.seq))).scalar() or after) + 1


def reopen(c: sa.Connection, guid: str) -> bool:
    """Have a delivery read once more, on purpose; False where none has this id and its bytes."""
    there = (deliveries.c.guid == guid, sa.func.length(deliveries.c.body) > 0)
    done = c.execute(deliveries.update().where(*there).values(state=NEW, reason="", tries=0))
    return done.rowcount == 1


# One statement for many rows, in few sizes that stay prepared: SQLite's driver gives up the interpreter's lock once a
# statement, and with one a row the writing thread would have to win it back from the busy event loop as often
_SIZES = (256, 64, 16, 4, 1)


@functools.cache
def _keep(dialect: str, size: int) -> str:
    mark = "?" if dialect == "sqlite" else "%s"
    values = ", ".join([f"({mark}, {mark}, {mark}, {mark})"] * size)
    return (
        f"INSERT INTO deliveries (guid, event, body, received_at) VALUES {values} "  # noqa: S608 only marks
        "ON CONFLICT (guid) DO UPDATE SET state = 'new', tries = 0, reason = '', body = excluded.body "
        "WHERE deliveries.state = 'failed'"
    )
