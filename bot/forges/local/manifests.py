"""The local forge's part of making an App from a manifest: a page with one button, a code, its exchange."""

import json
import secrets
from typing import Any
from urllib.parse import parse_qs, urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.forges.local.hooks import Hooks
from bot.forges.local.rest.desk import Desk, Problem
from bot.forges.local.rest.repo_hooks import ping_of

_PAGE = jinja2.Environment(autoescape=True).from_string(
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>New App</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><main><h1>Create {{ name }}</h1>'
    '<form method="post" action="/settings/apps/create"><input type="hidden" name="manifest" value="{{ manifest }}">'
    '<input type="hidden" name="state" value="{{ state }}"><button>Create the App</button></form></main></html>'
)


class Manifests:
    """Makes the one App that this forge has."""

    def __init__(self, desk: Desk, private_key: str, hooks: Hooks) -> None:
        self._desk, self._private_key, self._hooks = desk, private_key, hooks
        self._codes: dict[str, dict[str, Any]] = {}

    def routes(self) -> list[Route]:
        """Return the routes."""
        new = ("/settings/apps/new", "/organizations/{organization}/settings/apps/new")
        return [
            *(Route(path, self._show, methods=["POST"]) for path in new),
            Route("/settings/apps/create", self._create, methods=["POST"]),
            Route("/api/app-manifests/{code}/conversions", self._convert, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        manifest = (await _form(request)).get("manifest", "")
        try:
            name = str(json.loads(manifest)["name"])
        except (ValueError, KeyError, TypeError):
            return PlainTextResponse("the manifest is no JSON object with a name", 422)
        return HTMLResponse(_PAGE.render(name=name, manifest=manifest, state=request.query_params.get("state", "")))

    async def _create(self, request: Request) -> Response:
        form = await _form(request)
        manifest, code = json.loads(form["manifest"]), secrets.token_hex(20)
        self._codes[code] = manifest
        query = urlencode({"code": code, "state": form.get("state", "")})
        return RedirectResponse(f"{manifest['redirect_url']}?{query}", 302)

    async def _convert(self, request: Request) -> Response:
        manifest = self._codes.pop(request.path_params["code"], None)
        if manifest is None:
            return Problem(404, "Not Found").answer()
        state = self._desk.state
        state.permissions = dict(manifest["default_permissions"])
        state.target = manifest["hook_attributes"]["url"]
        state.secret = secrets.token_hex(20)
        events, at = list(manifest["default_events"]), state.stamp()
        self._hooks.send("ping", ping_of("App", self._desk.app_id, events, state.target, at))
        shown = {
            **self._desk.shapes.app(state.permissions), "name": manifest["name"], "events": manifest["default_events"],
            "client_secret": secrets.token_hex(20), "pem": self._private_key,
            "webhook_secret": state.secret if state.gives_secret else None,
        }  # fmt: skip
        return JSONResponse(shown, 201)


async def _form(request: Request) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs((await request.body()).decode()).items()}
