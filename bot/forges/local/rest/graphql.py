"""What of GitHub's GraphQL API has no place in REST: a merge that waits for its checks, and that it waits no more."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.forges.local.rest.desk import Desk, Problem, bearer, read_body
from bot.forges.local.rest.pulls import Pulls
from bot.forges.local.state import Issue, Repository, User

LATER, NOT_LATER = "enablePullRequestAutoMerge", "disablePullRequestAutoMerge"


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
        who = None if found is None else self._who(bearer(request), found[0].full_name)
        if found is None or who is None:
            return Problem(401, "Bad credentials").answer()
        repo, pull = found
        name = next((name for name in (LATER, NOT_LATER) if name in str(body.get("query"))), "")
        match name:
            case "":
                return _no("", "INVALID", "only two mutations are known here")
            case name if name == NOT_LATER:
                why = self._pulls.merge_not_later(pull)
            case _:
                head, method = str(asked.get("head")), str(asked.get("method")).lower()
                why = await self._pulls.merge_later(repo, pull, head, method, who)
        return _no(name, "UNPROCESSABLE", why) if why else JSONResponse(
            {"data": {name: {"pullRequest": {"number": pull.number}}}}
        )  # fmt: skip

    def _find(self, node: str) -> tuple[Repository, Issue] | None:
        for repo in self._desk.state.repositories.values():
            for pull in repo.issues.values():
                if node == f"PR_{repo.id}_{pull.number}":
                    return repo, pull
        return None


def _no(name: str, kind: str, message: str) -> Response:
    return JSONResponse({"data": {name: None}, "errors": [{"type": kind, "path": [name], "message": message}]})
