"""Small pages to look at the local forge: repositories, issues, pull requests with their difference and checks."""

from pathlib import Path
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.forges.local.markdown import render_markdown
from bot.forges.local.repos import Repos
from bot.forges.local.state import Repository, State

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True,
    undefined=jinja2.StrictUndefined,
)  # fmt: skip
_TEMPLATES.filters["markdown"] = render_markdown


class Pages:
    """Renders what the state holds."""

    def __init__(self, state: State, repos: Repos) -> None:
        self._state = state
        self._repos = repos

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        return [
            Route("/", self.index),
            Route("/{owner}/{name}", self.repository),
            Route("/{owner}/{name}/issues/{n:int}", self.issue),
            Route("/{owner}/{name}/pull/{n:int}", self.pull),
            Route("/{owner}/{name}/tree/{branch:path}", self.tree),
        ]

    async def index(self, _request: Request) -> Response:
        """List the repositories."""
        return _page("index.html", repositories=list(self._state.repositories.values()))

    async def repository(self, request: Request) -> Response:
        """List a repository's issues and pull requests."""
        repo = self._find(request)
        return _missing() if repo is None else _page("repository.html", repo=repo, issues=list(repo.issues.values()))

    async def issue(self, request: Request) -> Response:
        """Show an issue with its comments."""
        repo = self._find(request)
        issue = None if repo is None else repo.issues.get(request.path_params["n"])
        if repo is None or issue is None:
            return _missing()
        return _page("issue.html", repo=repo, issue=issue, comments=repo.on(issue.number))

    async def pull(self, request: Request) -> Response:
        """Show a pull request with its difference and its checks."""
        repo = self._find(request)
        pull = None if repo is None else repo.issues.get(request.path_params["n"])
        if repo is None or pull is None or pull.head is None:
            return _missing()
        head = await self._repos.sha(repo.full_name, pull.head) or ""
        base = f"{pull.merged_sha}^1" if pull.merged_sha else f"refs/heads/{pull.base}"
        diff = await self._repos.diff(repo.full_name, base, head) if head else ""
        checks = [c for c in repo.checks.values() if c.head_sha == head]
        comments = repo.on(pull.number)
        return _page("pull.html", repo=repo, issue=pull, diff=_lines(diff), checks=checks, comments=comments, head=head)

    async def tree(self, request: Request) -> Response:
        """List the files of a branch."""
        repo, branch = self._find(request), request.path_params["branch"]
        sha = None if repo is None else await self._repos.sha(repo.full_name, branch)
        if repo is None or sha is None:
            return _missing()
        files = await self._repos.files(repo.full_name, sha)
        return _page("tree.html", repo=repo, branch=branch, sha=sha, files=files)

    def _find(self, request: Request) -> Repository | None:
        return self._state.repositories.get(f"{request.path_params['owner']}/{request.path_params['name']}")


def _lines(diff: str) -> list[tuple[str, str]]:
    tones = {"+": "added", "-": "removed", "@": "place"}
    return [
        ("file" if line.startswith(("diff ", "index ", "--- ", "+++ ")) else tones.get(line[:1], ""), line)
        for line in diff.splitlines()
    ]


def _page(name: str, **values: Any) -> Response:
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    text = _TEMPLATES.get_template(name).render(**values)
    return HTMLResponse(text, headers={"content-security-policy": policy})


def _missing() -> Response:
    return PlainTextResponse("Not found. All repositories: /", 404)
