"""A scripted model: a server on loopback that speaks the Messages API and answers from sessions, see sessions.py."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.serving import Served, serve_in_thread
from bot.work.agents.sessions import Session, Turn

CHECKED_OUT = re.compile(r"checked out at (\S+), so that")  # in our system prompt
_PIECE = 400  # characters in one event of a stream
_ERRORS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
}  # fmt: skip


@dataclass
class ScriptedModel:
    """Answers Messages requests from sessions; `requests` keeps what was asked."""

    sessions: Sequence[Session]
    unknown: tuple[str, ...] = ()  # fields of a request that this server refuses, as an older one would
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    unmatched: int = 0  # requests that no session was for
    faults: dict[tuple[str, int], int] = field(default_factory=dict)

    def app(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                Route("/", lambda _: Response(), methods=["GET", "HEAD"]),
                Route("/v1/messages/count_tokens", self._count_tokens, methods=["POST"]),
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/models", lambda _: JSONResponse({"data": [], "has_more": False})),
            ]
        )

    def serve(self, host: str = "127.0.0.1", port: int = 0) -> Served:
        """Serve in a thread of its own; use as a context manager, `url` says where."""
        return serve_in_thread(self.app(), host=host, port=port)

    async def _count_tokens(self, request: Request) -> Response:
        return JSONResponse({"input_tokens": _tokens(await request.json())})

    async def _messages(self, request: Request) -> Response:
        asked = await request.json()
        self.requests.append(asked)
        self.headers.append(dict(request.headers))
        for name in self.unknown:
            if name in asked:
                return _refusal(400, told=f"{name}: Extra inputs are not permitted")
        turn = self._turn(asked)
        if turn.fault != "silent" and turn.delay_s:
            await asyncio.sleep(turn.delay_s)
        if isinstance(turn.fault, int):
            return _refusal(turn.fault, retry_after=turn.retry_after)
        message = _message(asked, turn, number=len(self.requests))
        if not asked.get("stream"):
            return JSONResponse(message)
        return StreamingResponse(_stream(message, turn), media_type="text/event-stream")

    def _turn(self, asked: Mapping[str, Any]) -> Turn:
        session = self._session(asked)
        if session is None:
            self.unmatched += 1
            return Turn(content=({"type": "text", "text": "No session was written for this conversation."},))
        number: int = sum(message["role"] == "assistant" for message in asked["messages"])
        if session.loop and session.turns:
            number %= len(session.turns)
        if number >= len(session.turns):
            return Turn(content=({"type": "text", "text": "Done."},))
        faults, answer = session.turns[number][:-1], _here(session.turns[number][-1], session.workdir, asked)
        served = self.faults.get((session.name, number), 0)
        for fault in faults:
            if served < fault.times:
                self.faults[session.name, number] = self.faults.get((session.name, number), 0) + 1
                return fault
            served -= fault.times
        return answer

    def _session(self, asked: Mapping[str, Any]) -> Session | None:
        first = _text(asked["messages"][0])
        text = first + "\n" + _text({"content": asked.get("system") or ""})
        fits = [(session.fit(text, feedback="\n<feedback>\n" in first), session) for session in self.sessions]
        found = [(fit, session) for fit, session in fits if fit is not None]
        return max(found, key=lambda pair: pair[0])[1] if found else None


def _here(turn: Turn, workdir: str, asked: Mapping[str, Any]) -> Turn:
    """Return a recorded turn with the paths of the folder that this conversation is about."""
    found = CHECKED_OUT.search(_text({"content": asked.get("system") or ""}))
    if not workdir or found is None:
        return turn
    was, now = json.dumps(workdir)[1:-1], json.dumps(found[1])[1:-1]
    return replace(turn, content=tuple(json.loads(json.dumps(turn.content).replace(was, now))))


def _message(asked: Mapping[str, Any], turn: Turn, *, number: int) -> dict[str, Any]:
    names = {tool["name"].lower(): tool["name"] for tool in asked.get("tools", ())}
    content = [dict(block) for block in turn.content]
    for position, block in enumerate(content):
        if block["type"] == "tool_use":  # ids of its own: a session may be served many times
            block["id"] = f"toolu_{number:04d}_{position:03d}"
            block["name"] = names.get(block["name"].lower(), block["name"])
    return {
        "id": f"msg_{number:06d}", "type": "message", "role": "assistant", "model": asked["model"],
        "content": content, "stop_reason": turn.stop_reason, "stop_sequence": None,
        "usage": dict(turn.usage or _usage(asked, content)),
    }  # fmt: skip


def _usage(asked: Mapping[str, Any], content: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return what the turn would cost at four characters a token, all but the newest message read from the cache."""
    *older, newest = asked["messages"]
    before = _tokens([asked.get("system"), asked.get("tools"), older])
    cached = before if older else 0
    return {
        "input_tokens": 0 if older else before, "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": _tokens(newest), "output_tokens": _tokens(content),
    }  # fmt: skip


def _tokens(thing: Any) -> int:
    return len(json.dumps(thing)) // 4 + 1


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def _refusal(status: int, *, retry_after: float | None = None, told: str = "") -> Response:
    kind = _ERRORS.get(status, "api_error")
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    body = {"type": "error", "error": {"type": kind, "message": told or f"a scripted {status}"}}
    return JSONResponse(body, status_code=status, headers=headers)


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


async def _stream(message: Mapping[str, Any], turn: Turn) -> AsyncIterator[str]:
    usage = {**message["usage"], "output_tokens": 1}
    yield _event("message_start", message={**message, "content": [], "stop_reason": None, "usage": usage})
    if turn.fault == "silent":
        await asyncio.sleep(turn.delay_s or 3600)
    if turn.fault == "cut":
        yield _event("content_block_start", index=0, content_block={"type": "text", "text": "I was about to"})
        raise ConnectionResetError("cut, as the session asks")
    if turn.fault == "overloaded":
        yield _event("error", error={"type": "overloaded_error", "message": "Overloaded"})
        return
    for index, block in enumerate(message["content"]):
        for piece in _block_events(index, block, malformed=turn.malformed):
            yield piece
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": message["usage"]["output_tokens"]})
    yield _event("message_stop")


def _block_events(index: int, block: Mapping[str, Any], *, malformed: bool) -> Iterable[str]:
    if block["type"] == "tool_use":
        text, empty, kind, key = json.dumps(block["input"]), {**block, "input": {}}, "input_json_delta", "partial_json"
        text = text[:-1] if malformed else text
    elif block["type"] == "text":
        text, empty, kind, key = block["text"], {"type": "text", "text": ""}, "text_delta", "text"
    else:  # as it is: thinking of a recorded session, a server's own tools
        yield _event("content_block_start", index=index, content_block=block)
        yield _event("content_block_stop", index=index)
        return
    yield _event("content_block_start", index=index, content_block=empty)
    for at in range(0, len(text), _PIECE):
        yield _event("content_block_delta", index=index, delta={"type": kind, key: text[at : at + _PIECE]})
    yield _event("content_block_stop", index=index)
