"""The SQL of marks: the newest that was heard about an issue, whatever order deliveries come in."""

from dataclasses import dataclass

import sqlalchemy as sa

from bot.tickets.schema import marks
from bot.tickets.store import insert


@dataclass(frozen=True, slots=True)
class Mark:
    """What was heard last: on or off, when by the forge's clock, and a note of the hearer."""

    is_on: bool
    at: float
    note: str = ""


def find(c: sa.Connection, repository: str, issue: int, what: str) -> Mark | None:
    """Return what was heard last."""
    row = c.execute(sa.select(marks.c.is_on, marks.c.at, marks.c.note).where(*_where(repository, issue, what))).first()
    return None if row is None else Mark(*row)


def put(c: sa.Connection, repository: str, issue: int, what: str, mark: Mark) -> None:
    """Keep what was heard."""
    values = {"is_on": mark.is_on, "at": mark.at, "note": mark.note}
    new = insert(c, marks).values(repository=repository, issue=issue, what=what, **values)
    c.execute(new.on_conflict_do_update(index_elements=["repository", "issue", "what"], set_=values))


def _where(repository: str, issue: int, what: str) -> tuple[sa.ColumnElement[bool], ...]:
    return marks.c.repository == repository, marks.c.issue == issue, marks.c.what == what
