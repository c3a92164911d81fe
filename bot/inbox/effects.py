"""What comes of an intent about an issue, a pull request or a repository; all in the transaction of its delivery."""

from bot.forges.events import IssueEvent
from bot.inbox.intent import Again, Know, Rename, Reword, Start, Stop
from bot.inbox.scope import edges_of, scope_of
from bot.inbox.turn import (
    UNHEARD,
    Done,
    Effect,
    Ignored,
    Later,
    NeedsLook,
    Turn,
    approvable,
    attempt_again,
    merges_no_more,
    show_difference,
    text_was_shown,
)
from bot.inbox.visible import visible
from bot.tickets import posts, repositories, tickets
from bot.tickets.marks import Mark
from bot.tickets.open_issues import OPEN
from bot.tickets.ticket import State, Ticket
from bot.tickets.tickets import Wish

KNOWN = "this is known"
STOPPING = "the ticket is being cancelled; this is looked at once that is over"
TOGETHER_S = 10.0  # `opened` and the `labeled` that goes with it are no further apart


def start(turn: Turn, event: IssueEvent, intent: Start) -> Effect:
    """Make a ticket, or a new attempt of the one that ended."""
    what = f"label:{intent.label.casefold()}"
    before = turn.mark(what)
    ticket = turn.ticket()
    asked = ticket if ticket is not None and _vouches(turn, ticket) else None
    stale = _is_stale(event, before, on=True, shown=_carries(turn, intent.label))
    if stale and not (asked is not None and stale == KNOWN):
        return Ignored(stale)
    gone = turn.mark(OPEN)
    if gone is not None and not gone.is_on and gone.at >= event.at:
        return Ignored("the issue was closed meanwhile")
    if ticket is not None and _is_stopping(ticket):
        return Later(STOPPING)
    turn.put_mark(what, Mark(True, event.at, event.origin.action))
    if ticket is None:
        return _create(turn, event, intent.label)
    if asked is not None:
        return _let_in(turn, asked, event)
    if ticket.state is not State.DONE:
        return Ignored(f"ticket {ticket.id} is {ticket.state} already")
    if before is not None and before.note == "opened" and event.at - before.at <= TOGETHER_S:
        return Ignored(f"ticket {ticket.id} came of this very label")
    return _one_more(turn, ticket, event)


def again(turn: Turn, event: IssueEvent, _intent: Again) -> Effect:
    """Start a new attempt when the issue is reopened."""
    before = turn.mark(OPEN)
    stale = _is_stale(event, before, on=True, shown=turn.seen.state == "open" if turn.seen else None)
    if stale:
        return Ignored(stale)
    ticket = turn.ticket()
    if ticket is not None and _is_stopping(ticket):
        return Later(STOPPING)
    turn.put_mark(OPEN, Mark(True, event.at))
    if ticket is None:
        wanted = any(label.casefold() == turn.label.casefold() for label in event.labels)
        return start(turn, event, Start(turn.label)) if wanted else Ignored("no ticket, and no label")
    if ticket.state is not State.DONE:
        return Ignored(f"ticket {ticket.id} is {ticket.state} already")
    label = turn.mark(f"label:{turn.label.casefold()}")
    if label is not None and not label.is_on:
        return Ignored("somebody took the label off")
    return _one_more(turn, ticket, event)


def stop(turn: Turn, event: IssueEvent, intent: Stop) -> Effect:
    """Cancel what the issue's ticket does."""
    by_label = event.origin.action == "unlabeled"
    what = f"label:{turn.label.casefold()}" if by_label else OPEN
    shown = None
    if turn.seen is not None:
        shown = _carries(turn, turn.label) if by_label else turn.seen.state == "open"
    stale = _is_stale(event, turn.mark(what), on=False, shown=shown)
    if stale:
        return Ignored(stale)
    turn.put_mark(what, Mark(False, event.at))
    ticket = turn.ticket()
    if ticket is not None and ticket.is_over and merges_no_more(turn, ticket, intent.reason):
        return Done(f"ticket {ticket.id} no longer merges by itself")
    if ticket is None or ticket.is_over:
        return Ignored("nothing is under way")
    tickets.request_cancel(turn.c, ticket.id, intent.reason, turn.now)
    turn.told(turn.c, ticket.id)
    return Done(f"ticket {ticket.id} cancelled")


def reword(turn: Turn, event: IssueEvent, _intent: Reword) -> Effect:
    """Take a trusted person's new text; show anybody else's, and wait for approval."""
    before = turn.mark("text")
    if before is not None and event.at < before.at:
        return Ignored("the text was changed again later")
    shown = before.note if before else ""
    turn.put_mark("text", Mark(turn.standing.may, event.at, shown))
    ticket = turn.ticket()
    if ticket is None:
        return Ignored("no ticket")
    label = turn.mark(f"label:{ticket.label.casefold()}")
    if text_was_shown(turn, ticket, event.title, event.body) or (label is not None and event.at < label.at):
        return Ignored("the frozen text already says this")
    if turn.standing.may and ticket.state in (State.QUEUED, State.NEEDS_APPROVAL) and ticket.outcome is None:
        changed = tickets.reword(
            turn.c,
            ticket,
            title=visible(event.title),
            body=visible(event.body),
            now=turn.now,
            **scope_of(turn, event.title, event.body, before=ticket),
        )  # whoever may approve need not ask for approval
        turn.told(turn.c, changed.id)
        return Done(f"ticket {ticket.id} takes the new text")
    show_difference(turn, ticket, event.title, event.body)
    if ticket.state is State.QUEUED:
        reason = approvable(turn, f"The text was changed by @{turn.standing.actor.login} after work was asked for.")
        tickets.move(turn.c, ticket, State.NEEDS_APPROVAL, now=turn.now, reason=reason)
        turn.told(turn.c, ticket.id)
    return Done(f"the difference is shown; ticket {ticket.id} keeps its text")


