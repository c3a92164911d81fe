"""Which operation answers a request, and who may ask it."""

import hashlib
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.forges.local.hooks import Hooks
from bot.forges.local.rest.app import Apps
from bot.forges.local.rest.checks import Checks
from bot.forges.local.rest.contents import Contents
from bot.forges.local.rest.desk import Call, Desk, Handler, Problem, R, Rows, bearer, read_body
from bot.forges.local.rest.graphql import GraphQL
from bot.forges.local.rest.issues import Issues
from bot.forges.local.rest.pulls import Pulls
from bot.forges.local.rest.repo_hooks import RepoHooks
from bot.forges.local.state import Repository, User

BOT = "sluice[bot]"
WRITERS = ("write", "maintain", "admin")


class Api:
    """The whole of the API below /api."""

    def __init__(self, desk: Desk, public_key: str, hooks: Hooks) -> None:
        self._desk, self._state = desk, desk.state
        self._apps = Apps(desk, public_key, hooks.again)
        self.pulls = Pulls(desk)
        self._rows: Rows = [
            *Issues(desk).rows(), *self.pulls.rows(), *Checks(desk, self.pulls.merge_what_waits).rows(),
            *Contents(desk).rows(),
            *RepoHooks(desk, hooks.send).rows(),
        ]  # fmt: skip

    def routes(self) -> list[Route]:
        """Return the routes."""
        routes = []
        for method, path, handler in self._rows:
            answer = self._guarded(handler, path)  # links to a next page name the repository by its number
            numbered = path.replace(R, "/repositories/{number:int}")
            routes += [Route(path, answer, methods=[method]), Route(numbered, answer, methods=[method])]
        own = [
            Route("/user", self._myself), Route("/users/{login}", self._user),
            Route("/installation/repositories", self._reached),
        ]  # fmt: skip
        return [*routes, *own, *self._apps.routes(), *GraphQL(self._desk, self.pulls, self.who).routes()]

    def may(self, token: str, full_name: str, write: bool) -> bool:
        """Return whether a token may read or write a repository's git."""
        user = self.who(token, full_name)
        if user is None:
            return False
        granted = self._granted(token, "contents")
        return not write or (granted == "write" and self._can_write(user, self._state.repositories[full_name]))

    def may_change_workflows(self, token: str) -> bool:
        """Return whether a token may write below .github/workflows."""
        return self._granted(token, "workflows") == "write"

    def who(self, token: str, full_name: str) -> User | None:
        """Return whose token this is, if it reaches the repository."""
        if token in self._state.personal:
            return self._state.personal[token]
        found = self._state.tokens.get(token)
        reaches = found is not None and full_name in found.repositories and self._desk.now() < found.ends_at
        return self._state.user(BOT) if reaches else None

    def _granted(self, token: str, permission: str) -> str:
        found = self._state.tokens.get(token)
        return "write" if found is None else found.permissions.get(permission, "")

    def _can_write(self, user: User, repo: Repository) -> bool:
        return user.type == "Bot" or repo.roles.get(user.login) in WRITERS

    def _guarded(self, handler: Handler, path: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            full_name = self._named(request)
            try:
                repo = self._state.repositories.get(full_name)
                user = self.who(bearer(request), full_name)
                if user is None or repo is None:
                    raise Problem(401 if repo else 404, "Bad credentials" if repo else "Not Found")
                self._allow(request, path, user, repo)
                return _unless_known(request, await handler(Call(request, repo, user, await read_body(request))))
            except Problem as problem:
                return problem.answer()

        return answer

    async def _myself(self, request: Request) -> Response:
        user = self._state.personal.get(bearer(request))
        if user is None:
            return Problem(403, "Resource not accessible by integration").answer()
        return JSONResponse(self._desk.shapes.private_user(user))

    async def _user(self, request: Request) -> Response:
        login = request.path_params["login"]
        user = self._state.user(BOT) if login == BOT else self._state.users.get(login)
        if user is None:
            return Problem(404, "Not Found").answer()
        return JSONResponse(self._desk.shapes.private_user(user))

    async def _reached(self, request: Request) -> Response:
        token = self._state.tokens.get(bearer(request))
        if token is None or self._desk.now() >= token.ends_at:
            return Problem(401, "Bad credentials").answer()
        found = [r for r in self._state.repositories.values() if r.full_name in token.repositories]
        shown = [self._desk.shapes.repository(repo) for repo in found]
        return JSONResponse({"total_count": len(shown), "repositories": shown})

    def _named(self, request: Request) -> str:
        if "number" not in request.path_params:
            return f"{request.path_params['owner']}/{request.path_params['name']}"
        number = request.path_params["number"]
        return next((r.full_name for r in self._state.repositories.values() if r.id == number), "")

    def _allow(self, request: Request, path: str, user: User, repo: Repository) -> None:
        """Refuse what the token's permissions do not cover, as GitHub does, naming what would."""
        wanted, level = _needed(path), "read" if request.method == "GET" else "write"
        granted = [self._granted(bearer(request), name) for name in wanted]
        if not any(has == "write" or has == level for has in granted):
            needed = "; ".join(f"{name}={level}" for name in wanted)
            raise Problem(403, "Resource not accessible by integration", {"x-accepted-github-permissions": needed})
        if level == "write" and not self._can_write(user, repo):
            raise Problem(403, "Must have push access to repository")


def _needed(path: str) -> tuple[str, ...]:
    rest = path.split("{name}", 1)[1]
    if rest.startswith("/hooks"):
        return ("repository_hooks",)
    if "check-" in rest:
        return ("checks",)
    if rest.endswith("/merge") or rest.startswith(("/contents", "/git")):
        return ("contents",)
    if rest.startswith("/statuses"):
        return ("statuses",)
    if rest.startswith("/pulls"):
        return ("pull_requests",)
    if rest.startswith("/issues"):
        return ("issues", "pull_requests")
    return ("metadata",)


def _unless_known(request: Request, answer: Response) -> Response:
    """Answer 304 to a conditional request for what has not changed."""
    if request.method != "GET" or answer.status_code != 200:
        return answer
    tag = f'W/"{hashlib.sha256(bytes(answer.body)).hexdigest()}"'
    answer.headers["etag"] = tag
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return answer
