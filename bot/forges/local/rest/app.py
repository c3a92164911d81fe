"""The App's own operations: installations, tokens, deliveries of its webhook."""

import json
import secrets
from collections.abc import Callable
from typing import Any

import jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.forges.local.rest.desk import Desk, Problem, bearer, read_body
from bot.forges.local.state import Delivery, Token

TOKEN_S = 3600
LONGEST_JWT_S = 660


class Apps:
    """Answers to the App, which signs in with a JWT."""

    def __init__(self, desk: Desk, public_key: str, redeliver: Callable[[Delivery], None]) -> None:
        self._desk, self._state, self._shapes = desk, desk.state, desk.shapes
        self._public_key, self._redeliver_it = public_key, redeliver

    def routes(self) -> list[Route]:
        """Return the routes."""
        table = [
            ("GET", "/app", self._app),
            ("GET", "/app/installations", self._installations),
            ("GET", "/app/installations/{id:int}", self._one_installation),
            ("GET", "/repos/{owner}/{name}/installation", self._installation),
            ("POST", "/app/installations/{id:int}/access_tokens", self._mint),
            ("GET", "/app/hook/config", self._hook),
            ("PATCH", "/app/hook/config", self._hook),
            ("GET", "/app/hook/deliveries", self._deliveries),
            ("GET", "/app/hook/deliveries/{id:int}", self._delivery),
            ("POST", "/app/hook/deliveries/{id:int}/attempts", self._redeliver),
        ]
        return [Route(path, self._guarded(answer), methods=[method]) for method, path, answer in table]

    def _guarded(self, answer: Any) -> Any:
        async def guarded(request: Request) -> Response:
            try:
                self._check(bearer(request))
                given: Response = await answer(request)
                return given
            except Problem as problem:
                return problem.answer()

        return guarded

    def _check(self, token: str) -> None:
        try:
            options: Any = {"require": ["exp", "iat", "iss"], "verify_exp": False, "verify_iat": False}
            said = jwt.decode(token, self._public_key, algorithms=["RS256"], options=options)
        except jwt.InvalidTokenError as error:
            raise Problem(401, f"A JSON web token could not be decoded: {error}") from error
        if str(said.get("iss")) != str(self._desk.app_id):
            raise Problem(401, "'Issuer' claim ('iss') must be the App's id")
        if not said["iat"] <= self._desk.now() < said["exp"]:
            raise Problem(401, "'Issued at' claim ('iat') must be in the past and 'exp' in the future")
        if said["exp"] - said["iat"] > LONGEST_JWT_S:
            raise Problem(401, "'Expiration time' claim ('exp') is too far in the future")

    async def _app(self, _request: Request) -> Response:
        return JSONResponse(self._shapes.app(self._state.permissions))

    async def _installations(self, _request: Request) -> Response:
        return JSONResponse([self._shapes.installation(self._state.permissions)])

    async def _one_installation(self, request: Request) -> Response:
        if request.path_params["id"] != 1:
            raise Problem(404, "Not Found")
        return JSONResponse(self._shapes.installation(self._state.permissions))

    async def _installation(self, request: Request) -> Response:
        found = self._state.repositories.get(f"{request.path_params['owner']}/{request.path_params['name']}")
        if found is None or found.fork_of:
            raise Problem(404, "Not Found")
        return JSONResponse(self._shapes.installation(self._state.permissions))

    async def _mint(self, request: Request) -> Response:
        body = await read_body(request)
        known = {full.split("/", 1)[1]: full for full, r in self._state.repositories.items() if not r.fork_of}
        names = body.get("repositories") or list(known)
        if not set(names) <= set(known):
            raise Problem(422, "There is at least one repository that does not exist or is not accessible")
        wanted = body.get("permissions") or self._state.permissions
        granted = self._state.permissions
        if any(granted.get(name) != level and granted.get(name) != "write" for name, level in wanted.items()):
            raise Problem(422, "The permissions requested are not granted to this installation.")
        value, ends_at = f"ghs_{secrets.token_hex(18)}", self._desk.now() + TOKEN_S
        self._state.tokens[value] = Token(frozenset(known[name] for name in names), ends_at, dict(wanted))
        shown = {
            "token": value, "expires_at": self._state.stamp(ends_at), "permissions": wanted,
            "repository_selection": "selected" if body.get("repositories") else "all",
        }  # fmt: skip
        return JSONResponse(shown, 201)

    async def _hook(self, request: Request) -> Response:
        if request.method == "PATCH":
            body = await read_body(request)
            self._state.target = body.get("url", self._state.target)
            self._state.secret = body.get("secret", self._state.secret)
        return JSONResponse(
            {
                **({"url": self._state.target} if self._state.target else {}),
                "content_type": "json",
                "insecure_ssl": "0",
                "secret": "********",
            }
        )

    async def _deliveries(self, request: Request) -> Response:
        """Show the newest first, in pages that a cursor leads through."""
        query = request.query_params
        size, cursor = min(int(query.get("per_page", 30)), 100), int(query.get("cursor", 1 << 60))
        known = [d for d in reversed(list(self._state.deliveries)) if d.id < cursor and d.status]
        if query.get("status") == "failure":
            known = [d for d in known if 400 <= d.code <= 599]
        elif query.get("status") == "success":
            known = [d for d in known if 200 <= d.code < 400]
        headers = {}
        if len(known) > size:
            after = request.url.include_query_params(cursor=known[size - 1].id)
            headers["link"] = f'<{after}>; rel="next"'
        return JSONResponse([self._shapes.delivery(d) for d in known[:size]], headers=headers)

    async def _delivery(self, request: Request) -> Response:
        delivery = self._find(request)
        headers = {"X-GitHub-Event": delivery.event, "X-GitHub-Delivery": delivery.guid}
        return JSONResponse({
            **self._shapes.delivery(delivery), "url": self._state.target or "",
            "request": {"headers": headers, "payload": json.loads(delivery.payload)},
            "response": {"headers": {}, "payload": ""},
        })  # fmt: skip

    async def _redeliver(self, request: Request) -> Response:
        self._redeliver_it(self._find(request))
        return JSONResponse({}, 202)

    def _find(self, request: Request) -> Delivery:
        for delivery in list(self._state.deliveries):
            if delivery.id == request.path_params["id"]:
                return delivery
        raise Problem(404, "Not Found")
