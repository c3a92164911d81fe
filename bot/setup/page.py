"""The page that makes the App: one button, one way back, and only for who started it on this machine."""

import asyncio
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable
from html import escape
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.forges import manifest
from bot.forges.errors import ForgeError
from bot.forges.manifest import NewApp

LOOPBACK = ("127.0.0.1", "::1")
_OF_PROXIES = ("forwarded", "x-forwarded-for", "x-real-ip", "via")  # whoever asks through one is somewhere else
_SHELL = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Sluice: set-up</title><style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif;
max-width: 40rem; margin: 2rem auto; padding: 0 1rem }}
button {{ font: inherit; padding: .6rem 1.2rem }}</style></head><body><main>{body}</main></body></html>"""


class SetupPage:
    """Serves the form and takes the code that the forge sends back; `done` has the App."""

    def __init__(
        self, *, name: str, git_url: str, hook_url: str, organization: str,
        convert: Callable[[str], Awaitable[NewApp]],
    ) -> None:  # fmt: skip
        self.token = secrets.token_urlsafe(24)  # only who started the set-up knows the page's address
        self._state = secrets.token_urlsafe(24)
        self._name, self._git_url, self._hook_url, self._organization = name, git_url, hook_url, organization
        self._convert = convert
        self.done: asyncio.Future[NewApp] = asyncio.get_running_loop().create_future()

    def app(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(routes=[Route("/setup/{token}", self._form), Route("/back", self._back)])

    async def _form(self, request: Request) -> Response:
        if not self._is_ours(request) or not _same(request.path_params["token"], self.token):
            return PlainTextResponse("This page is for who started `bot setup` on this machine.", 403)
        # the address that this very connection came to, never one that a header claims
        host, port = request.scope["server"]
        wanted = manifest.manifest(
            self._name, url="https://github.com", hook_url=self._hook_url, redirect_url=f"http://{host}:{port}/back"
        )
        target = manifest.registration_url(self._git_url, state=self._state, organization=self._organization)
        body = (
            f"<h1>Make the GitHub App</h1><p>One click makes an App named <strong>{escape(self._name)}</strong> with "
            f"exactly the permissions that the bot uses. Its key comes straight back to this machine.</p>"
            f'<form method="post" action="{escape(target)}"><input type="hidden" name="manifest" '
            f'value="{escape(json.dumps(wanted))}"><button>Make the App</button></form>'
        )
        policy = f"default-src 'none'; style-src 'unsafe-inline'; form-action {self._git_url}"
        return HTMLResponse(_SHELL.format(body=body), headers={"content-security-policy": policy})

    async def _back(self, request: Request) -> Response:
        state, code = request.query_params.get("state", ""), request.query_params.get("code", "")
        if not self._is_ours(request) or not _same(state, self._state):
            return PlainTextResponse("This answer does not belong to the set-up that was started here.", 403)
        if self.done.done():
            return PlainTextResponse("The App is made already.", 409)
        try:
            made = await self._convert(code)
        except ForgeError as error:
            return PlainTextResponse(f"The App was not made: {error}", 502)
        if not self.done.done():
            self.done.set_result(made)
        link = escape(made.install_url)
        body = (
            f'<h1>The App is made</h1><p>Now <a href="{link}">install it</a> on the repositories it shall work in.</p>'
        )
        return HTMLResponse(_SHELL.format(body=body))

    def _is_ours(self, request: Request) -> bool:
        client: Any = request.scope.get("client") or ("", 0)
        return client[0] in LOOPBACK and not any(name in request.headers for name in _OF_PROXIES)


def _same(given: str, own: str) -> bool:
    """Compare in constant time; in bytes, since strings must be ASCII for that."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), own.encode())
