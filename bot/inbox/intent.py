"""What an event asks of us. Pure: no I/O, no clock, no store."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

from bot.forges.events import (
    Actor,
    CheckEvent,
    CommentEvent,
    Event,
    InstallationEvent,
    IssueEvent,
    LinkEvent,
    PingEvent,
    PullEvent,
    RepositoryEvent,
    ReviewEvent,
    Unread,
)
from bot.inbox.calls import Call, find_calls

MARKER = "<!-- sluice:"  # stands in everything that we write
BRANCHES = ("sluice/", "sluice-")  # ours begin so; the second where a branch is named `sluice`


@dataclass(frozen=True, slots=True)
class Rules:
    """What the intent of an event depends on besides the event."""

    label: str  # that starts a ticket
    name: str = ""  # what people call us by: @name
    login: str = ""  # the App's account: whatever it does, we did
    shared: str = ""  # the account whose personal token we use: what it does, its owner or we did
    app: int | None = None
    checks: bool = False  # whether people's pull requests are gated too


@dataclass(frozen=True, slots=True)
class Start:
    """The label was put on: a ticket, or a new attempt."""

    label: str


@dataclass(frozen=True, slots=True)
class Again:
    """The issue was reopened: a new attempt of its ticket."""


@dataclass(frozen=True, slots=True)
class Stop:
    """What was asked for is no longer wanted."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reword:
    """The issue's text changed."""


@dataclass(frozen=True, slots=True)
class Relink:
    """What the issue waits for on the forge changed."""


@dataclass(frozen=True, slots=True)
class Obey:
    """Commands in a comment."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A review or comment on a pull request asks for changes, if the pull request is ours."""

    text: str


@dataclass(frozen=True, slots=True)
class CheckPull:
    """A person's pull request wants the gate's word."""

    head_sha: str
    is_fork: bool


@dataclass(frozen=True, slots=True)
class Pushed:
    """Somebody else pushed to the branch of our pull request."""

    head_sha: str


@dataclass(frozen=True, slots=True)
class ClosePull:
    """A pull request was closed."""

    is_merged: bool


@dataclass(frozen=True, slots=True)
class Rerun:
    """Somebody pressed "Re-run" on our check."""

    head_sha: str
    external_id: str


@dataclass(frozen=True, slots=True)
class Know:
    """Through which installation repositories are reached from now on; none: through no one any more."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    is_whole: bool = False  # the installation ended, whatever it held
    is_granted: bool = False  # permissions that were asked for were accepted


@dataclass(frozen=True, slots=True)
class Rename:
    """A repository has another name."""

    before: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing is asked, and why we think so."""

    reason: str


Intent = (
    Start | Again | Stop | Reword | Relink | Obey | FollowUp | CheckPull | Pushed | ClosePull | Rerun | Know | Rename
    | Nothing
)  # fmt: skip


def read_intent(event: Event, rules: Rules) -> Intent:  # noqa: C901 one line an event
    """Return what an event asks; everything that asks nothing says why."""
    if isinstance(event, Unread | PingEvent):
        return Nothing(event.reason if isinstance(event, Unread) else "pong")
    if _is_ours(event.origin.sender, rules) and not _is_merge(event):
        return Nothing("we did this ourselves")
    match event:
        case IssueEvent():
            return _issue(event, rules)
        case LinkEvent():
            return Relink()
        case CommentEvent():
            return _comment(event, rules)
        case PullEvent():
            return _pull(event, rules)
        case ReviewEvent():
            return _review(event, rules)
        case CheckEvent():
            return _check(event, rules)
        case InstallationEvent():
            return _installation(event)
        case RepositoryEvent():
            return _repository(event)
        case _:
            assert_never(event)


def _issue(event: IssueEvent, rules: Rules) -> Intent:
    act = _ISSUE.get(event.origin.action)
    return act(event, rules) if act else _no(event.origin.action)


def _opened(event: IssueEvent, rules: Rules) -> Intent:
    if any(_same(label, rules.label) for label in event.labels):
        return Start(rules.label)
    return Nothing(f"opened without the label {rules.label!r}")


def _labeled(event: IssueEvent, rules: Rules) -> Intent:
    if not _same(event.label, rules.label):
        return Nothing(f"{event.label!r} is not the label {rules.label!r}")
    return Start(rules.label) if event.is_open else Nothing("the issue is closed")


def _unlabeled(event: IssueEvent, rules: Rules) -> Intent:
    if not _same(event.label, rules.label):
        return Nothing(f"{event.label!r} is not the label {rules.label!r}")
    if _is_shared(event.origin.sender, rules):
        return Nothing("we take the label off when work begins; `/bot cancel` cancels")
    return Stop(f"The label `{rules.label}` was taken off by {_who(event.origin.sender)}.")


