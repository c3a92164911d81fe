"""Be the one host of its name, and hear at once what other processes write to the database."""

import asyncio
import fcntl
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

import sqlalchemy as sa

from bot import log
from bot.errors import ConfigError
from bot.tickets.store import PATIENCE, Store, first_line

if TYPE_CHECKING:  # a second of imports that SQLite does not need
    import psycopg

LOG = log.logger("presence")
CHANNEL = "sluice"
SPACE = 0x5105CE  # of advisory locks: names of hosts
LOOK_S = 0.5  # how often SQLite is asked whether another process wrote: it has no way to tell us
AGAIN_S = 2.0
_PROCESS = secrets.token_hex(8)
# So that the server forgets a host that vanished without a word in half a minute, not in hours
FORGET = ("tcp_keepalives_idle = 10", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")


def tell(c: sa.Connection) -> None:
    """Wake every other host once this transaction is committed: something may start, or is to stop.

    Within this process whoever writes wakes what has to know; that is sooner, and cheaper.
    """
    if c.dialect.name == "postgresql":
        c.execute(sa.select(sa.func.pg_notify(CHANNEL, _speaker(c.engine))))


def _speaker(engine: sa.Engine) -> str:
    """Return by what a process knows its own news."""
    return f"{_PROCESS}-{id(engine)}"


class Folder:
    """A data folder that no other running bot uses."""

    def __init__(self, path: Path) -> None:
        self._file: IO[str] = (path / "lock").open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            raise ConfigError(
                f"BOT_DATA: expected a folder of this bot's own, got {path}, which process {holder} uses. "
                "Mend: stop that one, or set BOT_DATA"
            ) from error
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def close(self) -> None:
        """Let another bot use the folder."""
        self._file.close()


class Presence:
    """This host among those that share a database."""

    def __init__(self, store: Store, *, name: str, heard: Callable[[], None]) -> None:
        self._store, self._name, self._heard = store, name, heard
        self._mark = secrets.token_hex(8)
        self._connection: psycopg.AsyncConnection | None = None

    async def open(self) -> None:
        """Take the name. Raises ConfigError where a running bot has it."""
        if self._store.engine.dialect.name == "postgresql":
            self._connection = await self._connected()

    async def run(self) -> None:
        """Hear what others write, until cancelled; raises ConfigError once another process has our name."""
        if self._connection is None:
            await self._look()
        from psycopg import OperationalError  # noqa: PLC0415

        is_deaf = False
        while True:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = await self._connected()
                    is_deaf = False
                    self._heard()  # whatever was said meanwhile
                async for news in self._connection.notifies():
                    if news.payload != _speaker(self._store.engine):
                        self._heard()
            except OperationalError as error:
                if not is_deaf:
                    LOG.warning("not told of news until the database is back", extra={"why": first_line(error)})
                is_deaf = True
            await self.close()
            await asyncio.sleep(AGAIN_S)

    async def close(self) -> None:
        """Give the name back."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _look(self) -> None:
        before = None
        with self._store.read() as c:
            while True:
                now = c.exec_driver_sql("PRAGMA data_version").scalar()  # grows with every commit of another connection
                if now != before:
                    self._heard()
                before = now
                await asyncio.sleep(LOOK_S)

    async def _connected(self) -> "psycopg.AsyncConnection":
        from psycopg import AsyncConnection  # noqa: PLC0415
        from psycopg.conninfo import make_conninfo  # noqa: PLC0415

        url = self._store.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        given = {"application_name": f"sluice {self._mark}", **{name: str(value) for name, value in PATIENCE.items()}}
        connection = await AsyncConnection.connect(make_conninfo(url, **given), autocommit=True)
        for setting in FORGET:
            await connection.execute(f"SET {setting}".encode())
        if not await self._locked(connection):
            await self._end_own(connection)
            if not await self._locked(connection):
                await connection.close()
                raise ConfigError(
                    f"BOT_NAME: expected a name of this host's own, got {self._name!r}, which a running bot has. Mend: "
                    "stop that one, or set BOT_NAME; where its machine was lost, the name is free in half a minute"
                )
        await connection.execute(f"LISTEN {CHANNEL}".encode())
        return connection

    async def _locked(self, connection: "psycopg.AsyncConnection") -> bool:
        query = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
        row = await (await connection.execute(query, (SPACE, self._name))).fetchone()
        return bool(row and row[0])

    async def _end_own(self, connection: "psycopg.AsyncConnection") -> None:
        """End a connection of this very process that the server still takes for alive."""
        await connection.execute(
            "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity "
            "WHERE application_name = %s AND pid <> pg_backend_pid()",
            (f"sluice {self._mark}",),
        )
