"""Turn the state of a ticket into wishes: its comment, its labels, its check run."""

from dataclasses import dataclass, replace

import sqlalchemy as sa

from bot.outbox import comments
from bot.outbox.comments import Story
from bot.tickets import journal, posts, repositories, tickets
from bot.tickets.seconds import saved
from bot.tickets.ticket import Outcome, State, Ticket
from gate.report import Report, Verdict, read_report

CHECK_NAME = "sluice"
IN_PROGRESS = "in progress"
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


def want_check(c: sa.Connection, ticket: Ticket, head_sha: str, found: Report, *, now: float, url: str = "") -> None:
    """Wish for the check run that carries the gate's report on a pushed commit."""
    text = comments.truncate(comments.gate_table(found), comments.CHECK_LENGTH, url)
    wanted = {
        "name": CHECK_NAME,
        "head_sha": head_sha,
        "status": "completed",
        "conclusion": "success" if found.verdict is Verdict.GREEN else "failure",
        "external_id": f"ticket-{ticket.id}",
        "output": {"title": comments.check_title(found), "summary": text},
    }
    posts.want(c, f"check:{ticket.repository}@{head_sha}", "check", repository=ticket.repository,
               installation=ticket.installation, wanted=wanted, now=now)  # fmt: skip


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
    )