def relink(turn: Turn) -> Effect:
    """Let a ticket wait for what the forge now says that its issue waits for."""
    ticket = tickets.find_ticket(turn.c, turn.repository, turn.number)
    if ticket is None:
        return Ignored("no ticket; what it waits for is looked at when there is one")
    if ticket.state is State.RUNNING:
        return Ignored(f"ticket {ticket.id} is running already")
    edges = edges_of(turn, ticket.title, ticket.body, own=ticket.issue, before=ticket)
    if edges == ticket.edges:
        return Ignored("this is known")
    tickets.amend(turn.c, ticket, now=turn.now, edges=edges)
    return Done(f"ticket {ticket.id} waits for {', '.join(f'#{n}' for _, n in edges) or 'nothing'}")


def know(turn: Turn, intent: Know) -> Effect:
    """Remember which repositories are reached, and through which installation."""
    for name in intent.added:
        repositories.keep_installation(turn.c, name, turn.origin.installation)
    gone = list(intent.removed)
    if intent.is_whole and turn.origin.installation is not None:
        gone += repositories.of_installation(turn.c, turn.origin.installation)
    if intent.is_granted and turn.origin.installation is not None:
        for name in repositories.of_installation(turn.c, turn.origin.installation):
            repositories.note_granted(turn.c, name)
            posts.try_now(turn.c, name)
    for name in gone:
        repositories.keep_installation(turn.c, name, None)
    return Done(f"{len(intent.added)} reached, {len(set(gone))} no longer")


def rename(turn: Turn, intent: Rename) -> Effect:
    """Follow a repository to its new name."""
    repositories.rename(turn.c, intent.before, turn.repository)
    return Done(f"{intent.before} is {turn.repository} now")


def _create(turn: Turn, event: IssueEvent, label: str) -> Effect:
    reason = turn.parked() if turn.standing.may else turn.standing.why_not()
    edited = turn.mark("text")
    title, body = visible(event.title), visible(event.body)
    if not reason and edited is not None and edited.at > event.at and not edited.is_on:
        if turn.seen is None:
            raise NeedsLook
        reason = "The text was changed after work was asked for."
    wish = Wish(
        repository=turn.repository, issue=event.number, title=title, body=body, label=label,
        trigger_key=label.casefold(), requester=event.origin.sender.login,
        requester_id=event.origin.sender.id, installation=event.origin.installation,
        approved=not reason, reason=approvable(turn, reason) if reason else "", priority=_priority(turn, event),
        **scope_of(turn, title, body),
    )  # fmt: skip
    ticket = tickets.create_ticket(turn.c, wish, now=turn.now)
    if ticket is None:
        return Ignored("this label made a ticket already")
    if turn.seen is not None and not text_was_shown(turn, ticket, turn.seen.title, turn.seen.body or ""):
        show_difference(turn, ticket, turn.seen.title, turn.seen.body or "")
    silent = "" if turn.tell(ticket.id) else f"; {UNHEARD}"
    return Done(f"ticket {ticket.id}: {ticket.state}{silent}")


def _one_more(turn: Turn, ticket: Ticket, event: IssueEvent) -> Effect:
    """Start a new attempt that waits for what the issue depends on now."""
    effect = attempt_again(turn, ticket, title=event.title, body=event.body)
    waiting = tickets.get_ticket(turn.c, ticket.id)
    edges = edges_of(turn, waiting.title, waiting.body, own=ticket.issue, before=waiting)
    if edges != waiting.edges:
        tickets.amend(turn.c, waiting, now=turn.now, edges=edges)
    return effect


def _vouches(turn: Turn, ticket: Ticket) -> bool:
    """Tell whether somebody who may start work now asks for what an outsider asked for before."""
    waits = ticket.state is State.NEEDS_APPROVAL and ticket.outcome is None
    return turn.standing.may and waits and ticket.requester != turn.standing.actor.login


def _let_in(turn: Turn, ticket: Ticket, event: IssueEvent) -> Effect:
    now = turn.now
    scope = scope_of(turn, event.title, event.body, before=ticket)
    changed = tickets.reword(turn.c, ticket, title=visible(event.title), body=visible(event.body), now=now, **scope)
    actor = turn.standing.actor
    tickets.move(turn.c, changed, State.QUEUED, now=now, reason="", requester=actor.login, requester_id=actor.id)
    turn.told(turn.c, ticket.id)
    return Done(f"ticket {ticket.id}: approved by the label of @{actor.login}")


def _is_stopping(ticket: Ticket) -> bool:
    return ticket.state is State.RUNNING and ticket.cancel_requested


def _priority(turn: Turn, event: IssueEvent) -> int:
    first = {label.casefold() for label in turn.settings.labels.priority}
    return int(any(label.casefold() in first for label in event.labels))


def _is_stale(event: IssueEvent, before: Mark | None, *, on: bool, shown: bool | None) -> str:
    """Return why an event tells nothing new; where the clock cannot decide, the forge must be looked at."""
    if before is None or event.at > before.at or event.at == 0.0:
        return ""
    if event.at < before.at:
        return "something newer is known"
    if before.note == "opened" and on:
        return KNOWN
    if shown is None:
        raise NeedsLook
    return "" if shown == on else "the forge shows otherwise"


def _carries(turn: Turn, label: str) -> bool | None:
    if turn.seen is None:
        return None
    return any(has.name.casefold() == label.casefold() for has in turn.seen.labels)
