"""Wake whoever shows a ticket when it changed; rung from any thread, waited for in the event loop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Bell:
    """Tells every listener which tickets changed since it last asked."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: set[Listener] = set()

    def attach(self) -> None:
        """Name the running loop as the one in which listeners wait."""
        self._loop = asyncio.get_running_loop()

    def ring(self, ticket: int) -> None:
        """Say that a ticket changed; safe from any thread, and a no-op before anybody listens."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell, ticket)

    @contextmanager
    def listen(self) -> Iterator["Listener"]:
        """Listen for as long as the block runs."""
        listener = Listener()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    def _tell(self, ticket: int) -> None:
        for listener in self._listeners:
            listener.changed.add(ticket)
            listener.rung.set()


class Listener:
    """One who waits; `changed` gathers what happened while it was busy, so a slow reader costs no memory."""

    def __init__(self) -> None:
        self.changed: set[int] = set()
        self.rung = asyncio.Event()

    async def wait(self, limit_s: float) -> set[int]:
        """Return the tickets that changed, at the latest after `limit_s` with none."""
        try:
            async with asyncio.timeout(limit_s):
                await self.rung.wait()
        except TimeoutError:
            return set()
        self.rung.clear()
        changed, self.changed = self.changed, set()
        return changed
