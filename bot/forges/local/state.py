"""What the local forge remembers, and how each thing looks in GitHub's JSON."""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

ROLES = ("read", "triage", "write", "maintain", "admin")


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
    base: str | None = None
    merged_sha: str | None = None
    draft: bool = False


@dataclass(slots=True)
class CheckRun:
    """A check run."""

    id: int
    name: str
    head_sha: str
    at: str
    status: str = "queued"
    conclusion: str | None = None
    external_id: str = ""
    output: dict[str, Any] = field(default_factory=dict)


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


@dataclass(slots=True)
class Repository:
    """A repository with its issues, checks and people."""

    id: int
    full_name: str
    issues: dict[int, Issue] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    default_branch: str = "main"

    def on(self, issue: int) -> list[Comment]:
        """Return the comments of an issue, oldest first."""
        return [c for c in self.comments.values() if c.issue == issue]


class State:
    """All of it, under one lock that also tells when something changed."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.repositories: dict[str, Repository] = {}
        self.users: dict[str, User] = {}
        self.tokens: dict[str, tuple[str, float]] = {}  # token -> (repository, ends at)
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
