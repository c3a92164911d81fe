"""A ticket as the pages show it."""

from dataclasses import dataclass

from bot.tickets.ticket import Outcome, State, Ticket

GOOD = frozenset({Outcome.MERGED, Outcome.PROPOSED})
QUIET = frozenset({Outcome.NO_CHANGE, Outcome.CANCELLED})
HELD = frozenset({Outcome.HELD, Outcome.OVER_BUDGET, Outcome.UNGATED})


@dataclass(frozen=True, slots=True)
class Row:
    """What one line of the table says; `tone` names a colour, never the only carrier of meaning."""

    id: int
    repository: str
    issue: int
    title: str
    state: str
    stage: str | None
    outcome: str | None
    verdict: str | None
    state_words: str
    tone: str
    reason: str
    attempt: int
    pull: int | None
    seconds: float
    done: bool


def row(ticket: Ticket, *, now: float, wait: str = "") -> Row:
    """Return the line of a ticket; a running one counts its seconds up to `now`."""
    done = ticket.state is State.DONE
    return Row(
        id=ticket.id, repository=ticket.repository, issue=ticket.issue, title=ticket.title, state=ticket.state,
        stage=ticket.stage, outcome=ticket.outcome, verdict=ticket.verdict, state_words=_words(ticket),
        tone=_tone(ticket), reason=wait or ticket.reason, attempt=ticket.attempt, pull=ticket.pull,
        seconds=max(0.0, (ticket.updated_at if done else now) - ticket.created_at), done=done,
    )  # fmt: skip


def _words(ticket: Ticket) -> str:
    match ticket.state:
        case State.NEEDS_APPROVAL:
            return "needs approval"
        case State.QUEUED:
            return "queued"
        case State.RUNNING:
            return f"running: {ticket.stage}" if ticket.stage else "starting"
        case State.DONE:
            return (ticket.outcome or "done").replace("_", " ")


def _tone(ticket: Ticket) -> str:
    if ticket.state is State.RUNNING:
        return "busy"
    if ticket.state is State.NEEDS_APPROVAL or ticket.outcome in HELD:
        return "held"
    if ticket.state is State.QUEUED or ticket.outcome in QUIET:
        return "quiet"
    return "good" if ticket.outcome in GOOD else "bad"
