"""What stands before the local forge: faults on purpose, a record of what was asked, news for who waits."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True)
class Fault:
    """What to answer in place of the truth, a number of times: a status, "cut", "done, then cut" or "hang".

    What can be called happens right before the true answer.
    """

    method: str
    path: str
    what: int | str | Callable[[], object]
    times: int
    headers: Mapping[str, str]
    message: str


@dataclass(slots=True)
class Exchange:
    """One request to the API and its answer."""

    method: str
    path: str  # below /api
    query: str
    headers: dict[str, str]
    body: bytes = b""
    status: int = 0
    answer_type: str = ""
    answer: bytes = b""
    is_fault: bool = False


class Observer(Protocol):
    """Sees every exchange and every event; tests hold them against GitHub's own description."""

    def exchange(self, exchange: Exchange) -> None:
        """See an exchange of the API."""

    def event(self, name: str, payload: Mapping[str, Any]) -> None:
        """See an event before it is delivered."""


@dataclass(slots=True)
class Front:
    """An ASGI application before another one."""

    told: Callable[[], None]
    faults: list[Fault] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)  # method and path of all that was asked of the API
    observer: Observer | None = None
    app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the forge does, or with the fault that was asked for."""
        if scope["type"] != "http" or self.app is None:
            return
        if scope["path"].startswith("/api/"):
            await self._watched(scope, receive, send)
        else:
            await self._answer(self._due(scope), scope, receive, send)
        if scope["method"] not in ("GET", "HEAD"):
            self.told()

    async def _watched(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and keep what was asked and answered."""
        seen = Exchange(
            scope["method"], scope["path"].removeprefix("/api"), scope["query_string"].decode(),
            {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]},
        )  # fmt: skip
        self.requests.append((seen.method, seen.path))

        went_away = False

        async def listen() -> Message:
            message = await receive()
            seen.body += message.get("body", b"")
            nonlocal went_away
            went_away = went_away or message["type"] == "http.disconnect"
            return message

        async def speak(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                headers = {name.decode().lower(): value.decode("latin-1") for name, value in message.get("headers", [])}
                seen.answer_type = headers.get("content-type", "")
            seen.answer += message.get("body", b"")
            is_whole = message["type"] == "http.response.body" and not message.get("more_body")
            if is_whole and self.observer is not None and not went_away:
                self.observer.exchange(seen)  # before the asker can go on
            await send(message)

        fault = self._due(scope)
        seen.is_fault = fault is not None and not callable(fault.what)
        await self._answer(fault, scope, listen, speak)

    def _due(self, scope: Scope) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and scope["method"] == fault.method and re.search(fault.path, scope["path"]):
                fault.times -= 1
                return fault
        return None

    async def _answer(self, fault: Fault | None, scope: Scope, receive: Receive, send: Send) -> None:
        if fault is not None:
            await self._fail(fault, scope, receive, send)
        elif self.app is not None:
            await self.app(scope, receive, send)

    async def _fail(self, fault: Fault, scope: Scope, receive: Receive, send: Send) -> None:
        if callable(fault.what) and self.app is not None:
            await asyncio.to_thread(fault.what)
            await self.app(scope, receive, send)
        elif fault.what == "hang":
            await receive()  # the request; what comes next is that the asker gave up
            await receive()
        elif fault.what == "cut":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
            await send({"type": "http.response.body", "body": b"{", "more_body": True})
        elif fault.what == "done, then cut" and self.app is not None:
            await self.app(scope, receive, _nowhere)
        else:
            await receive()
            body = json.dumps({"message": fault.message, "documentation_url": "https://docs.github.com/rest"})
            await Response(body, int(str(fault.what)), dict(fault.headers))(scope, receive, send)


async def _nowhere(_message: Message) -> None:
    """Take an answer that nobody shall see."""
