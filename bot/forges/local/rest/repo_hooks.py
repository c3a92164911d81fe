"""Webhooks of a repository, for who has a personal token and no App; this forge delivers to one address alone."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from bot.forges.local.rest.desk import Call, Desk, Problem, R, Rows


def ping_of(kind: str, number: int, events: list[str], url: str, at: str) -> dict[str, Any]:
    """Return the payload of a ping."""
    config = {"url": url, "content_type": "json", "insecure_ssl": "0"}
    return {
        "zen": "Speak like a human.", "hook_id": number,
        "hook": {"type": kind, "id": number, "name": "web", "active": True, "events": events, "config": config,
                 "updated_at": at, "created_at": at},
    }  # fmt: skip


class RepoHooks:
    """Answers about the webhooks of a repository."""

    def __init__(self, desk: Desk, send: Callable[[str, Mapping[str, Any]], object]) -> None:
        self._desk, self._state, self._send = desk, desk.state, send
        self._hooks: dict[int, dict[str, Any]] = {}

    def rows(self) -> Rows:
        """Return method, path and answer of each operation."""
        return [
            ("GET", f"{R}/hooks", self._list),
            ("POST", f"{R}/hooks", self._make),
            ("PATCH", f"{R}/hooks/{{id:int}}", self._change),
            ("POST", f"{R}/hooks/{{id:int}}/pings", self._ping),
        ]

    async def _list(self, call: Call) -> Response:
        self._admins_only(call)
        return call.page(list(self._hooks.values()))

    async def _make(self, call: Call) -> Response:
        self._admins_only(call)
        config, number, at = call.body["config"], self._state.number(), self._state.stamp()
        if any(hook["config"]["url"] == config["url"] for hook in self._hooks.values()):
            raise Problem(422, "Validation Failed: Hook already exists on this repository")
        api = f"{self._desk.shapes.api(call.repo)}/hooks/{number}"
        self._hooks[number] = {
            "type": "Repository", "id": number, "name": "web", "active": True, "events": call.body["events"],
            "config": {"url": config["url"], "content_type": "json", "insecure_ssl": "0", "secret": "********"},
            "updated_at": at, "created_at": at, "url": api, "test_url": f"{api}/test", "ping_url": f"{api}/pings",
            "deliveries_url": f"{api}/deliveries", "last_response": {"code": None, "status": "unused", "message": None},
        }  # fmt: skip
        self._state.target, self._state.secret = config["url"], config["secret"]
        return JSONResponse(self._hooks[number], 201)

    async def _change(self, call: Call) -> Response:
        hook, config = self._hook(call), call.body["config"]
        self._state.target, self._state.secret = config["url"], config["secret"]
        return JSONResponse(hook)

    async def _ping(self, call: Call) -> Response:
        hook = self._hook(call)
        self._send("ping", ping_of("Repository", hook["id"], hook["events"], hook["config"]["url"], hook["created_at"]))
        return Response(status_code=204)

    def _hook(self, call: Call) -> dict[str, Any]:
        self._admins_only(call)
        if call.path["id"] not in self._hooks:
            raise Problem(404, "Not Found")
        return self._hooks[call.path["id"]]

    def _admins_only(self, call: Call) -> None:
        if call.repo.roles.get(call.user.login) != "admin":
            raise Problem(404, "Not Found")
