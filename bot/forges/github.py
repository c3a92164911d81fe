"""The client of GitHub's REST API: thin, typed, and careful about what may be asked twice."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from bot.forges.answers import (
    CheckRun,
    CheckRuns,
    Comment,
    Delivery,
    HeadMoved,
    Issue,
    Merged,
    NotMergeable,
    Pull,
)
from bot.forges.auth import App, Credentials, Personal, Tokens
from bot.forges.errors import ForgeError, RateLimited, Refused, Unreachable

T = TypeVar("T")
TRIES = 3
PAGE = 100
MOST_PAGES = 30
SECONDARY_S = 60.0  # the least to wait after a secondary limit that names no time
API_VERSION = "2022-11-28"


class GitHub:
    """One forge, many repositories; `repo` is always OWNER/NAME."""

    def __init__(
        self, http: httpx.AsyncClient, *, api_url: str, app: App | None, token: str | None, now: Callable[[], float]
    ) -> None:
        self._http = http
        self._api_url = api_url.rstrip("/")
        self._app = app
        self._now = now
        self._credentials: Credentials = (
            Tokens(app, http, self._api_url, now) if app is not None else Personal(token or "")
        )

    # issues, labels, comments

    async def issue(self, repo: str, number: int) -> Issue:
        """Return an issue."""
        return await self._get(repo, f"/issues/{number}", Issue)

    async def labelled_issues(self, repo: str, label: str) -> list[Issue]:
        """Return the open issues that carry a label."""
        found = await self._pages(repo, f"/issues?state=open&labels={quote(label, safe='')}", list[Issue])
        return [issue for page in found for issue in page if issue.pull_request is None]

    async def add_labels(self, repo: str, number: int, labels: Sequence[str]) -> None:
        """Put labels on an issue; those it has already stay."""
        await self._send(repo, "POST", f"/issues/{number}/labels", {"labels": list(labels)}, safe=True)

    async def remove_label(self, repo: str, number: int, label: str) -> None:
        """Take a label off; one that is not there is fine."""
        await self._send(repo, "DELETE", f"/issues/{number}/labels/{quote(label, safe='')}", safe=True, fine=(404, 410))

    async def find_comment(self, repo: str, number: int, marker: str) -> Comment | None:
        """Return the first comment whose text holds the marker."""
        for page in await self._pages(repo, f"/issues/{number}/comments?", list[Comment]):
            for comment in page:
                if marker in (comment.body or ""):
                    return comment
        return None

    async def create_comment(self, repo: str, number: int, body: str) -> Comment:
        """Write a comment."""
        return await self._make(repo, f"/issues/{number}/comments", {"body": body}, Comment)

    async def update_comment(self, repo: str, comment: int, body: str) -> Comment | None:
        """Edit a comment; None where it was deleted."""
        answer = await self._send(
            repo, "PATCH", f"/issues/comments/{comment}", {"body": body}, safe=True, fine=(404, 410)
        )
        return None if answer.status_code in (404, 410) else _read(answer, Comment)

    async def react(self, repo: str, comment: int, content: str) -> None:
        """React to a comment; reacting twice is once."""
        await self._send(repo, "POST", f"/issues/comments/{comment}/reactions", {"content": content}, safe=True)

    # people

    async def permission(self, repo: str, login: str) -> str:
        """Return the role of a person in a repository: none, read, triage, write, maintain, admin, or a custom name."""
        answer = await self._send(
            repo, "GET", f"/collaborators/{quote(login, safe='')}/permission", safe=True, fine=(404,)
        )
        if answer.status_code == 404:
            return "none"
        found = answer.json()
        return str(found.get("role_name") or found.get("permission") or "none")

    # check runs

    async def find_check_run(self, repo: str, sha: str, name: str, *, external_id: str) -> CheckRun | None:
        """Return our check run of a commit."""
        path = f"/commits/{sha}/check-runs?check_name={quote(name, safe='')}&filter=latest"
        for page in await self._pages(repo, path, CheckRuns):
            for run in page.check_runs:
                if run.external_id == external_id:
                    return run
        return None

    async def create_check_run(self, repo: str, **fields: Any) -> CheckRun:
        """Write a check run; fields as in GitHub's documentation."""
        return await self._make(repo, "/check-runs", fields, CheckRun)

    async def update_check_run(self, repo: str, run: int, **fields: Any) -> CheckRun:
        """Change a check run."""
        return _read(await self._send(repo, "PATCH", f"/check-runs/{run}", fields, safe=True), CheckRun)

    # pull requests

    async def pull(self, repo: str, number: int) -> Pull:
        """Return a pull request."""
        return await self._get(repo, f"/pulls/{number}", Pull)

    async def find_pull(self, repo: str, branch: str) -> Pull | None:
        """Return the open pull request of a branch of the same repository."""
        head = quote(f"{repo.split('/', 1)[0]}:{branch}", safe="")
        answer = await self._send(repo, "GET", f"/pulls?state=open&head={head}&per_page=1", safe=True)
        found = _read(answer, list[Pull])
        return found[0] if found else None

    async def open_pull(self, repo: str, *, head: str, base: str, title: str, body: str, draft: bool = False) -> Pull:
        """Open a pull request."""
        fields = {"head": head, "base": base, "title": title, "body": body, "draft": draft}
        return await self._make(repo, "/pulls", fields, Pull)

    async def update_pull(self, repo: str, number: int, **fields: Any) -> Pull:
        """Change title, body or state of a pull request."""
        return _read(await self._send(repo, "PATCH", f"/pulls/{number}", fields, safe=True), Pull)

    async def merge_pull(self, repo: str, number: int, *, sha: str, method: str) -> Merged | HeadMoved | NotMergeable:
        """Merge a pull request if its head is `sha`; after an unclear failure look first, never merge blindly."""
        fields = {"sha": sha, "merge_method": method}
        try:
            answer = await self._send(repo, "PUT", f"/pulls/{number}/merge", fields, fine=(403, 404, 405, 409, 422))
        except Unreachable:
            if (await self.pull(repo, number)).merged:
                return Merged()
            raise
        if answer.status_code == 200:
            return _read(answer, Merged)
        if answer.status_code == 409:
            return HeadMoved()
        return NotMergeable(_message(answer))

    # git

    async def default_branch(self, repo: str) -> str:
        """Return the name of the default branch."""
        answer = await self._send(repo, "GET", "", safe=True)
        return str(answer.json()["default_branch"])

    async def branch_sha(self, repo: str, branch: str) -> str | None:
        """Return the commit of a branch; None where there is no such branch."""
        path = f"/git/ref/heads/{quote(branch)}"
        answer = await self._send(repo, "GET", path, safe=True, fine=(404, 409))
        return str(answer.json()["object"]["sha"]) if answer.status_code == 200 else None

    async def file(self, repo: str, path: str, ref: str) -> bytes | None:
        """Return the bytes of a file at a commit; None where it has none."""
        answer = await self._send(
            repo, "GET", f"/contents/{quote(path)}?ref={quote(ref, safe='')}", safe=True, fine=(404,),
            accept="application/vnd.github.raw+json",
        )  # fmt: skip
        return answer.content if answer.status_code == 200 else None

    async def git_token(self, repo: str) -> str:
        """Return a token for git over HTTP."""
        return await self._credentials.get(repo)

    # the App's own

    async def deliveries(self, *, since_page: int = MOST_PAGES) -> list[Delivery]:
        """Return the App's latest webhook deliveries, newest first."""
        found: list[Delivery] = []
        path = f"/app/hook/deliveries?per_page={PAGE}"
        for _ in range(since_page):
            answer = await self._as_app("GET", path)
            found += _read(answer, list[Delivery])
            after = answer.links.get("next", {}).get("url")
            if not after:
                break
            path = after.removeprefix(self._api_url)
        return found

    async def redeliver(self, delivery: int) -> None:
        """Ask the forge to deliver once more."""
        await self._as_app("POST", f"/app/hook/deliveries/{delivery}/attempts")

    async def delivery_payload(self, delivery: int) -> dict[str, Any]:
        """Return headers and payload of a delivery."""
        found: dict[str, Any] = (await self._as_app("GET", f"/app/hook/deliveries/{delivery}")).json()
        return found

    # how it is asked

    async def _get(self, repo: str, path: str, kind: type[T]) -> T:
        return _read(await self._send(repo, "GET", path, safe=True), kind)

    async def _make(self, repo: str, path: str, fields: Mapping[str, Any], kind: type[T]) -> T:
        return _read(await self._send(repo, "POST", path, fields), kind)

    async def _pages(self, repo: str, path: str, kind: type[T]) -> list[T]:
        pages: list[T] = []
        path = f"{path}{'' if path.endswith('?') else '&'}per_page={PAGE}"
        for _ in range(MOST_PAGES):
            answer = await self._send(repo, "GET", path, safe=True)
            pages.append(_read(answer, kind))
            after = answer.links.get("next", {}).get("url")
            if not after:
                break
            path = after.removeprefix(f"{self._api_url}/repos/{repo}")
        return pages

    async def _send(
        self,
        repo: str,
        method: str,
        path: str,
        fields: Mapping[str, Any] | None = None,
        *,
        safe: bool = False,
        fine: Sequence[int] = (),
        accept: str = "application/vnd.github+json",
    ) -> httpx.Response:
        """Ask; what is `safe` to ask twice is asked again after a passing fault, all else once."""
        renewed = False
        for attempt in range(1, TRIES + 1):
            token = await self._credentials.get(repo)
            try:
                answer = await self._ask(method, f"/repos/{repo}{path}", token, fields, accept)
            except Unreachable:
                if not safe or attempt == TRIES:
                    raise
                await self._pause(attempt)
                continue
            if answer.status_code == 401 and not renewed:
                self._credentials.forget(repo, token)  # revoked, or the App was suspended: one new token tells
                renewed = True
                continue
            if answer.status_code in (500, 502, 503, 504):
                if not safe or attempt == TRIES:
                    raise Unreachable(f"{method} {path}: the forge answered {answer.status_code}")
                await self._pause(attempt)
                continue
            taken = answer.status_code < 400 or answer.status_code in fine
            if taken and not (answer.status_code in (403, 429) and _limited(answer)):
                return answer
            raise self._refusal(method, path, answer)
        raise Unreachable(f"{method} {path}: no answer after {TRIES} tries")

    async def _as_app(self, method: str, path: str) -> httpx.Response:
        if self._app is None:
            raise Refused(403, "this needs the App; a personal token cannot do it")
        answer = await self._ask(method, path, self._app.jwt(self._now()), None, "application/vnd.github+json")
        if answer.status_code >= 400:
            raise self._refusal(method, path, answer)
        return answer

    async def _ask(
        self, method: str, path: str, token: str, fields: Mapping[str, Any] | None, accept: str
    ) -> httpx.Response:
        headers = {
            "authorization": f"Bearer {token}", "accept": accept, "x-github-api-version": API_VERSION,
            "user-agent": "sluice",
        }  # fmt: skip
        try:
            return await self._http.request(method, self._api_url + path, headers=headers, json=fields)
        except httpx.HTTPError as error:
            raise Unreachable(f"{method} {path}: {type(error).__name__}: {error}") from error

    async def _pause(self, attempt: int) -> None:
        await asyncio.sleep(0.2 * 2**attempt * random.uniform(0.5, 1.0))  # noqa: S311 jitter

    def _refusal(self, method: str, path: str, answer: httpx.Response) -> ForgeError:
        message = f"{method} {path}: {_message(answer)}"
        if answer.status_code == 429 or (answer.status_code == 403 and _limited(answer)):
            return RateLimited(_until(answer, self._now()), message)
        needed = answer.headers.get("x-accepted-github-permissions")
        if answer.status_code == 403 and needed:
            message += f" (needs the permission {needed}; its installer has to accept it)"
        return Refused(answer.status_code, message)


def _read(answer: httpx.Response, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(answer.content, type=kind)
    except msgspec.DecodeError as error:
        raise Unreachable(
            f"{answer.request.method} {answer.request.url.path}: not what was expected: {error}"
        ) from error


def _message(answer: httpx.Response) -> str:
    try:
        found = answer.json()
        details = "; ".join(
            str(e.get("message") or e) if isinstance(e, dict) else str(e) for e in found.get("errors", [])
        )
        return f"{found.get('message', '')}{': ' + details if details else ''}"[:500]
    except (ValueError, AttributeError):
        return answer.text[:200]


def _limited(answer: httpx.Response) -> bool:
    """Tell a limit from a missing permission: both answer 403."""
    headers = answer.headers
    return (
        "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or "rate limit" in _message(answer).lower()
    )


def _until(answer: httpx.Response, now: float) -> float:
    after = answer.headers.get("retry-after", "")
    if after.isdecimal():
        return now + int(after)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(float(reset), now + 1.0)
    return now + SECONDARY_S
