"""Gather log lines for a moment and write them together: an agent prints thousands, a commit costs milliseconds."""

import asyncio
from collections.abc import Callable

import sqlalchemy as sa

from bot.tickets import journal
from bot.tickets.store import Store, is_away

GATHER_S = 0.05
AGAIN_S = 2.0  # after the database was away
MOST_LINES = 20_000  # that wait for it in memory; the oldest go first
LINE_LENGTH = 4000  # characters of one line that are kept


class Logbook:
    """Collects lines in the event loop and commits them from a thread."""

    def __init__(self, store: Store, *, now: Callable[[], float], changed: Callable[[int], None]) -> None:
        self._store = store
        self._now = now
        self._changed = changed
        self._waiting: list[tuple[int, int, str, str, float]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, ticket: int, attempt: int, stage: str, lines: list[str]) -> None:
        """Add lines of a ticket; they are in the store a moment later, or after `flush`."""
        now = self._now()
        self._waiting += [(ticket, attempt, stage, line[:LINE_LENGTH], now) for line in lines]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._due)

    def _due(self) -> None:
        self._timer = None
        task = asyncio.ensure_future(self.flush())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def flush(self) -> None:
        """Write what was gathered; while the database is away it is kept here, and tried again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        async with self._lock:
            batch, self._waiting = self._waiting, []
            try:
                if batch:
                    await asyncio.to_thread(self._write, batch)
            except sa.exc.SQLAlchemyError as error:
                if not is_away(error):
                    raise
                self._waiting[:0] = batch
                del self._waiting[:-MOST_LINES]
                if self._timer is None:
                    self._timer = asyncio.get_running_loop().call_later(AGAIN_S, self._due)
                return
        for ticket in {entry[0] for entry in batch}:
            self._changed(ticket)

    def _write(self, batch: list[tuple[int, int, str, str, float]]) -> None:
        with self._store.write() as c:
            journal.add_batch(c, batch)
