"""Pull requests: opening, showing, changing, merging."""

from typing import Any

from starlette.responses import JSONResponse, Response

from bot.forges.local.repos import Conflict
from bot.forges.local.rest.desk import Call, Desk, Problem, R, Rows
from bot.forges.local.state import Issue, Repository, User

METHODS = ("merge", "squash", "rebase")
CLOSING = ("closes", "fixes", "resolves")


class Pulls:
    """Answers about pull requests."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._state, self._repos = desk, desk.state, desk.repos

    def rows(self) -> Rows:
        """Return method, path and answer of each operation."""
        return [
            ("GET", f"{R}/pulls", self._pulls),
            ("POST", f"{R}/pulls", self._open_pull),
            ("GET", f"{R}/pulls/{{n:int}}", self._pull),
            ("PATCH", f"{R}/pulls/{{n:int}}", self._edit_pull),
            ("PUT", f"{R}/pulls/{{n:int}}/merge", self._merge),
        ]

    async def show(self, repo: Repository, pull: Issue) -> dict[str, Any]:
        """Return a pull request with its ends and whether it could be merged."""
        head_sha, base_sha = await self._ends(repo, pull.head or "", pull.base or "", fork=pull.head_repository)
        if head_sha and head_sha != pull.head_sha:
            await self._repos.keep_head(repo.full_name, pull.number, head_sha, fork=pull.head_repository)
        pull.head_sha = head_sha or pull.head_sha  # a deleted branch keeps its last commit
        mergeable = False
        if pull.state == "open" and head_sha and base_sha:
            try:
                await self._repos.merged_tree(repo.full_name, base_sha, head_sha)
                mergeable = True
            except Conflict:
                mergeable = False
        return self._desk.shapes.pull(
            repo, pull, pull.head_sha, base_sha or "", mergeable=mergeable,
            is_blocked=bool(self._lacking(repo, pull.head_sha)),
            is_behind=await self._is_behind(repo, head_sha, base_sha),
        )  # fmt: skip

    async def _pulls(self, call: Call) -> Response:
        head = call.query.get("head", "").partition(":")[2]
        state = call.query.get("state", "open")
        found = [
            i for i in list(call.repo.issues.values())
            if i.head is not None and state in ("all", i.state) and (not head or i.head == head)
        ]  # fmt: skip
        rows = [self._desk.shapes.pull_row(await self.show(call.repo, pull)) for pull in reversed(found)]
        return call.page(rows)

    async def _open_pull(self, call: Call) -> Response:
        repo, body = call.repo, call.body
        head, base = str(body.get("head", "")), str(body.get("base", ""))
        await self._may_open(repo, head, base, str(body.get("title") or ""))
        number = max(repo.issues, default=0) + 1
        pull = Issue(
            number, str(body["title"]), call.text(), call.user, self._state.stamp(), head=head, base=base,
            draft=bool(body.get("draft")),
        )  # fmt: skip
        repo.issues[number] = pull
        shown = await self.show(repo, pull)
        self._emit("opened", repo, call.user, pull, shown)
        return JSONResponse(shown, 201)

    async def _may_open(self, repo: Repository, head: str, base: str, title: str) -> None:
        head_sha, base_sha = await self._ends(repo, head, base)
        wrong = None
        if not title.strip():
            wrong = "title is missing"
        elif head_sha is None or base_sha is None:
            wrong = f"{'head' if head_sha is None else 'base'} invalid"
        elif head_sha == base_sha:
            wrong = f"No commits between {base} and {head}"
        elif any(i.head == head and i.base == base and i.state == "open" for i in repo.issues.values()):
            wrong = f"A pull request already exists for {repo.full_name.split('/')[0]}:{head}."
        if wrong:
            raise Problem(422, f"Validation Failed: {wrong}")

    async def _pull(self, call: Call) -> Response:
        return JSONResponse(await self.show(call.repo, call.pull()))

    async def _edit_pull(self, call: Call) -> Response:
        pull, body = call.pull(), call.body
        before = pull.state
        pull.title = str(body.get("title", pull.title))
        pull.body = call.text() if "body" in body else pull.body
        pull.state = str(body.get("state", pull.state))
        shown = await self.show(call.repo, pull)
        action = {("open", "closed"): "closed", ("closed", "open"): "reopened"}.get((before, pull.state), "edited")
        self._emit(action, call.repo, call.user, pull, shown)
        return JSONResponse(shown)

    async def _merge(self, call: Call) -> Response:
        repo, pull, body = call.repo, call.pull(), call.body
        head_sha, base_sha = await self._ends(repo, pull.head or "", pull.base or "", fork=pull.head_repository)
        if pull.state != "open" or head_sha is None:
            raise Problem(405, "Pull Request is not mergeable")
        if pull.draft:
            raise Problem(405, "Pull Request is still a draft")
        if body.get("sha") and body["sha"] != head_sha:
            raise Problem(409, "Head branch was modified. Review and try the merge again.")
        for name in self._lacking(repo, head_sha):
            raise Problem(405, f'Required status check "{name}" is expected.')
        if await self._is_behind(repo, head_sha, base_sha):
            raise Problem(405, "Head branch is out of date. Review and try the merge again.")
        method = str(body.get("merge_method", "merge"))
        if method not in METHODS:
            raise Problem(422, f"Invalid request: {method} is not a merge method")
        sha = await self._take(repo, pull, head_sha, method, call.user)
        return JSONResponse({"sha": sha, "merged": True, "message": "Pull Request successfully merged"})

    async def _take(self, repo: Repository, pull: Issue, head_sha: str, method: str, user: User) -> str:
        title = f"{pull.title}\n\n{pull.body}" if method == "squash" else f"Merge pull request #{pull.number}"
        try:
            sha = await self._repos.merge(repo.full_name, pull.base or "", head_sha, method=method, message=title)
        except Conflict as conflict:
            raise Problem(405, "Pull Request is not mergeable: it has conflicts") from conflict
        pull.merged_sha, pull.state, pull.closed_at = sha, "closed", self._state.stamp()
        self._close_issues(repo, pull, user)
        self._emit("closed", repo, user, pull, await self.show(repo, pull))
        return sha

    async def merge_later(self, repo: Repository, pull: Issue, head_sha: str, method: str, user: User) -> str:
        """Have a pull request merged once its required checks have passed; return why not, as GitHub says it."""
        if not repo.allows_auto_merge:
            return "Auto merge is not allowed for this repository"
        found, _ = await self._ends(repo, pull.head or "", pull.base or "")
        if found != head_sha:
            return "Head branch was modified. Review and try the merge again."
        if not self._lacking(repo, head_sha):
            return "Pull request is in clean status"
        pull.merges_later = (user, method)
        return ""

    def merge_not_later(self, pull: Issue) -> str:
        """Have a pull request wait for somebody who merges it; return why not."""
        if pull.merges_later is None:
            return "Can't disable auto-merge for this pull request."
        pull.merges_later = None
        return ""

    async def merge_what_waits(self, repo: Repository, user: User) -> None:
        """Merge what was waiting for a check that has just passed, whatever was pushed meanwhile."""
        for pull in [one for one in repo.issues.values() if one.merges_later and one.state == "open"]:
            head_sha, _ = await self._ends(repo, pull.head or "", pull.base or "", fork=pull.head_repository)
            if head_sha and not self._lacking(repo, head_sha):
                await self._take(repo, pull, head_sha, pull.merges_later[1] if pull.merges_later else "merge", user)

    def _lacking(self, repo: Repository, head_sha: str) -> list[str]:
        """Return the required checks that have not passed."""
        lacking = []
        for name in sorted(repo.required_checks):
            newest = [c for c in repo.checks.values() if c.head_sha == head_sha and c.name == name][-1:]
            if not newest or newest[0].conclusion not in ("success", "skipped", "neutral"):
                lacking.append(name)
        return lacking

    async def _is_behind(self, repo: Repository, head_sha: str | None, base_sha: str | None) -> bool:
        """Return whether a branch has to be brought up to date first."""
        if not repo.is_strict or not head_sha or not base_sha:
            return False
        return await self._repos.git(repo.full_name, "merge-base", head_sha, base_sha) != base_sha

    def _close_issues(self, repo: Repository, pull: Issue, user: User) -> None:
        words = f"{pull.body.lower()}\n"
        for issue in list(repo.issues.values()):
            closes = any(f"{word} #{issue.number}{end}" in words for word in CLOSING for end in "\n .,")
            if issue.head is None and issue.state == "open" and closes:
                issue.state, issue.closed_at = "closed", self._state.stamp()
                self._desk.emit("issues", "closed", repo, user, {"issue": issue})

    def _emit(self, action: str, repo: Repository, user: User, pull: Issue, shown: dict[str, Any]) -> None:
        what: dict[str, Any] = {"number": pull.number, "pull_request": shown}
        if action == "edited":
            what["changes"] = {}
        self._desk.emit("pull_request", action, repo, user, what)

    async def _ends(self, repo: Repository, head: str, base: str, *, fork: str = "") -> tuple[str | None, str | None]:
        name = repo.full_name
        return await self._repos.sha(fork or name, head), await self._repos.sha(name, base)
