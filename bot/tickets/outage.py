"""Sit out a database that does not answer, and say so: once when it goes, once when it is back."""

import asyncio
import time

import sqlalchemy as sa

from bot import log
from bot.tickets.schema import hosts
from bot.tickets.store import Store, first_line, is_away

LOG = log.logger("database")
FIRST_PAUSE_S, LAST_PAUSE_S = 0.25, 5.0


class Outage:
    """What all who met the same outage wait for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = asyncio.Lock()

    async def over(self, error: BaseException) -> None:
        """Return once the database takes writes again; `error` is how it was noticed."""
        async with self._lock:
            if await asyncio.to_thread(self._takes_writes):
                await asyncio.sleep(
                    FIRST_PAUSE_S
                )  # back already: whoever asks again at once would only turn in circles
                return
            began, pause_s = time.monotonic(), FIRST_PAUSE_S
            LOG.warning("database away; waiting for it", extra={"why": first_line(error)})
            while not await asyncio.to_thread(self._takes_writes):
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, LAST_PAUSE_S)
            LOG.warning("database back", extra={"seconds": round(time.monotonic() - began, 1)})

    def _takes_writes(self) -> bool:
        try:
            with self._store.write() as c:
                # SQLite writes nothing where nothing changes: move the heartbeats by a microsecond
                c.execute(sa.update(hosts).values(heartbeat=hosts.c.heartbeat + 1e-6))
        except sa.exc.SQLAlchemyError as problem:
            if not is_away(problem):
                raise
            return False
        return True