_ISSUE: Mapping[str, Callable[[IssueEvent, Rules], Intent]] = {
    "opened": _opened,
    "labeled": _labeled,
    "unlabeled": _unlabeled,
    "reopened": lambda *_: Again(),
    "closed": lambda event, rules: (
        Nothing("a merge of ours closes issues; `/bot cancel` cancels")
        if _is_shared(event.origin.sender, rules)
        else Stop(f"The issue was closed by {_who(event.origin.sender)}.")
    ),
    "deleted": lambda event, _: Stop(f"The issue was deleted by {_who(event.origin.sender)}."),
    "transferred": lambda event, _: Stop(f"The issue was moved away by {_who(event.origin.sender)}."),
    "edited": lambda event, _: Reword() if event.is_text_changed else Nothing("edited, but not its text"),
}


def _comment(event: CommentEvent, rules: Rules) -> Intent:
    if event.origin.action != "created":
        return Nothing(f"a comment {event.origin.action}: only a new one speaks")
    return _said(event.text, event.author, event.app, rules, on_pull=event.is_on_pull)


def _review(event: ReviewEvent, rules: Rules) -> Intent:
    if event.origin.action not in ("submitted", "created"):
        return _no(event.origin.action)
    if event.verdict == "approved" and not find_calls(event.text, name=rules.name):
        return Nothing("approved: nothing to change")
    where = f"{event.path}:{event.line}: " if event.path and event.line else f"{event.path}: " if event.path else ""
    found = _said(event.text, event.author, event.app, rules, on_pull=True)
    return FollowUp(where + found.text) if isinstance(found, FollowUp) else found


def _said(text: str, author: Actor, app: int | None, rules: Rules, *, on_pull: bool) -> Intent:
    if _is_ours(author, rules) or (rules.app is not None and app == rules.app) or text.startswith(MARKER):
        return Nothing("we wrote this ourselves")
    calls = find_calls(text, name=rules.name)
    if calls:
        return Obey(calls)
    if on_pull and text.strip():
        return FollowUp(text.strip())
    return Nothing("no command in it")


def _pull(event: PullEvent, rules: Rules) -> Intent:
    is_ours = _is_ours(event.author, rules) or (
        _is_shared(event.author, rules) and event.head_branch.startswith(BRANCHES)
    )
    match event.origin.action:
        case "synchronize" if is_ours:
            return Pushed(event.head_sha)
        case "opened" | "synchronize" | "reopened" | "ready_for_review":
            if not rules.checks:
                return Nothing("this repository does not want people's pull requests checked")
            if is_ours:
                return Nothing("our own pull request")
            return CheckPull(event.head_sha, is_fork=event.head_repository != event.origin.repository)
        case "closed":
            return ClosePull(event.is_merged)
        case action:
            return _no(action)


def _check(event: CheckEvent, rules: Rules) -> Intent:
    if event.origin.action != "rerequested":
        return _no(event.origin.action)
    if rules.app is not None and event.app is not None and event.app != rules.app:
        return Nothing("another App's check")
    return Rerun(event.head_sha, event.external_id)


def _installation(event: InstallationEvent) -> Intent:
    gone, granted = event.origin.action in ("deleted", "suspend"), event.origin.action == "new_permissions_accepted"
    if gone or granted or event.added or event.removed:
        return Know(event.added, event.removed, is_whole=gone, is_granted=granted)
    return _no(event.origin.action)


def _repository(event: RepositoryEvent) -> Intent:
    renamed = event.origin.action in ("renamed", "transferred") and event.before
    return Rename(event.before) if renamed else _no(event.origin.action)


def _is_merge(event: Event) -> bool:
    """Tell whether a pull request was merged: one that waited for its checks is merged by the forge in our name."""
    return isinstance(event, PullEvent) and event.origin.action == "closed" and event.is_merged


def _is_ours(actor: Actor, rules: Rules) -> bool:
    # nobody else can have it: the forge keeps brackets out of people's logins
    return bool(rules.login) and actor.login.lower() == rules.login.lower()


def _is_shared(actor: Actor, rules: Rules) -> bool:
    return bool(rules.shared) and actor.login.lower() == rules.shared.lower()


def _same(label: str, other: str) -> bool:
    return label.casefold() == other.casefold()  # as the forge compares labels


def _who(actor: Actor) -> str:
    return f"@{actor.login}" if actor.login else "somebody"


def _no(action: str) -> Nothing:
    return Nothing(f"{action or 'no action'}: asks nothing")
