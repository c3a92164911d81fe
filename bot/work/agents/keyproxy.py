"""A proxy for the model's API that adds the key, so that a program in the box never holds it; it counts what is used.

It listens on loopback only, for one run, and answers only who knows the run's own token.
"""

import hmac
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.work.agents.agent import REMIND_AT, Ending, Limits, Usage, render_over, shares
from bot.work.agents.prices import cost
from bot.work.prompts.change import render_reminder

_PASSED = ("anthropic-version", "anthropic-beta", "content-type", "accept", "user-agent")
_LARGEST_BYTES = 64_000_000
_COUNTED = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}


@dataclass
class KeyProxy:
    """Forwards Messages requests until a limit is reached."""

    upstream: str
    api_key: str = field(repr=False)
    limits: Limits
    on_over: Callable[[Ending, str], None] = lambda _, __: None
    on_reminded: Callable[[str], None] = lambda _: None
    counts_turns: bool = True  # False: the program keeps to its turns itself, and asks for more than turns
    on_refused: Callable[[str], None] = lambda _: None
    on_traffic: Callable[[], None] = lambda: None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    usage: Usage = field(default_factory=Usage)
    began: float = field(default_factory=time.monotonic)
    _client: httpx.AsyncClient | None = None
    _reminded: bool = False

    def app(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                Route("/", lambda _: Response(), methods=["GET", "HEAD"]),
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._forward, methods=["POST"]),
                Route("/v1/models", self._forward, methods=["GET"]),
            ],
            lifespan=self._open,
        )

    @asynccontextmanager
    async def _open(self, _: Starlette) -> AsyncIterator[None]:
        async with httpx.AsyncClient(timeout=httpx.Timeout(600, connect=10), trust_env=False) as self._client:
            yield

    def _is_ours(self, request: Request) -> bool:
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), self.token.encode())

    async def _messages(self, request: Request) -> Response:
        if self._is_ours(request) and (over := render_over(self.limits, self._shares())):
            self.on_over(*over)
            return _refuse(403, "permission_error", over[1])
        return await self._forward(request, change=self._remind)

    def _shares(self) -> dict[str, float]:
        used = self.usage if self.counts_turns else replace(self.usage, turns=0)
        return shares(self.limits, used, seconds=time.monotonic() - self.began)

    def _remind(self, body: bytes) -> bytes:
        """Tell the model to finish once little is left; a program's own history never holds it, so in each request."""
        what = [name for name, share in self._shares().items() if share >= REMIND_AT]
        if not what:
            return body
        if not self._reminded:
            self._reminded = True
            self.on_reminded(what[0])
        return with_words(body, render_reminder(what[0]))

    async def _forward(self, request: Request, change: Callable[[bytes], bytes] = bytes) -> Response:
        if not self._is_ours(request):
            return _refuse(401, "authentication_error", "this proxy serves one run only")
        assert self._client is not None  # noqa: S101 open while it serves
        body = await _read_body(request)
        if body is None:
            return _refuse(413, "request_too_large", f"more than {_LARGEST_BYTES:,} bytes")
        headers = {name: request.headers[name] for name in _PASSED if name in request.headers}
        query = f"?{request.url.query}" if request.url.query else ""
        asked = self._client.build_request(
            request.method, self.upstream.rstrip("/") + request.url.path + query, content=change(body),
            headers={**headers, "x-api-key": self.api_key, "accept-encoding": "identity"},
        )  # fmt: skip
        try:
            answer = await self._client.send(asked, stream=True)
        except httpx.HTTPError as error:
            return _refuse(502, "api_error", f"the model's server cannot be reached: {type(error).__name__}")
        if answer.status_code in (401, 403):  # trying again, as programs do for minutes, mends nothing
            self.on_refused(f"the model's server refused the API key ({answer.status_code})")
        kept = {name: value for name, value in answer.headers.items() if name in _RETURNED}
        counts = request.url.path == "/v1/messages" and answer.status_code == 200
        return StreamingResponse(self._pass_on(answer, counts=counts), status_code=answer.status_code, headers=kept)

    async def _pass_on(self, answer: httpx.Response, *, counts: bool) -> AsyncIterator[bytes]:
        meter = Meter()
        try:
            async for chunk in answer.aiter_raw():
                self.on_traffic()
                if counts:
                    meter.feed(chunk)
                yield chunk
        finally:
            await answer.aclose()
            if counts:
                self._count(meter)

    def _count(self, meter: "Meter") -> None:
        meter.finish()
        had, tokens = self.usage, meter.tokens
        dollars = cost(meter.model, **tokens)
        summed: dict[str, Any] = {name: getattr(had, name) + count for name, count in tokens.items()}
        total = None if dollars is None or had.dollars is None else had.dollars + dollars
        self.usage = Usage(turns=had.turns + 1, dollars=total, **summed)


_RETURNED = frozenset({"content-type", "retry-after", "request-id", "x-should-retry"})


@dataclass
class Meter:
    """Reads the usage out of an answer that passes by, streamed or not, without keeping it."""

    model: str = ""
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED.values(), 0))
    _rest: bytes = b""

    def feed(self, chunk: bytes) -> None:
        """Take a piece of the answer."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._read(line.removeprefix(b"data:").strip())

    def finish(self) -> None:
        """Take what is left: all of an answer that was not streamed."""
        self._read(self._rest.removeprefix(b"data:").strip())

    def _read(self, line: bytes) -> None:
        if not line.startswith(b"{") or b'"usage"' not in line:
            return
        try:
            found = json.loads(line)
        except ValueError:
            return
        message = found.get("message") if isinstance(found.get("message"), Mapping) else found
        self.model = message.get("model") or self.model
        for theirs, ours in _COUNTED.items():
            value = (message.get("usage") or {}).get(theirs)
            if isinstance(value, int):
                self.tokens[ours] = value


def with_words(body: bytes, words: str) -> bytes:
    """Return a Messages request with words of ours at the end of its last message; any other body as it is."""
    try:
        asked = json.loads(body)
        last = asked["messages"][-1]
        content = last["content"]
    except (ValueError, LookupError, TypeError):
        return body
    if last.get("role") != "user":
        return body
    had = [{"type": "text", "text": content}] if isinstance(content, str) else content
    last["content"] = [*had, {"type": "text", "text": words}]
    return json.dumps(asked).encode()


async def _read_body(request: Request) -> bytes | None:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_BYTES:
            return None
    return bytes(body)


def _refuse(status: int, kind: str, told: str) -> Response:
    return JSONResponse({"type": "error", "error": {"type": kind, "message": told}}, status_code=status)
