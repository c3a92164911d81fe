"""Take the engine's pending workflows to another database, with what their finished stages came to."""

from collections.abc import Collection

import sqlalchemy as sa
from dbos import DBOS

from bot.tickets.store import with_driver
from bot.tickets.ticket import Ticket

STATUS, KEY = "workflow_status", "workflow_uuid"  # https://docs.dbos.dev/explanations/system-tables
SCHEMA = "dbos"  # on PostgreSQL; SQLite has none


def move_pending(old: sa.Engine, new: sa.Engine, workflows: Collection[str]) -> int:
    """Copy these workflows and their finished steps; returns how many there were. Doing it twice is doing it once.

    The engine's tables are made in the new database where they are missing. Columns that only one side knows are left
    to their defaults.
    """
    if not workflows:
        return 0
    DBOS.migrate(new.url.set(drivername=new.url.get_backend_name()).render_as_string(hide_password=False))
    source, target = _tables(old), _tables(new)
    with old.connect() as reading, new.begin() as writing:
        for name in reversed(target):
            writing.execute(target[name].delete().where(target[name].c[KEY].in_(workflows)))
        for name in [name for name in target if name in source]:
            known = [column for column in source[name].c if column.name in target[name].c]
            rows = reading.execute(sa.select(*known).where(source[name].c[KEY].in_(workflows))).mappings().all()
            if rows:
                writing.execute(target[name].insert(), [dict(row) for row in rows])
        there = sa.select(sa.func.count()).select_from(target[STATUS]).where(target[STATUS].c[KEY].in_(workflows))
        return int(writing.execute(there).scalar_one())


def look_often(url: str, queue: str, every_s: float) -> None:
    """Have the engine look at a queue this often from its launch on; nothing is done where there is no such queue."""
    engine = sa.create_engine(with_driver(url))
    schema = SCHEMA if engine.dialect.name == "postgresql" else None
    if sa.inspect(engine).has_table("queues", schema=schema):
        queues = sa.table("queues", sa.column("name"), sa.column("polling_interval_sec"), schema=schema)
        with engine.begin() as c:
            c.execute(queues.update().where(queues.c.name == queue).values(polling_interval_sec=every_s))
    engine.dispose()


def workflow_id(ticket: Ticket) -> str:
    """Return the id under which the engine keeps an attempt."""
    return f"{ticket.id}-{ticket.attempt}"


def _tables(engine: sa.Engine) -> dict[str, sa.Table]:
    """Return the engine's tables that speak of single workflows, those that others refer to first."""
    known = sa.MetaData(schema=SCHEMA if engine.dialect.name == "postgresql" else None)
    known.reflect(engine)
    return {table.name: table for table in known.sorted_tables if KEY in table.c}
