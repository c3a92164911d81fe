"""Who may see the pages: anybody on this machine's loopback, else whoever knows the password."""

import base64
import binascii
import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

OPEN = ("/webhook", "/healthz", "/readyz")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class Guard:
    """Lets a request through to the pages only if it is local or carries the password."""

    def __init__(self, app: ASGIApp, *, password: str, opened: Iterable[str] = OPEN) -> None:
        self._app = app
        self._password = password
        self._open = tuple(opened)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 or 403 in place of the page where the caller may not see it."""
        if scope["type"] != "http" or scope["path"] in self._open:
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        if self._signed_in(headers.get("authorization", "")) or (not self._password and is_local(scope, headers)):
            return await self._app(scope, receive, send)
        await self._refusal()(scope, receive, send)
        return None

    def _signed_in(self, header: str) -> bool:
        kind, _, value = header.partition(" ")
        if not self._password or kind.lower() != "basic":
            return False
        try:
            _, _, password = base64.b64decode(value, validate=True).partition(b":")
        except binascii.Error:
            return False
        return hmac.compare_digest(password, self._password.encode())

    def _refusal(self) -> PlainTextResponse:
        if self._password:
            return PlainTextResponse(
                "Sign in with any name and the dashboard's password.", 401,
                {"www-authenticate": 'Basic realm="Sluice", charset="UTF-8"'},
            )  # fmt: skip
        return PlainTextResponse(
            "The dashboard is open to this machine alone. To reach it from elsewhere set BOT_DASHBOARD_PASSWORD.", 403
        )


def is_local(scope: Scope, headers: Headers) -> bool:
    """Return whether both ends are on loopback, with no proxy or tunnel between and no foreign name in Host."""
    client = (scope.get("client") or ("", 0))[0]
    host = headers.get("host", "")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    forwarded = any(h in headers for h in FORWARDED)
    return client in {"127.0.0.1", "::1"} and name in LOOPBACK and not forwarded
