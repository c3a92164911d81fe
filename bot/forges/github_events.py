"""Read GitHub's webhook payloads: only the fields we need, tolerant of nulls, new fields and new words. No I/O."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from bot.forges import payloads
from bot.forges.events import (
    Actor,
    CheckEvent,
    CommentEvent,
    Event,
    InstallationEvent,
    IssueEvent,
    LinkEvent,
    Origin,
    PingEvent,
    PullEvent,
    RepositoryEvent,
    ReviewEvent,
    Unread,
)
from bot.forges.payloads import Payload

MOST_NUMBER = 2**53  # what JSON carries safely, and a database's integer too


class _Missing(Exception):
    """A payload lacks what its event cannot be understood without."""


_PAYLOAD = msgspec.json.Decoder(Payload, strict=False)


def read_event(event: str, body: bytes) -> Event:
    """Return what a delivery tells; one that cannot be understood is Unread, never an exception."""
    reader = READERS.get(event)
    if reader is None:
        return Unread(f"nothing here reads the event {event!r}")
    try:
        return reader(_PAYLOAD.decode(body))
    except (_Missing, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Unread(f"{event}: {error}")


def read_issue(payload: Payload) -> Event:
    """Read `issues`."""
    issue = payload.issue or payloads.Issue()
    changes = payload.changes or payloads.Changes()
    parts = issue.sub_issues_summary or payloads.Parts()
    return IssueEvent(
        origin=_origin(payload, needs_repository=True),
        number=_number(issue.number, "issue.number"),
        title=_text(issue.title),
        body=_text(issue.body),
        is_open=issue.state != "closed",
        author=_actor(issue.user),
        label=_text(payload.label.name) if payload.label else "",
        labels=tuple(_text(label.name) for label in issue.labels or [] if label.name),
        at=_time(issue.updated_at),
        is_text_changed=changes.title is not None or changes.body is not None,
        blocked_by=(issue.issue_dependencies_summary or payloads.Dependencies()).blocked_by or 0,
        parts=max(0, (parts.total or 0) - (parts.completed or 0)),
    )


def read_dependency(payload: Payload) -> Event:
    """Read `issue_dependencies`: which issue is blocked by other ones than before."""
    return _link(payload, payload.blocked_issue, "blocked_issue")


def read_part(payload: Payload) -> Event:
    """Read `sub_issues`: which issue has other parts than before."""
    return _link(payload, payload.parent_issue, "parent_issue")


def _link(payload: Payload, issue: payloads.Issue | None, name: str) -> Event:
    origin = _origin(payload, needs_repository=True)
    found = issue or payloads.Issue()
    where = _text(found.repository_url)
    if where and not where.lower().endswith(f"/repos/{origin.repository.lower()}"):
        return Unread(f"{name} is another repository's, which hears of it itself")
    return LinkEvent(origin, _number(found.number, f"{name}.number"))


def read_comment(payload: Payload) -> Event:
    """Read `issue_comment`."""
    issue, comment = payload.issue or payloads.Issue(), payload.comment or payloads.Comment()
    return CommentEvent(
        origin=_origin(payload, needs_repository=True),
        number=_number(issue.number, "issue.number"),
        is_on_pull=bytes(issue.pull_request) not in (b"", b"null"),
        comment=_number(comment.id, "comment.id"),
        text=_text(comment.body),
        author=_actor(comment.user),
        app=_app(comment.performed_via_github_app),
        is_open=issue.state != "closed",
        title=_text(issue.title),
        body=_text(issue.body),
    )


def read_pull(payload: Payload) -> Event:
    """Read `pull_request`."""
    pull = payload.pull_request or payloads.Pull()
    head, base = pull.head or payloads.End(), pull.base or payloads.End()
    return PullEvent(
        origin=_origin(payload, needs_repository=True),
        number=_number(pull.number, "pull_request.number"),
        head_sha=_sha(head.sha, "pull_request.head.sha"),
        head_branch=_text(head.ref),
        head_repository=_text(head.repo.full_name) or None if head.repo else None,
        base_branch=_text(base.ref),
        author=_actor(pull.user),
        is_merged=bool(pull.merged),
        at=_time(pull.updated_at),
    )


def read_review(payload: Payload) -> Event:
    """Read `pull_request_review`."""
    pull, review = payload.pull_request or payloads.Pull(), payload.review or payloads.Review()
    return ReviewEvent(
        origin=_origin(payload, needs_repository=True),
        number=_number(pull.number, "pull_request.number"),
        text=_text(review.body),
        verdict=_text(review.state).lower(),
        author=_actor(review.user),
        review=_number(review.id, "review.id"),
        app=_app(review.performed_via_github_app),
    )


def read_review_comment(payload: Payload) -> Event:
    """Read `pull_request_review_comment`."""
    pull, comment = payload.pull_request or payloads.Pull(), payload.comment or payloads.Comment()
    return ReviewEvent(
        origin=_origin(payload, needs_repository=True),
        number=_number(pull.number, "pull_request.number"),
        text=_text(comment.body),
        verdict="",
        author=_actor(comment.user),
        review=_number(comment.id, "comment.id"),
        path=_text(comment.path),
        line=comment.line,
        app=_app(comment.performed_via_github_app),
    )


def read_check_run(payload: Payload) -> Event:
    """Read `check_run`."""
    return _check(payload, payload.check_run or payloads.Check(), "run")


def read_check_suite(payload: Payload) -> Event:
    """Read `check_suite`."""
    return _check(payload, payload.check_suite or payloads.Check(), "suite")


def read_installation(payload: Payload) -> Event:
    """Read `installation` and `installation_repositories`."""
    added, removed = payload.repositories_added or [], payload.repositories_removed or []
    here = payload.repositories or []
    if payload.action in ("deleted", "suspend"):
        removed = [*removed, *here]
    else:
        added = [*added, *here]
    origin = _origin(payload, needs_repository=False)
    if origin.installation is None:
        raise _Missing("expected installation.id")
    return InstallationEvent(origin, _names(added), _names(removed))


def read_repository(payload: Payload) -> Event:
    """Read `repository`."""
    origin = _origin(payload, needs_repository=True)
    owner, name = origin.repository.split("/", 1)
    changes = payload.changes or payloads.Changes()
    before_name = _was(changes.repository.name) if changes.repository else ""
    before_owner = changes.owner.from_ if changes.owner and changes.owner.from_ else payloads.OwnerWas()
    before = f"{_login(before_owner.user) or _login(before_owner.organization) or owner}/{before_name or name}"
    return RepositoryEvent(origin, before if before != origin.repository and _is_name(before) else "")


def read_ping(payload: Payload) -> Event:
    """Read `ping`."""
    return PingEvent(_origin(payload, needs_repository=False))


READERS: Mapping[str, Callable[[Payload], Event]] = {
    "issues": read_issue,
    "issue_dependencies": read_dependency,
    "sub_issues": read_part,
    "issue_comment": read_comment,
    "pull_request": read_pull,
    "pull_request_review": read_review,
    "pull_request_review_comment": read_review_comment,
    "check_run": read_check_run,
    "check_suite": read_check_suite,
    "installation": read_installation,
    "installation_repositories": read_installation,
    "repository": read_repository,
    "ping": read_ping,
}


def _check(payload: Payload, check: payloads.Check, kind: str) -> CheckEvent:
    return CheckEvent(
        origin=_origin(payload, needs_repository=True),
        kind=kind,
        head_sha=_sha(check.head_sha, f"check_{kind}.head_sha"),
        app=_app(check.app),
        name=_text(check.name),
        external_id=_text(check.external_id),
    )


def _origin(payload: Payload, *, needs_repository: bool) -> Origin:
    name = payload.repository.full_name if payload.repository else None
    if needs_repository and not _is_name(name or ""):
        raise _Missing("expected repository.full_name as OWNER/NAME")
    installation = payload.installation.id if payload.installation else None
    if installation is not None:
        installation = _number(installation, "installation.id")
    return Origin(name or "", _actor(payload.sender), _text(payload.action), installation)


def _is_name(name: str) -> bool:
    parts = name.split("/")
    return len(parts) == 2 and all(re.fullmatch(r"[A-Za-z0-9._-]{1,100}", p) and p not in (".", "..") for p in parts)


def _actor(user: payloads.User | None) -> Actor:
    if user is None:
        return Actor()
    id_ = user.id if user.id is not None and 0 < user.id < MOST_NUMBER else 0
    return Actor(_text(user.login), id_, user.type == "Bot")


def _login(user: payloads.User | None) -> str:
    return _text(user.login) if user else ""


def _app(app: payloads.App | None) -> int | None:
    return app.id if app else None


def _number(found: int | None, where: str) -> int:
    if found is None or not 0 < found < MOST_NUMBER:
        raise _Missing(f"expected {where} as a positive number")
    return found


def _sha(found: str | None, where: str) -> str:
    if found is None or not re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", found):
        raise _Missing(f"expected {where} as a commit's id")
    return found


def _text(found: str | None) -> str:
    return (found or "").replace("\0", "")  # PostgreSQL's text cannot hold it


def _time(found: str | None) -> float:
    try:
        return datetime.fromisoformat(found or "").timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _was(change: payloads.Was | None) -> str:
    if change is None:
        return ""
    try:
        return _text(msgspec.json.decode(change.from_, type=str))
    except msgspec.DecodeError:
        return ""


def _names(found: list[payloads.Repository]) -> tuple[str, ...]:
    return tuple(r.full_name for r in found if r.full_name and _is_name(r.full_name))
