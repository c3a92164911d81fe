"""What comes of an intent about a pull request or a check; all in the transaction of its delivery."""

from bot.forges.events import PullEvent
from bot.inbox.intent import CheckPull, ClosePull, FollowUp, Pushed, Rerun
from bot.inbox.turn import UNHEARD, Done, Effect, Ignored, Later, Turn, attempt_again, merges_no_more
from bot.inbox.visible import visible
from bot.tickets import bundles, pull_checks, tickets
from bot.tickets.marks import Mark
from bot.tickets.ticket import Outcome, State, Ticket

HEAD = "head"  # the mark of what was heard last of a pull request


def follow_up(turn: Turn, intent: FollowUp) -> Effect:
    """Hand a review's words to a new attempt on the same branch."""
    ticket = tickets.find_by_pull(turn.c, turn.repository, turn.number)
    if ticket is None:
        return Ignored("not our pull request")
    if not turn.standing.may:
        return Ignored(turn.standing.why_not())
    if ticket.outcome is Outcome.MERGED and ticket.state is State.DONE:
        return Ignored("the pull request is merged")
    said = visible(f"@{turn.standing.actor.login}: {intent.text}")
    match ticket.state:
        case State.RUNNING:
            return Later(f"ticket {ticket.id} is running; its follow-up comes after that")
        case State.DONE:
            return attempt_again(turn, ticket, title=ticket.title, body=ticket.body, feedback=said)
        case State.QUEUED | State.NEEDS_APPROVAL:
            tickets.amend(turn.c, ticket, now=turn.now, feedback="\n\n".join(filter(None, (ticket.feedback, said))))
            return Done(f"added to what ticket {ticket.id} is to do")


def check_pull(turn: Turn, event: PullEvent, intent: CheckPull) -> Effect:
    """Want the gate's word on a head commit; an outsider's waits for approval, each commit anew."""
    stale = _is_older(turn, event.at, is_open=True)
    if stale:
        return Ignored(stale)
    vouched = turn.standing.may and not intent.is_fork
    wanted = pull_checks.want(
        turn.c, turn.repository, turn.number, intent.head_sha, is_fork=intent.is_fork, author=event.author.login,
        approved_by=turn.standing.actor.login if vouched else "", installation=turn.origin.installation, now=turn.now,
    )  # fmt: skip
    _outdate(turn, but=intent.head_sha)
    if wanted is None:
        return Ignored("this commit was asked about before")
    if turn.answers_left() == 0:
        return Done(f"waits for approval; {UNHEARD}")
    turn.checked(turn.c, wanted.id)
    if wanted.state == pull_checks.QUEUED:
        return Done("queued")
    short = intent.head_sha[:10]
    whose = "a fork's commit" if intent.is_fork else "an outsider's commit"
    turn.reply(
        f"check:{short}",
        f"✋ The gate runs {whose} only after somebody with **{turn.standing.floor}** access or above looked at it "
        f"and comments `/bot approve {short}`. A new commit needs a new approval.",
    )
    return Done("waits for approval")


def pushed(turn: Turn, event: PullEvent, intent: Pushed) -> Effect:
    """Take back that the forge merges our pull request by itself once somebody else's commit is its head."""
    ticket = tickets.find_by_pull(turn.c, turn.repository, turn.number)
    if ticket is None:
        return Ignored("not our pull request")
    mine = tickets.heads_of(turn.c, ticket.id)
    if intent.head_sha in mine or bundles.find(turn.c, ticket.id, intent.head_sha) is not None:
        return Ignored("we pushed this ourselves")
    who, short = f"@{turn.standing.actor.login}", intent.head_sha[:10]
    why = f"{who} pushed `{short}` to `{event.head_branch}`, which the gate has not judged."
    if not merges_no_more(turn, ticket, why):
        return Ignored("nothing merges by itself")
    return Done(f"ticket {ticket.id} no longer merges by itself")


def close_pull(turn: Turn, event: PullEvent, intent: ClosePull) -> Effect:
    """Note what people did with our pull request."""
    ticket = tickets.find_by_pull(turn.c, turn.repository, turn.number)
    if ticket is None and not turn.settings.checks:
        return Ignored("not our pull request")
    if ticket is None:
        stale = _is_older(turn, event.at, is_open=False)
        if stale:
            return Ignored(stale)
        given_up = _outdate(turn)
        return Done(f"{given_up} checks given up") if given_up else Ignored("nothing of ours is under way for it")
    who = f"@{turn.standing.actor.login}"
    if ticket.state is State.DONE:
        if not intent.is_merged or ticket.outcome is Outcome.MERGED:
            return Ignored("nothing is under way")
        tickets.amend(turn.c, ticket, now=turn.now, outcome=Outcome.MERGED, reason=f"Merged by {who}.")
    elif intent.is_merged:
        return Ignored("merged while work goes on; its next look at the pull request finds that")
    else:
        tickets.request_cancel(turn.c, ticket.id, f"The pull request was closed by {who}.", turn.now)
    turn.told(turn.c, ticket.id)
    return Done(f"ticket {ticket.id}")


def rerun(turn: Turn, intent: Rerun) -> Effect:
    """Go again where somebody pressed "Re-run" who may start work."""
    number = intent.external_id.removeprefix("ticket-")
    check = pull_checks.find(turn.c, turn.repository, intent.head_sha)
    if check is not None and check.state == pull_checks.DONE:
        if not turn.standing.may:
            return Ignored(turn.standing.why_not())
        pull_checks.move(turn.c, check, pull_checks.QUEUED, now=turn.now)
        turn.checked(turn.c, check.id)
        return Done("the check is queued again")
    if check is not None:
        return Ignored(f"the check is {check.state}")
    ticket = _ticket_of(turn, number, intent.head_sha)
    if ticket is None:
        return Ignored("no ticket and no check of this commit")
    if ticket.state is not State.DONE:
        return Ignored(f"ticket {ticket.id} is {ticket.state} already")
    return attempt_again(turn, ticket, title=ticket.title, body=ticket.body)


def _is_older(turn: Turn, at: float, *, is_open: bool) -> str:
    """Return why an event of a pull request tells nothing new: a later one was heard of already."""
    before = turn.mark(HEAD)
    if before is not None and 0.0 < at < before.at:
        return "something newer is known of this pull request"
    turn.put_mark(HEAD, Mark(is_open, at))
    return ""


def _outdate(turn: Turn, *, but: str = "") -> int:
    """Give up the checks of a pull request's other commits; return how many there were."""
    given_up = pull_checks.outdate(turn.c, turn.repository, turn.number, but=but, now=turn.now)
    for check in given_up:
        turn.checked(turn.c, check.id)
    return len(given_up)


def _ticket_of(turn: Turn, number: str, head_sha: str) -> Ticket | None:
    found = None
    if number.isdecimal() and len(number) < 10:
        try:
            found = tickets.get_ticket(turn.c, int(number))
        except LookupError:
            found = None
    if found is None or found.repository != turn.repository:
        found = tickets.find_by_head(turn.c, turn.repository, head_sha)
    return found
