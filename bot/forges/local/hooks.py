"""Signed webhooks of the local forge: sent in the background, tried again while nobody answers, kept for redelivery."""

import asyncio
import hashlib
import hmac
import json
import ssl
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from bot.forges.local.state import Delivery, State

_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # targets are on loopback, without TLS: no certificate is read
PAUSES_S = (0.1, 0.3, 1.0, 2.0, 4.0)


class Hooks:
    """Sends deliveries to one address."""

    def __init__(self, state: State, secret: str, pauses_s: Sequence[float] = PAUSES_S) -> None:
        self._state = state
        state.secret = secret
        self._pauses_s = pauses_s
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def target(self) -> str | None:
        """Return where deliveries go."""
        return self._state.target

    @target.setter
    def target(self, target: str | None) -> None:
        self._state.target = target

    def send(self, event: str, payload: Mapping[str, Any]) -> Delivery:
        """Deliver an event in the background; call it in the forge's loop."""
        body = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()
        delivery = Delivery(
            self._state.number(), str(uuid.uuid4()), event, str(payload.get("action", "")), body, self._state.stamp()
        )
        self._start(delivery)
        return delivery

    def again(self, delivery: Delivery) -> None:
        """Deliver once more, under the same guid."""
        self._start(
            replace(delivery, id=self._state.number(), at=self._state.stamp(), status="", code=0, redelivery=True)
        )

    def _start(self, delivery: Delivery) -> None:
        with self._state.changed:
            self._state.deliveries.append(delivery)
        task = asyncio.ensure_future(self._deliver(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, delivery: Delivery) -> None:
        code, status = 0, "no target"
        for pause_s in (*self._pauses_s, None):
            if self.target is not None:
                code, status = await self._post(delivery, self.target)
            if code or pause_s is None:
                break
            await asyncio.sleep(pause_s)
        with self._state.changed:
            delivery.code, delivery.status = code, "OK" if 200 <= code < 300 else status
            self._state.changed.notify_all()

    async def _post(self, delivery: Delivery, target: str) -> tuple[int, str]:
        signature = hmac.new(self._state.secret.encode(), delivery.payload, hashlib.sha256).hexdigest()
        headers = {
            "content-type": "application/json", "user-agent": "GitHub-Hookshot/local", "x-github-event": delivery.event,
            "x-github-delivery": delivery.guid, "x-hub-signature-256": f"sha256={signature}", "x-github-hook-id": "1",
        }  # fmt: skip
        try:
            async with httpx.AsyncClient(timeout=10.0, verify=_NOBODY) as http:
                answer = await http.post(target, content=delivery.payload, headers=headers)
        except httpx.HTTPError as error:
            return 0, f"failed to connect: {type(error).__name__}"
        return answer.status_code, f"Invalid HTTP Response: {answer.status_code}"
