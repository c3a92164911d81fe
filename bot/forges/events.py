"""What happened on the forge, in our words; whatever was null, missing or new on the wire is settled here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it. A login proves nothing; the number does."""

    login: str = ""
    id: int = 0
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """Where it happened, who did it, and through which installation we heard of it."""

    repository: str  # OWNER/NAME; empty where it concerns none
    sender: Actor
    action: str
    installation: int | None = None


@dataclass(frozen=True, slots=True)
class IssueEvent:
    """Something happened to an issue."""

    origin: Origin
    number: int
    title: str
    body: str
    is_open: bool
    author: Actor
    label: str = ""  # that was put on or taken off
    labels: tuple[str, ...] = ()  # that the issue carries
    at: float = 0.0  # the forge's clock: when the issue last changed
    is_text_changed: bool = False
    blocked_by: int = 0  # how many open issues block it, by the forge's own dependencies
    parts: int = 0  # how many of its sub-issues are open


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """What an issue waits for on the forge changed: it is blocked by others, or others are its parts."""

    origin: Origin
    number: int


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """Somebody wrote below an issue or a pull request."""

    origin: Origin
    number: int
    is_on_pull: bool
    comment: int
    text: str
    author: Actor
    app: int | None = None  # the App that wrote it
    is_open: bool = True
    title: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class PullEvent:
    """Something happened to a pull request."""

    origin: Origin
    number: int
    head_sha: str
    head_branch: str
    head_repository: str | None  # None: the fork was deleted
    base_branch: str
    author: Actor
    is_merged: bool = False
    at: float = 0.0  # the forge's clock: when the pull request last changed


@dataclass(frozen=True, slots=True)
class ReviewEvent:
    """Somebody reviewed a pull request, or commented on a line of it."""

    origin: Origin
    number: int
    text: str
    verdict: str  # approved, changes_requested, commented, dismissed; empty for a comment on a line
    author: Actor
    review: int = 0  # or the comment on a line
    path: str = ""
    line: int | None = None
    app: int | None = None


@dataclass(frozen=True, slots=True)
class CheckEvent:
    """Something happened to a check run or a check suite."""

    origin: Origin
    kind: str  # run, suite
    head_sha: str
    app: int | None  # whose check it is
    name: str = ""
    external_id: str = ""


@dataclass(frozen=True, slots=True)
class InstallationEvent:
    """The App was installed, removed, or given other repositories."""

    origin: Origin
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryEvent:
    """Something happened to a repository as a whole."""

    origin: Origin
    before: str = ""  # what it was called before it was renamed or transferred


@dataclass(frozen=True, slots=True)
class PingEvent:
    """The forge tries the webhook."""

    origin: Origin


@dataclass(frozen=True, slots=True)
class Unread:
    """An event that nothing here reads, and why."""

    reason: str


Event = (
    IssueEvent
    | LinkEvent
    | CommentEvent
    | PullEvent
    | ReviewEvent
    | CheckEvent
    | InstallationEvent
    | RepositoryEvent
    | PingEvent
    | Unread
)
