"""Receive webhooks: check the signature over the raw bytes, store them, then answer. Nothing is read here."""

import hmac
from collections.abc import Callable, Mapping, Sequence

import msgspec
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from bot.inbox.writer import Writer
from bot.tickets.deliveries import Arrived
from bot.tickets.store import Store

MOST_BYTES = 25 * 1024 * 1024  # GitHub sends no more
_ID_LENGTH = 200
_GONE = b"gone"  # stands for a body whose sender left; compared by identity
_WHOLE = msgspec.json.Decoder(msgspec.Raw)  # walks the syntax in C without building anything: 18 us for 25 KB


class Receiver:
    """The webhook's route, and the writer behind it."""

    def __init__(
        self, store: Store, secrets: Sequence[str], *, now: Callable[[], float], stored: Callable[[], None]
    ) -> None:
        if not all(secrets) or not secrets:
            raise ValueError("a webhook without a secret takes orders from everybody")
        self._secrets = [secret.encode() for secret in secrets]  # during a rotation the previous one still counts
        self._writer = Writer(store, now=now, stored=stored)

    def routes(self) -> list[Route]:
        """Return the routes to mount."""
        return [Route("/webhook", self, methods=["POST"])]

    def close(self) -> None:
        """Store what waits and stop."""
        self._writer.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; written against ASGI itself, because request objects cost a sixth of the throughput."""
        headers = dict(scope["headers"])
        body = await _body(headers.get(b"content-length", b""), receive)
        if body is _GONE:
            return
        code, said = await self._answer(headers, body)
        length = str(len(said)).encode()
        kind = (b"content-type", b"text/plain; charset=utf-8")
        await send({"type": "http.response.start", "status": code, "headers": [kind, (b"content-length", length)]})
        await send({"type": "http.response.body", "body": said})

    async def _answer(self, headers: Mapping[bytes, bytes], body: bytes | None) -> tuple[int, bytes]:
        if body is None:
            return 413, b"expected at most %d bytes\n" % MOST_BYTES
        if not self._is_signed(body, headers.get(b"x-hub-signature-256", b"")):
            return 401, b"expected X-Hub-Signature-256 made with this webhook's secret\n"
        problem = _problem(body)
        guid, event = headers.get(b"x-github-delivery", b""), headers.get(b"x-github-event", b"")
        if not problem and not (0 < len(guid) <= _ID_LENGTH and 0 < len(event) <= _ID_LENGTH):
            problem = "expected the headers X-GitHub-Delivery and X-GitHub-Event"
        if problem:
            return 400, f"{problem}\n".encode()
        try:
            await self._writer.keep(Arrived(guid.decode("latin-1"), event.decode("latin-1"), body))
        except Exception:  # the writer logged it; the forge notes a failure, and recovery asks for it again
            return 503, b"could not store the delivery; ask for it again\n"
        return 202, b"stored\n"

    def _is_signed(self, body: bytes, signature: bytes) -> bool:
        matches = [
            hmac.compare_digest(b"sha256=" + hmac.digest(secret, body, "sha256").hex().encode(), signature)
            for secret in self._secrets
        ]
        return any(matches)


async def _body(announced: bytes, receive: Receive) -> bytes | None:
    """Return the body; None as soon as it is longer than allowed, however its length was announced."""
    if announced.isdigit() and int(announced) > MOST_BYTES:
        return None
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return _GONE
        part = message.get("body", b"")
        size += len(part)
        if size > MOST_BYTES:
            return None
        if part:
            parts.append(part)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _problem(body: bytes) -> str:
    """Return why a body is no JSON object, or nothing."""
    try:
        _WHOLE.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        return f"expected JSON, with the webhook's content type set to application/json: {error}"
    return "" if body.lstrip()[:1] == b"{" else "expected a JSON object"
