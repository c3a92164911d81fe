"""What every part of the REST API works with: the state, and how to say no."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.forges.local.repos import Repos
from bot.forges.local.shapes import Shapes
from bot.forges.local.state import Issue, Repository, State, User

R = "/repos/{owner}/{name}"
TEXT_LENGTH = 65_536  # of a comment or a description
LARGEST_PAGE = 100
Emit = Callable[[str, str, Repository, User, Mapping[str, Any]], None]
Handler = Callable[["Call"], Awaitable[Response]]
Rows = list[tuple[str, str, Handler]]


class Problem(Exception):
    """An answer that says no."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}

    def answer(self) -> Response:
        """Return it as GitHub writes it."""
        shown = {"message": str(self), "documentation_url": "https://docs.github.com/rest", "status": str(self.status)}
        return JSONResponse(shown, self.status, dict(self.headers))


@dataclass(frozen=True, slots=True)
class Desk:
    """The state, its repositories on disk, its JSON; `emit` sends the webhooks that a change causes."""

    state: State
    repos: Repos
    shapes: Shapes
    emit: Emit
    app_id: int
    now: Callable[[], float]

    def told(self) -> None:
        """Wake who waits for a change."""
        with self.state.changed:
            self.state.changed.notify_all()


@dataclass(frozen=True, slots=True)
class Call:
    """One request, with the repository it is about, who asks, and its body."""

    request: Request
    repo: Repository
    user: User
    body: Any

    @property
    def path(self) -> dict[str, Any]:
        """Return the parts of the path."""
        return self.request.path_params

    @property
    def query(self) -> Mapping[str, str]:
        """Return the query."""
        return self.request.query_params

    def issue(self) -> Issue:
        """Return the issue or pull request that the path names."""
        found = self.repo.issues.get(self.path["n"])
        if found is None:
            raise Problem(404, "Not Found")
        return found

    def pull(self) -> Issue:
        """Return the pull request that the path names."""
        found = self.issue()
        if found.head is None:
            raise Problem(404, "Not Found")
        return found

    def text(self) -> str:
        """Return the body's text, if it is not too long."""
        text = str(self.body.get("body") or "")
        if len(text) > TEXT_LENGTH:
            raise Problem(422, f"Validation Failed: body is too long (maximum is {TEXT_LENGTH} characters)")
        return text

    def page(self, found: Sequence[Any], *, under: str = "") -> Response:
        """Return the part of a list that the query asks for, with a link to the next."""
        size = min(int(self.query.get("per_page", 30)), LARGEST_PAGE)
        number = int(self.query.get("page", 1))
        part = list(found[(number - 1) * size : number * size])
        headers = {}
        if number * size < len(found):
            after = self.request.url.include_query_params(page=number + 1)
            numbered = str(after).replace(f"/repos/{self.repo.full_name}/", f"/repositories/{self.repo.id}/")
            headers["link"] = f'<{numbered}>; rel="next"'
        shown: Any = {"total_count": len(found), under: part} if under else part
        return JSONResponse(shown, headers=headers)


async def read_body(request: Request) -> Any:
    """Return a request's JSON; an empty one is an empty object."""
    raw = await request.body()
    try:
        return json.loads(raw) if raw else {}
    except ValueError as error:
        raise Problem(400, "Problems parsing JSON") from error


def bearer(request: Request) -> str:
    """Return the token that a request carries."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    return value if kind.lower() in ("bearer", "token") else ""
