"""What the local forge remembers, and how each thing looks in GitHub's JSON."""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

PERMISSIONS = {
    "metadata": "read", "contents": "write", "issues": "write", "pull_requests": "write", "checks": "write",
    "statuses": "write",
}  # fmt: skip


@dataclass(slots=True)
class User:
    """Somebody, or the App itself."""

    id: int
    login: str
    type: str = "User"


@dataclass(slots=True)
class Comment:
    """A comment on an issue or a pull request."""

    id: int
    issue: int
    user: User
    body: str
    at: str
    reactions: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Issue:
    """An issue; a pull request is one with `head`."""

    number: int
    title: str
    body: str
    user: User
    at: str
    labels: list[str] = field(default_factory=list)
    state: str = "open"
    head: str | None = None  # branch
    head_repository: str = ""  # a fork; empty: the repository itself
    base: str | None = None
    head_sha: str = ""  # as last seen
    merged_sha: str | None = None
    draft: bool = False
    merges_later: tuple[User, str] | None = None  # by itself once its checks have passed: for whom, and the method
    closed_at: str | None = None
    changed_at: str = ""  # by an event of the issue; empty: never
    reactions: list[tuple[str, str]] = field(default_factory=list)
    blocked_by: list[int] = field(default_factory=list)  # issues of the same repository
    parts: list[int] = field(default_factory=list)  # its sub-issues, of the same repository


@dataclass(slots=True)
class CheckRun:
    """A check run."""

    id: int
    name: str
    head_sha: str
    at: str
    status: str = "queued"
    conclusion: str | None = None
    completed_at: str | None = None
    external_id: str = ""
    details_url: str | None = None
    output: dict[str, Any] = field(default_factory=dict)
    actions: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CheckSuite:
    """What one App checks of a commit."""

    id: int
    head_sha: str
    app: str
    status: str = "queued"
    conclusion: str | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """An installation's token: what it reaches, until when, and what it may do there."""

    repositories: frozenset[str]
    ends_at: float
    permissions: dict[str, str]


@dataclass(slots=True)
class Delivery:
    """One try at delivering a webhook."""

    id: int
    guid: str
    event: str
    action: str
    payload: bytes
    at: str
    status: str = ""
    code: int = 0
    redelivery: bool = False


@dataclass(slots=True)
class Repository:
    """A repository with its issues, checks and people."""

    id: int
    full_name: str
    issues: dict[int, Issue] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    review_comments: dict[int, Comment] = field(default_factory=dict)  # on lines of pull requests
    checks: dict[int, CheckRun] = field(default_factory=dict)
    suites: list[CheckSuite] = field(default_factory=list)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    default_branch: str = "main"
    size_kb: int = 1
    protected: set[str] = field(default_factory=lambda: {"main"})  # branches that nobody pushes to
    required_checks: set[str] = field(default_factory=set)  # of the default branch
    is_strict: bool = False  # branches have to be up to date before they are merged
    allows_auto_merge: bool = False
    at: str = "2026-01-01T00:00:00Z"
    fork_of: str = ""  # the App is not installed on forks

    def on(self, issue: int) -> list[Comment]:
        """Return the comments of an issue, oldest first."""
        return [c for c in list(self.comments.values()) if c.issue == issue]


class State:
    """All of it, under one lock that also tells when something changed."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.repositories: dict[str, Repository] = {}
        self.users: dict[str, User] = {}
        self.tokens: dict[str, Token] = {}
        self.personal: dict[str, User] = {}  # personal tokens
        self.permissions = dict(PERMISSIONS)  # what the installation granted the App
        self.target: str | None = None  # where webhooks go
        self.secret = ""  # what signs them
        self.gives_secret = True  # whether a new App is told its webhook's secret; GitHub may answer null
        self.deliveries: list[Delivery] = []
        self._numbers = itertools.count(1001)
        self._now = now

    def number(self) -> int:
        """Return an id that was never used."""
        return next(self._numbers)

    def stamp(self, at: float | None = None) -> str:
        """Return a time as GitHub writes it."""
        when = datetime.fromtimestamp(self._now() if at is None else at, UTC)
        return when.strftime("%Y-%m-%dT%H:%M:%SZ")

    def user(self, login: str) -> User:
        """Return a user, making them where they are new."""
        if login not in self.users:
            self.users[login] = User(self.number(), login, "Bot" if login.endswith("[bot]") else "User")
        return self.users[login]
