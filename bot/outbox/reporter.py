"""Turn the state of a ticket into wishes: its comment, its labels, its check run."""

from dataclasses import dataclass, replace

import sqlalchemy as sa

from bot.outbox import comments
from bot.outbox.comments import Story
from bot.tickets import journal, posts, pull_checks, repositories, tickets
from bot.tickets.posts import Post
from bot.tickets.pull_checks import PullCheck
from bot.tickets.seconds import saved
from bot.tickets.ticket import Outcome, State, Ticket
from gate.report import Level, Report, Verdict, read_report

CHECK_NAME = "sluice"
IN_PROGRESS = "in progress"
MOST_ANNOTATIONS = 50  # that GitHub takes in one request
ANNOTATION_LEVELS = {Level.ERROR: "failure", Level.WARNING: "warning", Level.NOTE: "notice"}
OUTCOME_LABELS = {outcome: f"bot: {outcome.value.replace('_', ' ')}" for outcome in Outcome}
OURS = (IN_PROGRESS, *OUTCOME_LABELS.values())


@dataclass(frozen=True, slots=True)
class Links:
    """Where people find what the comment points to; an empty dashboard gives no link."""

    forge: str
    dashboard: str = ""

    def ticket(self, ticket: Ticket) -> str:
        """Return the address of the ticket's page."""
        return f"{self.dashboard.rstrip('/')}/tickets/{ticket.id}" if self.dashboard else ""

    def check(self, check: PullCheck) -> str:
        """Return the address of the page of a check."""
        return f"{self.dashboard.rstrip('/')}/checks/{check.id}" if self.dashboard else ""

    def pull(self, ticket: Ticket) -> str:
        """Return the address of the ticket's pull request."""
        return f"{self.forge.rstrip('/')}/{ticket.repository}/pull/{ticket.pull}" if ticket.pull else ""

    def branch(self, ticket: Ticket) -> str:
        """Return the address of the ticket's branch."""
        known = ticket.branch and ticket.head_sha
        return f"{self.forge.rstrip('/')}/{ticket.repository}/tree/{ticket.branch}" if known else ""


def report(c: sa.Connection, ticket_id: int, *, links: Links, now: float, proposal: str = "") -> None:
    """Wish for the comment and the labels that the ticket's present state calls for."""
    told = replace(story(c, tickets.get_ticket(c, ticket_id), links), proposal=proposal)
    ticket = told.ticket
    where = f"{ticket.repository}#{ticket.issue}"
    body = comments.ticket_comment(told)
    wanted = {"issue": ticket.issue, "marker": comments.marker(ticket), "body": body}
    urgent = ticket.state is not State.RUNNING
    for kind, wish in (("comment", wanted), ("labels", labels(ticket))):
        posts.want(c, f"{kind}:{where}", kind, repository=ticket.repository, installation=ticket.installation,
                   wanted=wish, now=now, urgent=urgent)  # fmt: skip


def check_key(repository: str, sha: str) -> str:
    """Return the key of the wish for a commit's check run."""
    return f"check:{repository}@{sha}"


def want_check(c: sa.Connection, ticket: Ticket, head_sha: str, found: Report, *, now: float, url: str = "") -> None:
    """Wish for the check run that carries the gate's report on a pushed commit."""
    wanted = {"name": CHECK_NAME, "head_sha": head_sha, "external_id": f"ticket-{ticket.id}", **judged(found, url)}
    if url:
        wanted["details_url"] = url
    posts.want(c, check_key(ticket.repository, head_sha), "check", repository=ticket.repository,
               installation=ticket.installation, wanted=wanted, now=now, urgent=True)  # fmt: skip


