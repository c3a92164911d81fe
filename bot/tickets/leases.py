"""The SQL of slots: which exist on a host, who holds each, and which must not be used."""

from dataclasses import dataclass, fields

import sqlalchemy as sa

from bot.tickets.schema import slots


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One slot of a host."""

    host: str
    name: str
    repository: str
    state: str
    ticket: int | None
    epoch: int
    fingerprint: str
    reason: str
    used_at: float


# written once: to put a statement together costs more than to run it, and every job begins with these two
_OF_HOST = (
    sa.select(*(slots.c[field.name] for field in fields(SlotRow)))
    .where(slots.c.host == sa.bindparam("of"))
    .order_by(slots.c.used_at, slots.c.name)
)
_ONE = slots.update().where(
    slots.c.host == sa.bindparam("of"),
    slots.c.name == sa.bindparam("named"),
    slots.c.repository == sa.bindparam("within"),
)


def rows(c: sa.Connection, host: str) -> list[SlotRow]:
    """Return the slots of a host, the longest unused first."""
    return [SlotRow(*row) for row in c.execute(_OF_HOST, {"of": host})]


def everywhere(c: sa.Connection) -> set[tuple[str, str]]:
    """Return repository and name of every slot of every host."""
    return {(row.repository, row.name) for row in c.execute(sa.select(slots.c.repository, slots.c.name))}


def lease(
    c: sa.Connection, host: str, repository: str, *, ticket: int, epoch: int, most: int, now: float, kind: str = "slot"
) -> str | None:
    """Return the name of the slot that the ticket holds from now on.

    None where all `most` of its kind are in use, or where a later epoch of the ticket holds its slot already.
    """
    mine = [s for s in rows(c, host) if s.name.startswith(f"{kind}-")]
    held = [s for s in mine if s.ticket == ticket and s.repository == repository and s.state == "leased"]
    if any(s.epoch > epoch for s in held):
        return None
    free = [s for s in mine if s.repository == repository and s.state == "free"]
    if held or free:
        name = (held or free)[-1].name
        _write(c, host, repository, name, state="leased", ticket=ticket, epoch=epoch, used_at=now)
        return name
    if sum(s.state == "leased" for s in mine) >= most:
        return None
    taken = {s.name for s in mine if s.repository == repository}
    name = next(f"{kind}-{n}" for n in range(1, len(taken) + 2) if f"{kind}-{n}" not in taken)
    c.execute(
        slots.insert().values(
            host=host, name=name, repository=repository, state="leased", ticket=ticket, epoch=epoch, used_at=now
        )
    )
    return name


def holds(c: sa.Connection, host: str, name: str, repository: str, *, ticket: int, epoch: int) -> bool:
    """Return whether a ticket holds a slot, at exactly this epoch."""
    where = (slots.c.ticket == ticket, slots.c.epoch == epoch, slots.c.state == "leased")
    return c.execute(sa.select(slots.c.name).where(*_is(host, name, repository), *where)).first() is not None


def free(
    c: sa.Connection, host: str, name: str, repository: str, *, clean: bool, reason: str, now: float, fingerprint: str
) -> None:
    """Let a slot be used again, or keep it from being used; the caller holds it, or set it aside."""
    state = "free" if clean else "quarantined"
    _write(
        c, host, repository, name, state=state, ticket=None, reason="" if clean else reason, used_at=now,
        fingerprint=fingerprint,
    )  # fmt: skip


def give_back(
    c: sa.Connection, host: str, name: str, repository: str, *, held: tuple[int, int], clean: bool, reason: str,
    now: float, fingerprint: str,
) -> bool:  # fmt: skip
    """Give back a slot that this ticket holds at this epoch; False, and nothing changed, where it does not any more.

    `fingerprint` is of the dependencies that stay in it.
    """
    if not holds(c, host, name, repository, ticket=held[0], epoch=held[1]):
        return False
    free(c, host, name, repository, clean=clean, reason=reason, now=now, fingerprint=fingerprint)
    return True


def free_all(c: sa.Connection, host: str) -> None:
    """Free every slot of a host that just started: nothing of it can be running."""
    c.execute(slots.update().where(slots.c.host == host, slots.c.state == "leased").values(state="free", ticket=None))


def set_aside(c: sa.Connection, host: str, name: str, repository: str, *, reason: str) -> bool:
    """Keep a slot from being leased; False where a ticket holds it, or there is none."""
    where = (*_is(host, name, repository), slots.c.state != "leased")
    changed = c.execute(slots.update().where(*where).values(state="quarantined", reason=reason, ticket=None))
    return changed.rowcount > 0


def forget(c: sa.Connection, host: str, name: str, repository: str) -> None:
    """Delete the row of a slot that is gone."""
    c.execute(slots.delete().where(*_is(host, name, repository)))


def note_fingerprint(c: sa.Connection, host: str, name: str, repository: str, fingerprint: str) -> None:
    """Keep which dependencies stand in a slot."""
    _write(c, host, repository, name, fingerprint=fingerprint)


def _write(c: sa.Connection, host: str, repository: str, name: str, **values: object) -> None:
    c.execute(_ONE, {"of": host, "named": name, "within": repository, **values})


def _is(host: str, name: str, repository: str) -> tuple[sa.ColumnElement[bool], ...]:
    return slots.c.host == host, slots.c.name == name, slots.c.repository == repository
