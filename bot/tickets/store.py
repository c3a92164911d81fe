"""Open the database and run transactions in it; the queries stand beside it, one file a concept."""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bot.errors import ConfigError
from bot.tickets import migrations

# A server or a network that is gone is noticed in seconds, not after the hours of TCP's own patience
PATIENCE: Mapping[str, object] = {
    "connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 15_000,  # milliseconds
    # a host that is stopped inside a transaction must not hold its locks against all others
    "options": "-c idle_in_transaction_session_timeout=15s",
}  # fmt: skip
IDLE_S = 1.0  # a connection that was used since is not asked first whether it still stands
_FOR_A_WHILE = (
    5,
    10,
    13,
    14,
)  # SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN: https://sqlite.org/rescode.html


class Store:
    """A database with our tables; safe to use from several threads."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Open a transaction that may write; on SQLite it holds the one write lock from its first moment."""
        with self.engine.connect() as connection:
            if self.engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Open a transaction that only reads."""
        with self.engine.connect() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def insert(c: sa.Connection, table: sa.Table) -> "postgresql.Insert | sqlite.Insert":
    """Return an INSERT of this database's own kind: it knows what to do where the row is there already."""
    return postgresql.insert(table) if c.dialect.name == "postgresql" else sqlite.insert(table)


def is_away(error: BaseException) -> bool:
    """Return whether the database could not answer for now: gone, restarted, locked, or its disk is full."""
    if isinstance(error, sa.exc.TimeoutError):
        return True
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in _FOR_A_WHILE
    if getattr(error.orig, "sqlstate", None) == "25P03":
        return True  # the server ended a transaction in which this process stood still
    return error.connection_invalidated or isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)


def first_line(error: BaseException) -> str:
    """Return what the database's driver said, without the statement and its explanations."""
    return (str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__])[0][:300]


# Stands in the target of `bot migrate` until all is there: half a database must not look like an empty new one
UNFINISHED = sa.Table("unfinished_move", sa.MetaData(), sa.Column("since", sa.Integer))


def open_store(url: str, *, is_target: bool = False) -> Store:
    """Open the database at an SQLAlchemy URL and bring its tables up to date.

    Raises ConfigError where it does not open, or is the unfinished target of a move and not asked for as one.
    """
    try:
        engine = sa.create_engine(with_driver(url), connect_args=_connect_args(url))
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ValueError) as error:
        raise ConfigError(
            f"database: expected an address such as postgresql://USER@HOST/NAME or sqlite:///FILE, got one that "
            f"cannot be read ({type(error).__name__})"
        ) from error
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _tune_sqlite)
    else:
        sa.event.listen(engine, "checkin", _note_use)
        sa.event.listen(engine, "checkout", _ask_after_idling)
    store = Store(engine)
    try:
        with store.write() as c:
            migrations.upgrade(c)
            if not is_target and sa.inspect(c).has_table(UNFINISHED.name):
                raise ConfigError(
                    f"database: expected a whole one, got {engine.url}, into which `bot migrate` was interrupted. "
                    "Mend: run `bot migrate --to` once more"
                )
    except ConfigError:
        store.close()
        raise
    except sa.exc.OperationalError as error:
        store.close()
        raise ConfigError(f"database: expected one that opens, got {engine.url}: {first_line(error)}") from error
    return store


def sqlite_url(path: Path) -> str:
    """Return the URL of an SQLite file."""
    return f"sqlite:///{path}"


def with_driver(url: str) -> str:
    """Return a database's address with the driver that we use for it."""
    for plain in ("postgresql://", "postgres://"):
        if url.startswith(plain):
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url


def _connect_args(url: str) -> dict[str, object]:
    return {"timeout": 30} if url.startswith("sqlite") else dict(PATIENCE)


def _note_use(_connection: object, record: Any) -> None:
    record.info["used_at"] = time.monotonic()


def _ask_after_idling(connection: Any, record: Any, _proxy: object) -> None:
    """Have a connection that stood unused replaced where it is gone; asking each time would cost as much as a query."""
    if time.monotonic() - record.info.get("used_at", time.monotonic()) > IDLE_S:
        try:
            connection.execute("SELECT 1")
            connection.rollback()
        except Exception as error:
            raise sa.exc.DisconnectionError from error


def _tune_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
