"""The REST API of the local forge: the operations that the bot uses, with GitHub's rules and status codes."""

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.forges.local.repos import Conflict, Repos
from bot.forges.local.shapes import Shapes
from bot.forges.local.state import CheckRun, Comment, Issue, Repository, State, User

TOKEN_S = 3600
COMMENT_LENGTH = 65_536
OUTPUT_LENGTH = 65_535
ANNOTATIONS = 50
CONCLUSIONS = frozenset(
    {"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale"}
)
Handler = Callable[[Request, Repository, User, dict[str, Any]], Awaitable[Response]]
Emit = Callable[[str, str, Repository, User, Mapping[str, Any]], None]


class Problem(Exception):
    """An answer that says no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """Answers for one state; `emit` sends the webhooks that a change causes."""

    def __init__(self, state: State, repos: Repos, shapes: Shapes, emit: Emit, *, app_id: int, public_key: str,
                 now: Callable[[], float]) -> None:  # fmt: skip
        self._state, self._repos, self._shapes, self._emit = state, repos, shapes, emit
        self._app_id, self._public_key, self._now = app_id, public_key, now
        self.personal: dict[str, User] = {}  # personal tokens

    def routes(self) -> list[Route]:
        """Return the routes below /api."""
        r = "/repos/{owner}/{name}"
        table: list[tuple[str, str, Handler]] = [
            ("GET", r, self._repository),
            ("GET", f"{r}/issues", self._issues),
            ("GET", f"{r}/issues/{{n:int}}", self._issue),
            ("POST", f"{r}/issues/{{n:int}}/labels", self._add_labels),
            ("DELETE", f"{r}/issues/{{n:int}}/labels/{{label}}", self._remove_label),
            ("GET", f"{r}/issues/{{n:int}}/comments", self._comments),
            ("POST", f"{r}/issues/{{n:int}}/comments", self._comment),
            ("PATCH", f"{r}/issues/comments/{{id:int}}", self._edit_comment),
            ("DELETE", f"{r}/issues/comments/{{id:int}}", self._delete_comment),
            ("POST", f"{r}/issues/comments/{{id:int}}/reactions", self._react),
            ("GET", f"{r}/collaborators/{{login}}/permission", self._permission),
            ("GET", f"{r}/pulls", self._pulls),
            ("POST", f"{r}/pulls", self._open_pull),
            ("GET", f"{r}/pulls/{{n:int}}", self._pull),
            ("PATCH", f"{r}/pulls/{{n:int}}", self._edit_pull),
            ("PUT", f"{r}/pulls/{{n:int}}/merge", self._merge),
            ("POST", f"{r}/check-runs", self._create_check),
            ("PATCH", f"{r}/check-runs/{{id:int}}", self._update_check),
            ("GET", f"{r}/commits/{{ref}}/check-runs", self._checks),
            ("POST", f"{r}/statuses/{{sha}}", self._status),
            ("GET", f"{r}/git/ref/heads/{{branch:path}}", self._ref),
            ("GET", f"{r}/contents/{{path:path}}", self._contents),
        ]
        routes = [Route(path, self._guarded(handler), methods=[method]) for method, path, handler in table]
        app: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", f"{r}/installation", self._installation),
            ("POST", "/app/installations/{id:int}/access_tokens", self._mint),
            ("GET", "/app", self._app),
            ("GET", "/app/hook/deliveries", self._deliveries),
            ("GET", "/app/hook/deliveries/{id:int}", self._delivery),
            ("POST", "/app/hook/deliveries/{id:int}/attempts", self._redeliver),
        ]
        return routes + [Route(path, self._for_app(handler), methods=[method]) for method, path, handler in app]

    redeliver: Callable[[int], bool] = staticmethod(lambda _: False)

    def may(self, token: str, full_name: str, write: bool) -> bool:
        """Return whether a token may read or write a repository's git."""
        user = self._who(token, full_name)
        return user is not None and (not write or self._can_write(user, self._state.repositories[full_name]))

    # who is asking

    def _who(self, token: str, full_name: str) -> User | None:
        if token in self.personal:
            return self.personal[token]
        repository, ends_at = self._state.tokens.get(token, ("", 0.0))
        return self._bot() if repository == full_name and self._now() < ends_at else None

    def _bot(self) -> User:
        return self._state.user("sluice[bot]")

    def _can_write(self, user: User, repo: Repository) -> bool:
        return user.type == "Bot" or repo.roles.get(user.login) in ("write", "maintain", "admin")

    def _guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            full_name = f"{request.path_params['owner']}/{request.path_params['name']}"
            try:
                repo = self._state.repositories.get(full_name)
                user = self._who(_bearer(request), full_name)
                if user is None:
                    raise Problem(401 if repo else 404, "Bad credentials" if repo else "Not Found")
                if repo is None:
                    raise Problem(404, "Not Found")
                if request.method != "GET" and not self._can_write(user, repo):
                    raise Problem(403, "Resource not accessible by integration")
                return await handler(request, repo, user, await _body(request))
            except Problem as problem:
                return _refusal(problem)

        return answer

    def _for_app(self, handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                try:
                    said = jwt.decode(_bearer(request), self._public_key, algorithms=["RS256"])
                except jwt.InvalidTokenError as error:
                    raise Problem(401, f"A JSON web token could not be decoded: {error}") from error
                if str(said.get("iss")) != str(self._app_id) or said["exp"] - said.get("iat", 0) > 660:
                    raise Problem(401, "'Expiration time' claim ('exp') is too far in the future")
                return await handler(request)
            except Problem as problem:
                return _refusal(problem)

        return answer

    # the App

    async def _app(self, _request: Request) -> Response:
        return JSONResponse({"id": self._app_id, "slug": "sluice", "name": "Sluice", "permissions": {}, "events": []})

    async def _installation(self, request: Request) -> Response:
        if f"{request.path_params['owner']}/{request.path_params['name']}" not in self._state.repositories:
            raise Problem(404, "Not Found")
        return JSONResponse({"id": 1, "app_id": self._app_id, "repository_selection": "all"})

    async def _mint(self, request: Request) -> Response:
        names = (await _body(request)).get("repositories") or []
        known = {full.split("/", 1)[1]: full for full in self._state.repositories}
        if len(names) != 1 or names[0] not in known:
            raise Problem(422, "There is at least one repository that does not exist or is not accessible")
        token = f"ghs_{secrets.token_hex(18)}"
        ends_at = self._now() + TOKEN_S
        self._state.tokens[token] = (known[names[0]], ends_at)
        permissions = {"contents": "write", "issues": "write", "pull_requests": "write", "checks": "write"}
        return JSONResponse(
            {"token": token, "expires_at": self._state.stamp(ends_at), "permissions": permissions,
             "repository_selection": "selected"}, 201,
        )  # fmt: skip

    async def _deliveries(self, _request: Request) -> Response:
        return JSONResponse([self._shapes.delivery(d) for d in reversed(self._state.deliveries[-100:])])

    async def _delivery(self, request: Request) -> Response:
        for delivery in self._state.deliveries:
            if delivery.id == request.path_params["id"]:
                payload = json.loads(delivery.payload)
                headers = {"X-GitHub-Event": delivery.event, "X-GitHub-Delivery": delivery.guid}
                return JSONResponse({
                    **self._shapes.delivery(delivery), "url": "", "request": {"headers": headers, "payload": payload},
                    "response": {"headers": {}, "payload": ""},
                })  # fmt: skip
        raise Problem(404, "Not Found")

    async def _redeliver(self, request: Request) -> Response:
        if not self.redeliver(request.path_params["id"]):
            raise Problem(404, "Not Found")
        return JSONResponse({}, 202)

    # issues

    async def _repository(self, _r: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        return JSONResponse(self._shapes.repository(repo))

    async def _issues(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        labels = {name for name in request.query_params.get("labels", "").split(",") if name}
        state = request.query_params.get("state", "open")
        found = [i for i in repo.issues.values() if state in ("all", i.state) and labels <= set(i.labels)]
        return JSONResponse([self._shapes.issue(repo, i) for i in reversed(found)])

    async def _issue(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        return JSONResponse(self._shapes.issue(repo, _one(repo, request)))

    async def _add_labels(self, request: Request, repo: Repository, user: User, body: dict[str, Any]) -> Response:
        issue = _one(repo, request)
        for name in body.get("labels", []):
            if name not in issue.labels:
                issue.labels.append(name)
                self._emit("issues", "labeled", repo, user, {"issue": issue, "label": name})
        return JSONResponse([self._shapes.label(name) for name in issue.labels])

    async def _remove_label(self, request: Request, repo: Repository, user: User, _b: dict[str, Any]) -> Response:
        issue, name = _one(repo, request), request.path_params["label"]
        if name not in issue.labels:
            raise Problem(404, "Label does not exist")
        issue.labels.remove(name)
        self._emit("issues", "unlabeled", repo, user, {"issue": issue, "label": name})
        return JSONResponse([self._shapes.label(name) for name in issue.labels])

    async def _comments(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        found = [self._shapes.comment(repo, c) for c in repo.on(_one(repo, request).number)]
        return _page(request, found)

    async def _comment(self, request: Request, repo: Repository, user: User, body: dict[str, Any]) -> Response:
        issue = _one(repo, request)
        comment = Comment(self._state.number(), issue.number, user, _text(body, COMMENT_LENGTH), self._state.stamp())
        repo.comments[comment.id] = comment
        self._emit("issue_comment", "created", repo, user, {"issue": issue, "comment": comment})
        return JSONResponse(self._shapes.comment(repo, comment), 201)

    async def _edit_comment(self, request: Request, repo: Repository, user: User, body: dict[str, Any]) -> Response:
        comment = repo.comments.get(request.path_params["id"])
        if comment is None:
            raise Problem(404, "Not Found")
        comment.body = _text(body, COMMENT_LENGTH)
        self._emit("issue_comment", "edited", repo, user, {"issue": repo.issues[comment.issue], "comment": comment})
        return JSONResponse(self._shapes.comment(repo, comment))

    async def _delete_comment(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        if repo.comments.pop(request.path_params["id"], None) is None:
            raise Problem(404, "Not Found")
        return Response(status_code=204)

    async def _react(self, request: Request, repo: Repository, user: User, body: dict[str, Any]) -> Response:
        comment = repo.comments.get(request.path_params["id"])
        if comment is None:
            raise Problem(404, "Not Found")
        content = str(body.get("content"))
        if content not in ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"):
            raise Problem(422, "Validation Failed")
        if (user.login, content) not in comment.reactions:
            comment.reactions.append((user.login, content))
        return JSONResponse({"id": comment.id, "node_id": "R", "user": self._shapes.user(user), "content": content,
                             "created_at": self._state.stamp()}, 201)  # fmt: skip

    async def _permission(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        login = request.path_params["login"]
        if login not in self._state.users:
            raise Problem(404, f"{login} is not a user")
        role = repo.roles.get(login, "read")
        legacy = {"maintain": "write", "triage": "read"}.get(role, role)
        user = {**self._shapes.user(self._state.users[login]), "role_name": role}
        return JSONResponse({"permission": legacy, "role_name": role, "user": user})

    # pull requests

    async def _pulls(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        head = request.query_params.get("head", "").partition(":")[2]
        state = request.query_params.get("state", "open")
        found = [
            i for i in repo.issues.values()
            if i.head is not None and state in ("all", i.state) and (not head or i.head == head)
        ]  # fmt: skip
        return JSONResponse([await self._show(repo, pull) for pull in found])

    async def _open_pull(self, _r: Request, repo: Repository, user: User, body: dict[str, Any]) -> Response:
        head, base = str(body.get("head", "")), str(body.get("base", ""))
        head_sha, base_sha = await self._ends(repo, head, base)
        if head_sha is None or base_sha is None:
            raise Problem(422, f"Validation Failed: {'head' if head_sha is None else 'base'} invalid")
        if head_sha == base_sha:
            raise Problem(422, f"Validation Failed: No commits between {base} and {head}")
        if any(i.head == head and i.state == "open" for i in repo.issues.values()):
            raise Problem(422, f"Validation Failed: A pull request already exists for {head}.")
        number = max(repo.issues, default=0) + 1
        pull = Issue(
            number, str(body["title"]), _text(body, COMMENT_LENGTH), user, self._state.stamp(), head=head, base=base,
            draft=bool(body.get("draft")),
        )  # fmt: skip
        repo.issues[number] = pull
        shown = await self._show(repo, pull)
        self._emit("pull_request", "opened", repo, user, {"number": number, "pull_request": shown})
        return JSONResponse(shown, 201)

    async def _pull(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        return JSONResponse(await self._show(repo, _one_pull(repo, request)))

    async def _edit_pull(self, request: Request, repo: Repository, _u: User, body: dict[str, Any]) -> Response:
        pull = _one_pull(repo, request)
        pull.title = str(body.get("title", pull.title))
        pull.body = str(body.get("body", pull.body))
        pull.state = str(body.get("state", pull.state))
        return JSONResponse(await self._show(repo, pull))

    async def _merge(self, request: Request, repo: Repository, user: User, body: dict[str, Any]) -> Response:
        pull = _one_pull(repo, request)
        head_sha, _ = await self._ends(repo, pull.head or "", pull.base or "")
        if pull.state != "open" or pull.draft or head_sha is None:
            raise Problem(405, "Pull Request is not mergeable")
        if body.get("sha") and body["sha"] != head_sha:
            raise Problem(409, "Head branch was modified. Review and try the merge again.")
        method = str(body.get("merge_method", "merge"))
        title = f"{pull.title}\n\n{pull.body}" if method == "squash" else f"Merge pull request #{pull.number}"
        try:
            sha = await self._repos.merge(repo.full_name, pull.base or "", head_sha, method=method, message=title)
        except Conflict as conflict:
            raise Problem(405, "Pull Request is not mergeable: it has conflicts") from conflict
        pull.merged_sha, pull.state = sha, "closed"
        self._close_issues(repo, pull, user)
        shown = await self._show(repo, pull)
        self._emit("pull_request", "closed", repo, user, {"number": pull.number, "pull_request": shown})
        return JSONResponse({"sha": sha, "merged": True, "message": "Pull Request successfully merged"})

    def _close_issues(self, repo: Repository, pull: Issue, user: User) -> None:
        for issue in repo.issues.values():
            if issue.head is None and issue.state == "open" and f"closes #{issue.number}\n" in f"{pull.body.lower()}\n":
                issue.state = "closed"
                self._emit("issues", "closed", repo, user, {"issue": issue})

    async def _ends(self, repo: Repository, head: str, base: str) -> tuple[str | None, str | None]:
        name = repo.full_name
        return await self._repos.sha(name, head), await self._repos.sha(name, base)

    async def _show(self, repo: Repository, pull: Issue) -> dict[str, Any]:
        head_sha, base_sha = await self._ends(repo, pull.head or "", pull.base or "")
        mergeable = False
        if pull.state == "open" and head_sha and base_sha:
            try:
                await self._repos.merged_tree(repo.full_name, base_sha, head_sha)
                mergeable = True
            except Conflict:
                mergeable = False
        return self._shapes.pull(repo, pull, head_sha or "", base_sha or "", mergeable=mergeable)

    # checks

    async def _create_check(self, _r: Request, repo: Repository, _u: User, body: dict[str, Any]) -> Response:
        sha = str(body.get("head_sha", ""))
        if await self._repos.resolve(repo.full_name, sha) is None:
            raise Problem(422, f"No commit found for SHA: {sha}")
        run = CheckRun(self._state.number(), str(body["name"]), sha, self._state.stamp())
        _fill(run, body)
        repo.checks[run.id] = run
        self._told()
        return JSONResponse(self._shapes.check(repo, run), 201)

    async def _update_check(self, request: Request, repo: Repository, _u: User, body: dict[str, Any]) -> Response:
        run = repo.checks.get(request.path_params["id"])
        if run is None:
            raise Problem(404, "Not Found")
        _fill(run, body)
        self._told()
        return JSONResponse(self._shapes.check(repo, run))

    async def _checks(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        sha = await self._repos.resolve(repo.full_name, request.path_params["ref"])
        name = request.query_params.get("check_name")
        found = [c for c in repo.checks.values() if c.head_sha == sha and name in (None, c.name)]
        shown = [self._shapes.check(repo, c) for c in reversed(found)]
        return JSONResponse({"total_count": len(shown), "check_runs": shown})

    async def _status(self, request: Request, repo: Repository, _u: User, body: dict[str, Any]) -> Response:
        if len(str(body.get("description") or "")) > 140:
            raise Problem(422, "description is too long (maximum is 140 characters)")
        repo.statuses.append({"sha": request.path_params["sha"], **body})
        self._told()
        return JSONResponse({"id": self._state.number(), **body}, 201)

    # git

    async def _ref(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        branch = request.path_params["branch"]
        sha = await self._repos.sha(repo.full_name, branch)
        if sha is None:
            raise Problem(404, "Not Found")
        url = f"git/refs/heads/{branch}"
        found = {"type": "commit", "sha": sha, "url": f"git/commits/{sha}"}
        return JSONResponse({"ref": f"refs/heads/{branch}", "node_id": "REF", "url": url, "object": found})

    async def _contents(self, request: Request, repo: Repository, _u: User, _b: dict[str, Any]) -> Response:
        ref = request.query_params.get("ref") or repo.default_branch
        sha = await self._repos.resolve(repo.full_name, ref)
        found = None if sha is None else await self._repos.file(repo.full_name, sha, request.path_params["path"])
        if found is None:
            raise Problem(404, "Not Found")
        return Response(found, media_type="application/vnd.github.raw+json")

    def _told(self) -> None:
        with self._state.changed:
            self._state.changed.notify_all()


def _one(repo: Repository, request: Request) -> Issue:
    issue = repo.issues.get(request.path_params["n"])
    if issue is None:
        raise Problem(404, "Not Found")
    return issue


def _one_pull(repo: Repository, request: Request) -> Issue:
    pull = _one(repo, request)
    if pull.head is None:
        raise Problem(404, "Not Found")
    return pull


def _fill(run: CheckRun, body: Mapping[str, Any]) -> None:
    output = body.get("output") or {}
    for name in ("summary", "text"):
        if len(output.get(name) or "") > OUTPUT_LENGTH:
            raise Problem(422, f"Invalid request: {name} exceeds {OUTPUT_LENGTH} characters")
    if len(output.get("annotations") or []) > ANNOTATIONS:
        raise Problem(422, f"Invalid request: more than {ANNOTATIONS} annotations")
    if body.get("conclusion") is not None and body["conclusion"] not in CONCLUSIONS:
        raise Problem(422, f"Invalid request: {body['conclusion']} is not a conclusion")
    if body.get("status") == "completed" and not body.get("conclusion"):
        raise Problem(422, "Invalid request: conclusion is needed for a completed check run")
    run.status = str(body.get("status") or run.status)
    run.conclusion = body.get("conclusion") or run.conclusion
    run.external_id = str(body.get("external_id") or run.external_id)
    run.output = {**run.output, **output}


def _text(body: Mapping[str, Any], most: int) -> str:
    text = str(body.get("body") or "")
    if len(text) > most:
        raise Problem(422, f"Validation Failed: body is too long (maximum is {most} characters)")
    return text


def _page(request: Request, found: list[dict[str, Any]]) -> Response:
    size = min(int(request.query_params.get("per_page", 30)), 100)
    number = int(request.query_params.get("page", 1))
    part = found[(number - 1) * size : number * size]
    headers = {}
    if number * size < len(found):
        after = request.url.include_query_params(page=number + 1)
        headers["link"] = f'<{after}>; rel="next"'
    return JSONResponse(part, headers=headers)


async def _body(request: Request) -> dict[str, Any]:
    raw = await request.body()
    if not raw:
        return {}
    try:
        found = json.loads(raw)
    except ValueError as error:
        raise Problem(400, "Problems parsing JSON") from error
    if not isinstance(found, dict):
        raise Problem(400, "Body should be a JSON object")
    return found


def _bearer(request: Request) -> str:
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    return value if kind.lower() in ("bearer", "token") else ""


def _refusal(problem: Problem) -> JSONResponse:
    return JSONResponse(
        {"message": str(problem), "documentation_url": "", "status": str(problem.status)}, problem.status
    )