def report_check(c: sa.Connection, number: int, *, links: Links, now: float) -> None:
    """Wish for the check run that a person's pull request shows at its head commit."""
    check = pull_checks.get(c, number)
    if check is None:
        return
    url = links.check(check)
    match check.state:
        case pull_checks.DONE:
            shown = judged(read_report(check.report or ""), url)
        case pull_checks.OUTDATED:
            shown = {"status": "completed", "conclusion": "cancelled", "output": comments.OUTDATED_CHECK}
        case pull_checks.RUNNING:
            shown = {"status": "in_progress", "output": comments.RUNNING_CHECK}
        case pull_checks.NEEDS_APPROVAL:
            shown = {"status": "queued", "output": comments.waiting_check(check.head_sha, is_fork=check.is_fork)}
        case _:
            shown = {"status": "queued", "output": comments.QUEUED_CHECK}
    wanted = {"name": CHECK_NAME, "head_sha": check.head_sha, "external_id": f"pull-{check.pull}", **shown}
    if url:
        wanted["details_url"] = url
    posts.want(c, check_key(check.repository, check.head_sha), "check", repository=check.repository,
               installation=check.installation, wanted=wanted, now=now,
               urgent=check.state != pull_checks.RUNNING)  # fmt: skip


def report_again(c: sa.Connection, post: Post, *, links: Links, now: float) -> None:
    """Tell the ticket behind a post once more: what we may do in its repository changed."""
    external = str(post.wanted.get("external_id", ""))
    found = None
    if external.startswith("ticket-"):
        found = tickets.get_ticket(c, int(external.removeprefix("ticket-")))
    elif "issue" in post.wanted:
        found = tickets.find_ticket(c, post.repository, int(post.wanted["issue"]))
    if found is not None:
        report(c, found.id, links=links, now=now)


def judged(found: Report, url: str) -> dict[str, object]:
    """Return what a check run says of a report; every verdict but GREEN fails it."""
    output: dict[str, object] = {
        "title": comments.check_title(found),
        "summary": comments.truncate(comments.gate_table(found), comments.CHECK_LENGTH, url),
    }
    notes = [_annotation(f.path, f.line, f.level, f"{f.rule}: {f.message}") for f in found.findings if f.path]
    if notes:
        output["annotations"] = notes[:MOST_ANNOTATIONS]
    conclusion = "success" if found.verdict is Verdict.GREEN else "failure"
    return {"status": "completed", "conclusion": conclusion, "output": output}


def _annotation(path: str, line: int | None, level: Level, message: str) -> dict[str, object]:
    return {
        "path": path, "start_line": line or 1, "end_line": line or 1, "annotation_level": ANNOTATION_LEVELS[level],
        "message": message,
    }  # fmt: skip


def labels(ticket: Ticket) -> dict[str, object]:
    """Return which labels the issue should gain and lose; the trigger goes once work began."""
    match ticket.state:
        case State.NEEDS_APPROVAL | State.QUEUED:
            keep = ""
        case State.RUNNING:
            keep = IN_PROGRESS
        case State.DONE:
            keep = OUTCOME_LABELS[ticket.outcome] if ticket.outcome else ""
    trigger = [ticket.label] if ticket.state in (State.RUNNING, State.DONE) else []
    return {
        "issue": ticket.issue,
        "add": [keep] if keep else [],
        "remove": [*trigger, *(label for label in OURS if label != keep)],
    }


def story(c: sa.Connection, ticket: Ticket, links: Links) -> Story:
    """Return all that is told about a ticket's present attempt."""
    attempt = tickets.find_attempt(c, ticket.id, ticket.attempt)
    times = journal.times_of(c, ticket.id, ticket.attempt)
    usage = attempt.usage if attempt else {}
    return Story(
        ticket=ticket,
        times=times,
        saved_s=saved(times, repositories.cold_of(c, ticket.repository)),
        report=read_report(attempt.report) if attempt and attempt.report else None,
        model=str(usage.get("model", "")),
        turns=int(usage.get("turns", 0)),
        tokens=int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0)),
        dollars=usage.get("dollars", 0.0),
        sandbox=attempt.sandbox if attempt else "",
        dashboard=links.ticket(ticket),
        pull_url=links.pull(ticket),
        branch_url=links.branch(ticket),
        missing=repositories.missing(c, ticket.repository),
    )
