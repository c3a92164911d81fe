"""Move everything stored to another database: every table, in one transaction, counted on both sides."""

from collections.abc import Callable

import sqlalchemy as sa

from bot.errors import UserError
from bot.tickets.hosts import clock
from bot.tickets.schema import METADATA, hosts
from bot.tickets.store import UNFINISHED, Store

BATCH = 500
LIVES_S = 60.0  # a host whose heartbeat is younger still writes


def move_all(
    source: Store, target: Store, *, alone: bool = False, besides: Callable[[sa.Connection], object] = bool
) -> dict[str, int]:
    """Copy all rows; returns how many of each table. Raises UserError where that could lose or mix anything.

    The source only is read, and nobody may write to it meanwhile. Until the last row is there the target is marked, so
    that no bot starts on it. `alone`: no host can run, whatever its heartbeat says; `besides`: moves what is not in our
    tables, given the source, once it is known that the target is empty.
    """
    moved: dict[str, int] = {}
    with source.write() as old:
        _freeze(old)
        lives = old.execute(sa.select(hosts.c.name).where(hosts.c.heartbeat > clock(old) - LIVES_S)).scalars().all()
        if lives and not alone:
            raise UserError(f"{', '.join(lives)} still runs; stop every host, wait a minute, then move")
        with target.write() as new:
            for table in METADATA.sorted_tables:
                if new.execute(sa.select(sa.func.count()).select_from(table)).scalar_one():
                    raise UserError(f"the target's table {table.name} holds rows already; move into an empty database")
            UNFINISHED.create(new, checkfirst=True)
        besides(old)
        with target.write() as new:
            for table in METADATA.sorted_tables:
                moved[table.name] = _copy(old, new, table)
                if new.dialect.name == "postgresql":
                    _set_sequence(new, table)
            UNFINISHED.drop(new)
        old.rollback()
    return moved


def _freeze(old: sa.Connection) -> None:
    """Let nobody write while rows are read; on SQLite the write transaction does."""
    if old.dialect.name == "postgresql":
        old.exec_driver_sql(f"LOCK TABLE {', '.join(table.name for table in METADATA.sorted_tables)} IN SHARE MODE")


def _copy(old: sa.Connection, new: sa.Connection, table: sa.Table) -> int:
    count = 0
    rows = old.execution_options(yield_per=BATCH).execute(sa.select(table))
    for batch in rows.partitions():
        new.execute(table.insert(), [dict(row._mapping) for row in batch])
        count += len(batch)
    there = new.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
    if there != count:
        raise UserError(f"{table.name}: {count} rows were read and {there} are there; nothing was moved")
    return count


def _set_sequence(new: sa.Connection, table: sa.Table) -> None:
    """Let numbering go on behind the copied rows."""
    column = table.autoincrement_column
    if column is None:
        return
    most = new.execute(sa.select(sa.func.max(column))).scalar()
    if most is not None:
        sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
        new.execute(sa.select(sa.func.setval(sequence, most)))
