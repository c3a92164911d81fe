"""The local forge as a whole: what people do on it, and a server of its own in a thread."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from bot.forges.local.front import Fault, Front, Observer
from bot.forges.local.git_http import GitHttp
from bot.forges.local.hooks import PAUSES_S, Hooks
from bot.forges.local.keys import make_keys
from bot.forges.local.manifests import Manifests
from bot.forges.local.pages import Pages
from bot.forges.local.pushes import Pushes
from bot.forges.local.repos import Repos
from bot.forges.local.rest.api import Api
from bot.forges.local.rest.desk import Desk
from bot.forges.local.reviews import review_comment_of, review_of, suite_of
from bot.forges.local.shapes import Shapes
from bot.forges.local.state import CheckRun, CheckSuite, Comment, Issue, Repository, State, User
from bot.serving import Served, serve_in_thread

T = TypeVar("T")
APP_ID = 7


class LocalForge:
    """Repositories, people and issues on this machine, spoken to over real HTTP."""

    def __init__(
        self, root: Path, *, host: str = "127.0.0.1", port: int = 0, secret: str = "local-webhook-secret",  # noqa: S107
        now: Callable[[], float] = time.time, pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:  # fmt: skip
        self.secret = secret
        self.app_id = APP_ID
        self.private_key, public_key = make_keys()
        self.state = State(now)
        self._front = Front(self._told)
        self.faults, self.requests = self._front.faults, self._front.requests
        self._repos = Repos(root)
        self._served: Served = serve_in_thread(self._front, host=host, port=port)
        self.url = self._served.url
        self._shapes = Shapes(self.url, APP_ID)
        self.hooks = Hooks(self.state, secret, pauses_s)
        desk = Desk(self.state, self._repos, self._shapes, self._emit, app_id=APP_ID, now=now)
        self._api = Api(desk, public_key, self.hooks)
        self._manifests = Manifests(desk, self.private_key, self.hooks)
        self._pushes = Pushes(self.state, self._repos, self._api, self._emit, self._told)
        self._git = GitHttp(root, self._api.may, self._pushes)
        self._front.app = self._application()

    @property
    def api_url(self) -> str:
        """Return the address of the REST API."""
        return f"{self.url}/api"

    @property
    def observer(self) -> Observer | None:
        """Return who sees every exchange and event."""
        return self._front.observer

    @observer.setter
    def observer(self, observer: Observer | None) -> None:
        self._front.observer = observer

    def git_url(self, repository: str) -> str:
        """Return the address for git."""
        return f"{self.url}/{repository}.git"

    def close(self) -> None:
        """Stop serving."""
        self._served.close(now=True)
        self._git.close()
        self._repos.close()

    # what people do; all of it may be called from any thread

    def create_repository(self, full_name: str, files: Mapping[str, bytes | str]) -> str:
        """Make a repository with these files on `main`; return its commit."""
        content = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
        sha = self._call(self._repos.create(full_name, content, "main"))
        self.state.repositories[full_name] = Repository(self.state.number(), full_name, at=self.state.stamp())
        self._git.add(full_name)
        return sha

    def commit(
        self, full_name: str, files: Mapping[str, bytes | str], message: str, *, branch: str = "main", user: str = ""
    ) -> str:
        """Put files on top of a branch, as somebody with a clone would; a new branch starts at the default one."""
        content = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
        start = self.state.repositories[full_name].default_branch
        sha = self._call(self._repos.commit(full_name, branch, content, message, start=start))
        owner = full_name.split("/", 1)[0] if self.state.repositories[full_name].fork_of else "somebody"
        self._call(self._pushes.tell(full_name, self.state.user(user or owner)))
        return sha

    def fork(self, full_name: str, owner: str) -> str:
        """Fork a repository; return the fork's name."""
        made = f"{owner}/{full_name.split('/', 1)[1]}"
        self._repos.fork(full_name, made)
        self.state.repositories[made] = Repository(self.state.number(), made, fork_of=full_name)
        self._git.add(made)
        return made

    def add_user(self, login: str, roles: Mapping[str, str] | None = None) -> User:
        """Add a person with a role in each of these repositories."""
        for full_name, role in (roles or {}).items():
            self.state.repositories[full_name].roles[login] = role
        return self.state.user(login)

    def personal_token(self, login: str) -> str:
        """Return a personal token of a user."""
        token = f"ghp_{login}"
        self.state.personal[token] = self.state.user(login)
        return token

    def open_issue(self, full_name: str, title: str, body: str, *, user: str, labels: tuple[str, ...] = ()) -> int:
        """Open an issue; return its number."""
        repo, who = self._both(full_name, user)
        number = max(repo.issues, default=0) + 1
        issue = Issue(number, title, body, who, self.state.stamp(), list(labels))
        repo.issues[number] = issue
        self._send("issues", "opened", repo, who, {"issue": issue})
        for label in labels:
            self._send("issues", "labeled", repo, who, {"issue": issue, "label": label})
        return number

    def label_issue(self, full_name: str, number: int, label: str, *, user: str) -> None:
        """Put a label on an issue."""
        repo, who = self._both(full_name, user)
        repo.issues[number].labels.append(label)
        self._send("issues", "labeled", repo, who, {"issue": repo.issues[number], "label": label})

    def unlabel_issue(self, full_name: str, number: int, label: str, *, user: str) -> None:
        """Take a label off."""
        repo, who = self._both(full_name, user)
        repo.issues[number].labels.remove(label)
        self._send("issues", "unlabeled", repo, who, {"issue": repo.issues[number], "label": label})

    def edit_issue(self, full_name: str, number: int, *, title: str, body: str, user: str) -> None:
        """Change an issue's text."""
        repo, who = self._both(full_name, user)
        before = repo.issues[number]
        changes = {
            name: {"from": old} for name, old, new in (("title", before.title, title), ("body", before.body, body))
            if old != new
        }  # fmt: skip
        before.title, before.body = title, body
        self._send("issues", "edited", repo, who, {"issue": repo.issues[number], "changes": changes})

    def close_issue(self, full_name: str, number: int, *, user: str) -> None:
        """Close an issue."""
        repo, who = self._both(full_name, user)
        repo.issues[number].state, repo.issues[number].closed_at = "closed", self.state.stamp()
        self._send("issues", "closed", repo, who, {"issue": repo.issues[number]})

    def reopen_issue(self, full_name: str, number: int, *, user: str) -> None:
        """Open a closed issue again."""
        repo, who = self._both(full_name, user)
        repo.issues[number].state, repo.issues[number].closed_at = "open", None
        self._send("issues", "reopened", repo, who, {"issue": repo.issues[number]})

    def block_issue(self, full_name: str, number: int, by: int, *, user: str) -> None:
        """Mark an issue as blocked by another one."""
        self._depend("added", full_name, number, by, user)

    def unblock_issue(self, full_name: str, number: int, by: int, *, user: str) -> None:
        """Take that mark away."""
        self._depend("removed", full_name, number, by, user)

    def _depend(self, what: str, full_name: str, number: int, by: int, user: str) -> None:
        repo, who = self._both(full_name, user)
        blocked, blocking = repo.issues[number], repo.issues[by]
        (blocked.blocked_by.append if what == "added" else blocked.blocked_by.remove)(by)
        self._send("issue_dependencies", f"blocked_by_{what}", repo, who, {
            "blocked_issue": blocked, "blocking_issue": blocking, "blocked_issue_id": repo.id * 1000 + number,
            "blocking_issue_id": repo.id * 1000 + by, "blocking_issue_repo": self._shapes.repository(repo),
            "organization": self._shapes.organization(repo.full_name.split("/")[0]),
        })  # fmt: skip

    def add_part(self, full_name: str, number: int, part: int, *, user: str) -> None:
        """Make an issue a sub-issue of another one."""
        self._have_part("added", full_name, number, part, user)

    def remove_part(self, full_name: str, number: int, part: int, *, user: str) -> None:
        """Let a sub-issue be one of its own again."""
        self._have_part("removed", full_name, number, part, user)

    def _have_part(self, what: str, full_name: str, number: int, part: int, user: str) -> None:
        repo, who = self._both(full_name, user)
        whole, one = repo.issues[number], repo.issues[part]
        (whole.parts.append if what == "added" else whole.parts.remove)(part)
        self._send("sub_issues", f"sub_issue_{what}", repo, who, {
            "parent_issue": whole, "sub_issue": one, "parent_issue_id": repo.id * 1000 + number,
            "sub_issue_id": repo.id * 1000 + part, "sub_issue_repo": self._shapes.repository(repo),
        })  # fmt: skip

    def comment(self, full_name: str, number: int, body: str, *, user: str) -> int:
        """Comment on an issue; return the comment's id."""
        repo, who = self._both(full_name, user)
        comment = Comment(self.state.number(), number, who, body, self.state.stamp())
        repo.comments[comment.id] = comment
        self._send("issue_comment", "created", repo, who, {"issue": repo.issues[number], "comment": comment})
        return comment.id

    def delete_comment(self, full_name: str, comment: int, *, user: str) -> None:
        """Delete a comment."""
        repo, who = self._both(full_name, user)
        gone = repo.comments.pop(comment)
        self._send("issue_comment", "deleted", repo, who, {"issue": repo.issues[gone.issue], "comment": gone})

    def open_pull(self, full_name: str, title: str, body: str, *, head: str, user: str, base: str = "main") -> int:
        """Open a pull request from a branch, or from OWNER:BRANCH of a fork; return its number."""
        repo, who = self._both(full_name, user)
        number = max(repo.issues, default=0) + 1
        owner, _, branch = head.rpartition(":")
        fork = f"{owner}/{full_name.split('/', 1)[1]}" if owner else ""
        repo.issues[number] = pull = Issue(
            number, title, body, who, self.state.stamp(), head=branch, base=base, head_repository=fork
        )
        what = {"number": number, "pull_request": self._call(self._api.pulls.show(repo, pull))}
        self._send("pull_request", "opened", repo, who, what)
        return number

    def review(self, full_name: str, number: int, body: str, *, user: str, state: str = "changes_requested") -> None:
        """Review a pull request."""
        repo, who = self._both(full_name, user)
        pull = self._shapes.pull_row(self._call(self._api.pulls.show(repo, repo.issues[number])))
        shown, at = self._shapes.user(who), self.state.stamp()
        review = review_of(pull, shown, self.state.number(), body=body, state=state, at=at)
        self._send("pull_request_review", "submitted", repo, who, {"review": review, "pull_request": pull})

    def review_comment(self, full_name: str, number: int, body: str, *, path: str, line: int, user: str) -> int:
        """Comment on a line of a pull request; return the comment's id."""
        repo, who = self._both(full_name, user)
        pull = self._shapes.pull_row(self._call(self._api.pulls.show(repo, repo.issues[number])))
        shown, at, new = self._shapes.user(who), self.state.stamp(), self.state.number()
        comment = review_comment_of(pull, shown, new, body=body, path=path, line=line, at=at)
        repo.review_comments[new] = Comment(new, number, who, body, at)
        self._send("pull_request_review_comment", "created", repo, who, {"comment": comment, "pull_request": pull})
        return new

    def rerequest_check(self, full_name: str, run: int, *, user: str) -> None:
        """Press "Re-run" at a check run."""
        repo, who = self._both(full_name, user)
        shown = self._shapes.check(repo, repo.checks[run])
        suite = suite_of(repo.checks[run], shown["app"], repo, self.url)
        self._send("check_run", "rerequested", repo, who, {"check_run": {**shown, "check_suite": suite}})

    def start_suite(self, full_name: str, sha: str, *, app: str = "github-actions") -> None:
        """Let a check suite of an App appear on a commit, as a push with workflows does."""
        self.state.repositories[full_name].suites.append(CheckSuite(self.state.number(), sha, app))

    def send(self, event: str, payload: Mapping[str, Any]) -> None:
        """Deliver any payload, signed."""
        self._in_loop(lambda: self.hooks.send(event, payload))

    # what tests and the demo look at

    def issue(self, full_name: str, number: int) -> Issue:
        """Return an issue or a pull request."""
        return self.state.repositories[full_name].issues[number]

    def comments(self, full_name: str, number: int) -> list[str]:
        """Return the texts of an issue's comments."""
        return [c.body for c in self.state.repositories[full_name].on(number)]

    def checks(self, full_name: str, sha: str) -> list[CheckRun]:
        """Return the check runs of a commit."""
        return [c for c in self.state.repositories[full_name].checks.values() if c.head_sha == sha]

    def sha(self, full_name: str, branch: str) -> str | None:
        """Return the commit of a branch."""
        return self._call(self._repos.sha(full_name, branch))

    def file(self, full_name: str, ref: str, path: str) -> bytes | None:
        """Return a file's bytes."""
        return self._call(self._repos.file(full_name, ref, path))

    def wait(self, seen: Callable[[], T], *, limit_s: float = 30.0) -> T:
        """Return what `seen` finds once it is true; asked whenever something changed. Raises TimeoutError."""
        ends_at = time.monotonic() + limit_s
        with self.state.changed:
            while not (found := seen()):
                left_s = ends_at - time.monotonic()
                if left_s <= 0:
                    raise TimeoutError(f"not seen within {limit_s:g} s")
                self.state.changed.wait(min(left_s, 0.5))
            return found

    def fail_next(
        self, method: str, path: str, what: int | str | Callable[[], object], *, times: int = 1,
        headers: Mapping[str, str] | None = None, message: str = "asked to fail",
    ) -> None:  # fmt: skip
        """Answer the next requests that fit with a status, cut them off, let them hang, or do something before them."""
        self.faults.append(Fault(method, path, what, times, headers or {}, message))

    # inside

    def _application(self) -> ASGIApp:
        pages = Pages(self.state, self._repos)
        git = [
            "/{owner}/{name}.git/info/refs",
            "/{owner}/{name}.git/git-upload-pack",
            "/{owner}/{name}.git/git-receive-pack",
        ]
        return Starlette(
            routes=[
                *self._manifests.routes(),
                Mount("/api", routes=self._api.routes()),
                *(Route(path, self._git.answer, methods=["GET", "POST"]) for path in git),
                *pages.routes(),
            ]
        )

    def _both(self, full_name: str, user: str) -> tuple[Repository, User]:
        return self.state.repositories[full_name], self.state.user(user)

    def _send(self, event: str, action: str, repo: Repository, user: User, what: Mapping[str, Any]) -> None:
        self._in_loop(lambda: self._emit(event, action, repo, user, what))

    def _emit(self, event: str, action: str, repo: Repository, user: User, what: Mapping[str, Any]) -> None:
        for changed in what.values():
            if isinstance(changed, Issue):
                changed.changed_at = self.state.stamp()
        shown = {key: self._shown(repo, value, key) for key, value in what.items()}
        payload = {
            "action": action, **shown, "repository": self._shapes.repository(repo),
            "sender": self._shapes.user(user), "installation": {"id": 1, "node_id": "MDIz"},
        }  # fmt: skip
        if self.observer is not None:
            self.observer.event(event, payload)
        self.hooks.send(event, payload)

    def _shown(self, repo: Repository, value: Any, key: str) -> Any:
        match value:
            case Issue():
                return self._shapes.issue(repo, value)
            case Comment():
                return self._shapes.comment(repo, value)
            case str() if key == "label":
                return self._shapes.label(value)
            case _:
                return value

    def _told(self) -> None:
        with self.state.changed:
            self.state.changed.notify_all()

    def _call(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run something in the forge's own loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(doing, self._served.loop).result()

    def _in_loop(self, act: Callable[[], Any]) -> None:
        self._served.loop.call_soon_threadsafe(act)
