"""Act on what was delivered: a label put on by somebody who may start work becomes a ticket."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from bot.forges.github import GitHub
from bot.tickets import deliveries, tickets
from bot.tickets.deliveries import Delivery
from bot.tickets.store import Store
from bot.tickets.tickets import Wish

MAY_START = frozenset({"write", "maintain", "admin"})


class Intake:
    """Reads deliveries in their order; `told` says that a ticket changed."""

    def __init__(
        self, store: Store, forge: GitHub, *, label: str, now: Callable[[], float], told: Callable[[Any, int], None]
    ) -> None:
        self._store, self._forge, self._label, self._now, self._told = store, forge, label, now, told

    async def process_new(self) -> int:
        """Act on every delivery that was not read yet; return how many there were."""
        with self._store.read() as c:
            new = deliveries.unread(c)
        for delivery in new:
            wish = await self._wish(delivery)
            await asyncio.to_thread(self._act, delivery, wish)
        return len(new)

    async def _wish(self, delivery: Delivery) -> Wish | None:
        found = json.loads(delivery.body)
        if delivery.event != "issues" or found.get("action") != "labeled" or found["label"]["name"] != self._label:
            return None
        repository, issue, sender = found["repository"]["full_name"], found["issue"], found["sender"]["login"]
        role = await self._forge.permission(repository, sender)
        return Wish(
            repository=repository, issue=issue["number"], title=issue["title"], body=issue["body"] or "",
            requester=sender, label=self._label, trigger_key=delivery.guid, approved=role in MAY_START,
            installation=(found.get("installation") or {}).get("id"),
        )  # fmt: skip

    def _act(self, delivery: Delivery, wish: Wish | None) -> None:
        with self._store.write() as c:
            ticket = None if wish is None else tickets.create_ticket(c, wish, now=self._now())
            if ticket is not None:
                self._told(c, ticket.id)
            deliveries.close(c, delivery, "ignored" if wish is None else "done")
