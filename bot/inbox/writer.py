"""Commit deliveries in groups: one thread, one transaction for all that came while the last one was synced."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot import log
from bot.tickets import deliveries
from bot.tickets.deliveries import Arrived
from bot.tickets.store import Store, first_line, is_away

LOG = log.logger("inbox")
MOST = 512  # deliveries in one transaction


@dataclass(frozen=True, slots=True)
class _Waiting:
    arrived: Arrived
    stored: asyncio.Future[None]


class Writer:
    """Stores deliveries durably; `keep` returns after the commit."""

    def __init__(self, store: Store, *, now: Callable[[], float], stored: Callable[[], None]) -> None:
        self._store = store
        self._now = now
        self._stored = stored
        self._pending: list[_Waiting] = []
        self._is_busy = False  # a batch is being committed, or about to be
        self._batches: queue.SimpleQueue[list[_Waiting] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def keep(self, arrived: Arrived) -> None:
        """Return once the delivery is on the disk; raises what the database raised."""
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(loop,), name="deliveries", daemon=True)
            self._thread.start()
        waiting = _Waiting(arrived, loop.create_future())
        self._pending.append(waiting)
        if not self._is_busy:
            self._is_busy = True
            loop.call_soon(self._hand_over)  # behind whatever else arrived in this turn of the loop
        await waiting.stored

    def close(self) -> None:
        """Store what waits, then end the thread."""
        if self._thread is not None:
            self._batches.put(self._pending)
            self._batches.put(None)
            self._thread.join()
            self._thread, self._pending = None, []

    def _hand_over(self) -> None:
        batch, self._pending = self._pending[:MOST], self._pending[MOST:]
        if batch:
            self._batches.put(batch)
        else:
            self._is_busy = False

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        while (batch := self._batches.get()) is not None:
            fault = self._commit([w.arrived for w in batch]) if batch else None
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._settle, batch, fault)

    def _commit(self, arrived: Sequence[Arrived]) -> Exception | None:
        try:
            with self._store.write() as c:
                deliveries.keep(c, arrived, now=self._now())
        except Exception as error:
            if is_away(error):
                LOG.warning("deliveries not stored", extra={"count": len(arrived), "why": first_line(error)})
            else:
                LOG.exception("deliveries not stored", extra={"count": len(arrived)})
            return error
        return None

    def _settle(self, batch: Sequence[_Waiting], fault: Exception | None) -> None:
        for waiting in batch:
            if waiting.stored.done():
                continue  # its request was given up meanwhile
            if fault is None:
                waiting.stored.set_result(None)
            else:
                waiting.stored.set_exception(fault)
        if fault is None and batch:
            self._stored()
        self._hand_over()
