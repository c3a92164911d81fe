"""Ask a server that speaks the Messages API for the next message: streamed, cached, tried again where that helps."""

import asyncio
import functools
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anthropic
import httpx2

from bot.work.agents.agent import AgentSettings
from bot.work.agents.stream import Reply, collect

_STREAMS = 3  # tries of a stream that broke off; what fails before its first byte is tried again by the SDK
_KEPT = 8  # newest tool results that are never cleared
_CONTEXT_BETA = "context-management-2025-06-27"
# The server clears old tool results: our own history only ever grows, as caches and signed thinking need it
_CONTEXT = {
    "edits": [
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 100_000},
            "keep": {"type": "tool_uses", "value": _KEPT},
            "clear_at_least": {"type": "input_tokens", "value": 20_000},
        }
    ]
}
_CACHED = {"cache_control": {"type": "ephemeral"}}


class ModelError(Exception):
    """The model's server gave no answer; the text is for people."""


@functools.cache
def trust() -> ssl.SSLContext:
    """Return whom a connection trusts; reading the system's certificates costs more than all else of a client."""
    return ssl.create_default_context()


class Messages:
    """A conversation's line to the model's server."""

    def __init__(self, settings: AgentSettings) -> None:
        self._client = anthropic.AsyncAnthropic(
            api_key=settings.api_key or "none",
            base_url=settings.model_url or "https://api.anthropic.com",
            max_retries=settings.retries,
            timeout=httpx2.Timeout(settings.silence_s, connect=10.0),
            http_client=anthropic.DefaultAsyncHttpxClient(verify=trust()),
        )
        self._pause_s = settings.pause_s
        self._edits_context = True

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        model: str,
        system: str,
        tools: Sequence[Mapping[str, Any]],
        max_tokens: int,
        on_line: Callable[[str], None],
    ) -> Reply:
        """Return the model's next message; raises ModelError."""
        asked = {
            "model": model, "max_tokens": max_tokens, "tools": tools,
            "system": [{"type": "text", "text": system, **_CACHED}],
        }  # fmt: skip
        for attempt in range(1, _STREAMS + 1):
            events = await self._open({**asked, "messages": mark_cached(messages)}, on_line)
            try:
                async with events:
                    reply = await collect(events)
                if reply.whole:
                    return reply
                why = "the stream ended before the message did"
            except (anthropic.APIError, httpx2.TransportError) as error:
                why = explain(error)
            if attempt < _STREAMS:
                on_line(f"model: {why}; trying again")
                await asyncio.sleep(self._pause_s * attempt)
        raise ModelError(why)

    async def _open(self, asked: Mapping[str, Any], on_line: Callable[[str], None]) -> Any:
        """Return the stream of events of one request; what can be tried again, the SDK has tried again."""
        create: Any = self._client.beta.messages.create  # its types want literals
        context = {"context_management": _CONTEXT, "betas": [_CONTEXT_BETA]} if self._edits_context else {}
        try:
            return await create(**asked, **context, stream=True)
        except anthropic.APIError as error:
            if self._forgo_context_edits(error):
                on_line("model: this server knows no context editing; long conversations end at the model's limit")
                return await self._open(asked, on_line)
            raise ModelError(explain(error)) from error

    def _forgo_context_edits(self, error: anthropic.APIError) -> bool:
        """Return whether the request should go out again without context editing, which this server does not know."""
        told = str(error).lower()
        unknown = isinstance(error, anthropic.BadRequestError) and ("context_m" in told or "context-m" in told)
        self._edits_context, had = self._edits_context and not unknown, self._edits_context
        return unknown and had


def mark_cached(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the messages with the ends of the two newest user messages marked: one to read, one to write."""
    marked = list(messages)
    users = [at for at, message in enumerate(marked) if message["role"] == "user"]
    for at in users[-2:]:
        *before, last = marked[at]["content"]
        marked[at] = {"role": "user", "content": [*before, {**last, **_CACHED}]}
    return marked


def explain(error: Exception) -> str:
    """Return what a failed request means, in one line."""
    match error:
        case anthropic.AuthenticationError() | anthropic.PermissionDeniedError():
            return f"the model's server refused the API key ({error.status_code}): {_told(error)}"
        case anthropic.RateLimitError():
            return f"rate limited by the model's server (429): {_told(error)}"
        case anthropic.APIStatusError():
            kind = "is overloaded" if error.status_code == 529 or "overloaded" in _told(error).lower() else "answered"
            return f"the model's server {kind} ({error.status_code}): {_told(error)}"
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return "the model's server was silent for too long"
        case anthropic.APIConnectionError() | httpx2.TransportError():
            cause = error.__cause__ or error
            return f"the connection to the model's server broke: {type(cause).__name__} {cause}".rstrip()
        case _:
            return f"the model's server: {error}"


def _told(error: anthropic.APIStatusError) -> str:
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    if isinstance(inner, dict):
        return f"{inner.get('type')}: {inner.get('message')}"[:500]
    return str(error.message)[:500]
