"""The one thing of GitHub's GraphQL API that has no place in REST: a merge that waits for its checks."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.forges.local.rest.desk import Desk, Problem, bearer, read_body
from bot.forges.local.rest.pulls import Pulls
from bot.forges.local.state import Issue, Repository, User

NAME = "enablePullRequestAutoMerge"


class GraphQL:
    """Answers a mutation."""

    def __init__(self, desk: Desk, pulls: Pulls, who: Callable[[str, str], User | None]) -> None:
        self._desk, self._pulls, self._who = desk, pulls, who

    def routes(self) -> list[Route]:
        """Return the route."""
        return [Route("/graphql", self._answer, methods=["POST"])]

    async def _answer(self, request: Request) -> Response:
        body = await read_body(request)
        asked = body.get("variables") or {}
        found = self._find(str(asked.get("pull")))
        if found is None or self._who(bearer(request), found[0].full_name) is None:
            return Problem(401, "Bad credentials").answer()
        if NAME not in str(body.get("query")):
            return _no("INVALID", "only one mutation is known here")
        repo, pull = found
        why = await self._pulls.merge_later(repo, pull, str(asked.get("head")), str(asked.get("method")).lower())
        return _no("UNPROCESSABLE", why) if why else JSONResponse(
            {"data": {NAME: {"pullRequest": {"number": pull.number}}}}
        )  # fmt: skip

    def _find(self, node: str) -> tuple[Repository, Issue] | None:
        for repo in self._desk.state.repositories.values():
            for pull in repo.issues.values():
                if node == f"PR_{repo.id}_{pull.number}":
                    return repo, pull
        return None


def _no(kind: str, message: str) -> Response:
    return JSONResponse({"data": {NAME: None}, "errors": [{"type": kind, "path": [NAME], "message": message}]})
