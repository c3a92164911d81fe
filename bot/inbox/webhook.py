"""Receive webhooks: check the signature over the raw bytes, store them, then answer. Nothing is read here."""

import hmac
from collections.abc import Callable, Sequence

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.inbox.writer import Writer
from bot.tickets.deliveries import Arrived
from bot.tickets.store import Store

MOST_BYTES = 25 * 1024 * 1024  # GitHub sends no more
_ID_LENGTH = 200
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
        return [Route("/webhook", self._receive, methods=["POST"])]

    def close(self) -> None:
        """Store what waits and stop."""
        self._writer.close()

    async def _receive(self, request: Request) -> Response:
        try:
            body = await _body(request)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        if body is None:
            return PlainTextResponse(f"expected at most {MOST_BYTES} bytes\n", 413)
        headers = request.headers
        if not self._is_signed(body, headers.get("x-hub-signature-256", "")):
            return PlainTextResponse("expected X-Hub-Signature-256 made with this webhook's secret\n", 401)
        problem = _problem(body)
        guid, event = headers.get("x-github-delivery", ""), headers.get("x-github-event", "")
        if not problem and not (0 < len(guid) <= _ID_LENGTH and 0 < len(event) <= _ID_LENGTH):
            problem = "expected the headers X-GitHub-Delivery and X-GitHub-Event"
        if problem:
            return PlainTextResponse(problem + "\n", 400)
        try:
            await self._writer.keep(Arrived(guid, event, body))
        except Exception:  # the writer logged it; the forge notes a failure, and recovery asks for it again
            return PlainTextResponse("could not store the delivery; ask for it again\n", 503)
        return PlainTextResponse("stored\n", 202)

    def _is_signed(self, body: bytes, signature: str) -> bool:
        given = signature.encode("latin-1", "replace")
        matches = [
            hmac.compare_digest(b"sha256=" + hmac.digest(secret, body, "sha256").hex().encode(), given)
            for secret in self._secrets
        ]
        return any(matches)


async def _body(request: Request) -> bytes | None:
    """Return the body; None as soon as it is longer than allowed, however its length was announced."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > MOST_BYTES:
        return None
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        if part:
            parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _problem(body: bytes) -> str:
    """Return why a body is no JSON object, or nothing."""
    try:
        _WHOLE.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        return f"expected JSON, with the webhook's content type set to application/json: {error}"
    return "" if body.lstrip()[:1] == b"{" else "expected a JSON object"
