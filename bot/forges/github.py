"""The client of GitHub's REST API: thin, typed, and careful about what may be asked twice."""

from collections.abc import Callable, Sequence
from typing import Any, cast
from urllib.parse import quote

from bot.forges import merging
from bot.forges.answers import (
    CheckRun,
    CheckRuns,
    CheckSuite,
    CheckSuites,
    Comment,
    HeadMoved,
    Hook,
    Issue,
    Merged,
    NotMergeable,
    Pull,
)
from bot.forges.auth import (
    CHECKS,
    FETCH,
    HOOKS,
    ISSUES,
    PULLS,
    PUSH,
    PUSH_WORKFLOWS,
    READ,
    STATUSES,
    read_answer,
)
from bot.forges.errors import Refused, Unreachable
from bot.forges.signed import Signed
from bot.forges.transport import Ask

STATUS_LENGTH = 140


class GitHub(Signed):
    """One forge, many repositories; `repo` is always OWNER/NAME."""

    # issues, labels, comments

    async def issue(self, repo: str, number: int) -> Issue:
        """Return an issue."""
        return await self._ask.get(repo, ISSUES, f"/issues/{number}", Issue)

    async def labelled_issues(self, repo: str, label: str) -> list[Issue]:
        """Return the open issues that carry a label."""
        path = f"/issues?state=open&labels={quote(label, safe='')}"
        pages = self._ask.pages(repo, ISSUES, path, list[Issue])
        return [issue async for page in pages for issue in page if issue.pull_request is None]

    async def waits_for(self, repo: str, number: int, *, blocked: bool = True, parted: bool = True) -> list[Issue]:
        """Return the issues of the same repository that an issue is blocked by, and its sub-issues.

        An Enterprise Server that knows no such thing has none.
        """
        asked = (("dependencies/blocked_by", blocked), ("sub_issues", parted))
        found: dict[int, Issue] = {}
        for what in (name for name, wanted in asked if wanted):
            try:
                pages = self._ask.pages(repo, ISSUES, f"/issues/{number}/{what}", list[Issue])
                found |= {issue.number: issue async for page in pages for issue in page if issue.is_of(repo)}
            except Refused as refused:
                if refused.status not in (404, 410):
                    raise
        return list(found.values())

    async def add_labels(self, repo: str, number: int, labels: Sequence[str]) -> None:
        """Put labels on an issue; those it has already stay."""
        if labels:
            path = f"/issues/{number}/labels"
            await self._ask.send(repo, ISSUES, Ask("POST", path, {"labels": list(labels)}, safe=True, content=True))

    async def remove_label(self, repo: str, number: int, label: str) -> None:
        """Take a label off; one that is not there is fine."""
        path = f"/issues/{number}/labels/{quote(label, safe='')}"
        await self._ask.send(repo, ISSUES, Ask("DELETE", path, safe=True, content=True, fine=(404, 410)))

    async def find_comment(self, repo: str, number: int, marker: str) -> Comment | None:
        """Return our first comment whose text holds the marker; a stranger's that holds it is not ours."""
        ours = await self.login(repo)
        async for page in self._ask.pages(repo, ISSUES, f"/issues/{number}/comments", list[Comment]):
            for comment in page:
                if marker in (comment.body or "") and comment.user is not None and comment.user.login == ours:
                    return comment
        return None

    async def create_comment(self, repo: str, number: int, body: str) -> Comment:
        """Write a comment; one that begins with a hidden marker is looked for after an unclear failure."""
        marker = body.split("-->", 1)[0] if body.startswith("<!--") else None

        async def find() -> Comment | None:
            if marker is None:
                raise Unreachable(f"POST /issues/{number}/comments: no answer, and no marker to look for")
            return await self.find_comment(repo, number, marker)

        return await self._ask.make(repo, ISSUES, f"/issues/{number}/comments", {"body": body}, Comment, find=find)

    async def update_comment(self, repo: str, comment: int, body: str) -> Comment | None:
        """Edit a comment; None where it was deleted."""
        ask = Ask("PATCH", f"/issues/comments/{comment}", {"body": body}, safe=True, content=True, fine=(404, 410))
        answer = await self._ask.send(repo, ISSUES, ask)
        return None if answer.status_code in (404, 410) else cast("Comment", read_answer(answer, Comment))

    async def react(self, repo: str, comment: int, content: str) -> None:
        """React to a comment; reacting twice is once."""
        path = f"/issues/comments/{comment}/reactions"
        await self._ask.send(repo, ISSUES, Ask("POST", path, {"content": content}, safe=True, content=True))

    async def react_to_line(self, repo: str, comment: int, content: str) -> None:
        """React to a comment on a line of a pull request; reacting twice is once."""
        path = f"/pulls/comments/{comment}/reactions"
        await self._ask.send(repo, PULLS, Ask("POST", path, {"content": content}, safe=True, content=True))

    # people

    async def permission(self, repo: str, login: str) -> str:
        """Return the role of a person in a repository: none, read, triage, write, maintain, admin, or a custom name."""
        path = f"/collaborators/{quote(login, safe='')}/permission"
        answer = await self._ask.send(repo, READ, Ask("GET", path, safe=True, fine=(404,)))
        if answer.status_code == 404:
            return "none"
        found = answer.json()
        return str(found.get("role_name") or found.get("permission") or "none")

    # check runs

    async def find_check_run(self, repo: str, sha: str, name: str, *, external_id: str) -> CheckRun | None:
        """Return our check run of a commit."""
        path = f"/commits/{sha}/check-runs?check_name={quote(name, safe='')}&filter=latest"
        async for page in self._ask.pages(repo, CHECKS, path, CheckRuns):
            for run in page.check_runs:
                if run.external_id == external_id:
                    return run
        return None

    async def create_check_run(self, repo: str, **fields: Any) -> CheckRun:
        """Write a check run; fields as in GitHub's documentation. One with an external_id is never made twice."""

        async def find() -> CheckRun | None:
            if not fields.get("external_id"):
                raise Unreachable("POST /check-runs: no answer, and no external_id to look for")
            name, sha = str(fields["name"]), str(fields["head_sha"])
            return await self.find_check_run(repo, sha, name, external_id=str(fields["external_id"]))

        return await self._ask.make(repo, CHECKS, "/check-runs", fields, CheckRun, find=find)

    async def update_check_run(self, repo: str, run: int, **fields: Any) -> CheckRun:
        """Change a check run; the commit that it is of stays."""
        given = {name: value for name, value in fields.items() if name != "head_sha"}
        ask = Ask("PATCH", f"/check-runs/{run}", given, safe=True, content=True)
        return cast("CheckRun", read_answer(await self._ask.send(repo, CHECKS, ask), CheckRun))

    async def check_suites(self, repo: str, sha: str) -> list[CheckSuite]:
        """Return the check suites of a commit: none means that the push started no workflow."""
        pages = self._ask.pages(repo, CHECKS, f"/commits/{sha}/check-suites", CheckSuites)
        return [suite async for page in pages for suite in page.check_suites]

    async def set_status(
        self, repo: str, sha: str, *, state: str, context: str, description: str, target_url: str | None = None
    ) -> None:
        """Write a commit status, which a personal token may do too; the newest of a context counts."""
        fields = {"state": state, "context": context, "description": description[:STATUS_LENGTH]}
        if target_url:
            fields["target_url"] = target_url
        await self._ask.send(repo, STATUSES, Ask("POST", f"/statuses/{sha}", fields, safe=True, content=True))

    # pull requests

    async def pull(self, repo: str, number: int) -> Pull:
        """Return a pull request."""
        return await self._ask.get(repo, PULLS, f"/pulls/{number}", Pull)

    async def find_pull(self, repo: str, branch: str) -> Pull | None:
        """Return the open pull request of a branch of the same repository."""
        head = quote(f"{repo.split('/', 1)[0]}:{branch}", safe="")
        found = await self._ask.get(repo, PULLS, f"/pulls?state=open&head={head}&per_page=1", list[Pull])
        return found[0] if found else None

    async def open_pull(
        self, repo: str, *, head: str, base: str, title: str, body: str, draft: bool = False,
        before: Callable[[], None] = lambda: None,
    ) -> Pull:  # fmt: skip
        """Open a pull request; where the branch has one already, return that. `before` is asked before each try."""
        fields = {"head": head, "base": base, "title": title, "body": body, "draft": draft}

        async def find() -> Pull | None:
            return await self.find_pull(repo, head)

        try:
            return await self._ask.make(repo, PULLS, "/pulls", fields, Pull, find=find, before=before)
        except Refused as refused:
            if refused.status == 422 and "already exists" in refused.message and (found := await find()) is not None:
                return found
            raise

    async def update_pull(self, repo: str, number: int, **fields: Any) -> Pull:
        """Change title, body or state of a pull request."""
        ask = Ask("PATCH", f"/pulls/{number}", fields, safe=True, content=True)
        return cast("Pull", read_answer(await self._ask.send(repo, PULLS, ask), Pull))

    async def merge_pull(self, repo: str, number: int, *, sha: str, method: str) -> Merged | HeadMoved | NotMergeable:
        """Merge a pull request if its head is `sha`; after an unclear failure look first, never merge blindly."""
        return await merging.merge_pull(self._ask, repo, number, sha=sha, method=method)

    async def merge_later(self, repo: str, pull: Pull, *, sha: str, method: str) -> str:
        """Have the forge merge once all required checks have passed; return why it will not, or nothing."""
        return await merging.merge_later(self._ask, repo, pull, sha=sha, method=method)

    async def merge_not_later(self, repo: str, number: int) -> None:
        """Take back that the forge merges a pull request for us; where it does not, nothing is done."""
        await merging.merge_not_later(self._ask, repo, number, ours=await self.login(repo))

    # git

    async def default_branch(self, repo: str) -> str:
        """Return the name of the default branch."""
        answer = await self._ask.send(repo, READ, Ask("GET", "", safe=True))
        return str(answer.json()["default_branch"])

    async def size_kb(self, repo: str) -> int:
        """Return what a repository takes on the forge's disk, as the forge reckons it: in kilobytes."""
        answer = await self._ask.send(repo, READ, Ask("GET", "", safe=True))
        return int(answer.json()["size"])

    async def branch_sha(self, repo: str, branch: str) -> str | None:
        """Return the commit of a branch; None where there is no such branch."""
        path = f"/git/ref/heads/{quote(branch)}"
        answer = await self._ask.send(repo, FETCH, Ask("GET", path, safe=True, fine=(404, 409)))
        return str(answer.json()["object"]["sha"]) if answer.status_code == 200 else None

    async def file(self, repo: str, path: str, ref: str) -> bytes | None:
        """Return the bytes of a file at a commit; None where it has none."""
        where = f"/contents/{quote(path)}?ref={quote(ref, safe='')}"
        raw = "application/vnd.github.raw+json"
        answer = await self._ask.send(repo, FETCH, Ask("GET", where, safe=True, fine=(404,), accept=raw))
        return answer.content if answer.status_code == 200 else None

    async def folder(self, repo: str, path: str, ref: str) -> list[str]:
        """Return the paths of the files in a folder at a commit; none where there is no such folder."""
        where = f"/contents/{quote(path)}?ref={quote(ref, safe='')}"
        answer = await self._ask.send(repo, FETCH, Ask("GET", where, safe=True, fine=(404,)))
        found = answer.json() if answer.status_code == 200 else []
        return [str(entry["path"]) for entry in found if entry.get("type") == "file"] if isinstance(found, list) else []

    async def git_token(self, repo: str, *, write: bool = True, workflows: bool = False) -> str:
        """Return a token for git over HTTP; changing workflows needs a permission of its own. Raises NotGranted."""
        need = (PUSH_WORKFLOWS if workflows else PUSH) if write else FETCH
        return await self._credentials.get(repo, need)

    async def keep_hook(self, repo: str, *, url: str, secret: str, events: Sequence[str]) -> int:
        """Make a repository's webhook, or give the one that leads there this secret; return its number."""
        config = {"url": url, "secret": secret, "content_type": "json", "insecure_ssl": "0"}
        found = [h async for page in self._ask.pages(repo, HOOKS, "/hooks", list[Hook]) for h in page]
        mine = next((hook for hook in found if hook.config.url == url), None)
        if mine is None:
            fields = {"name": "web", "active": True, "events": list(events), "config": config}
            answer = await self._ask.send(repo, HOOKS, Ask("POST", "/hooks", fields, content=True))
            return int(answer.json()["id"])
        fields = {"active": True, "events": list(events), "config": config}
        await self._ask.send(repo, HOOKS, Ask("PATCH", f"/hooks/{mine.id}", fields, safe=True))
        return mine.id

    async def ping_hook(self, repo: str, hook: int) -> None:
        """Have the forge send a ping to a repository's webhook."""
        await self._ask.send(repo, HOOKS, Ask("POST", f"/hooks/{hook}/pings", safe=True))
