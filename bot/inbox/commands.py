"""What people can tell the bot in a comment. A new command is a function here and a line in COMMANDS; help follows."""

import difflib
from collections.abc import Callable
from dataclasses import asdict, dataclass

from bot.errors import UserError
from bot.inbox.calls import LEFT_OUT, MOST, Call
from bot.inbox.scope import scope_of
from bot.inbox.turn import Turn, approvable, attempt_again, merges_no_more, show_difference, text_was_shown
from bot.inbox.visible import visible
from bot.tickets import ledger, pull_checks, repository, scheduler, tickets
from bot.tickets.budget import Budget, read_amount, topped_up
from bot.tickets.claims import claim, normalise, widen
from bot.tickets.ticket import Outcome, State, Ticket

MOST_PATHS = 50


@dataclass(frozen=True, slots=True)
class Said:
    """One command, where it was said, and the issue's text as it then was (None on a pull request)."""

    turn: Turn
    call: Call
    title: str | None = None
    body: str | None = None

    def ticket(self) -> Ticket:
        """Return the ticket it is about. Raises UserError where there is none."""
        found = self.turn.ticket()
        if found is None:
            raise UserError(
                f"There is no ticket here yet. Put the label `{self.turn.label}` on the issue to start one."
            )
        return found

    def text(self, ticket: Ticket) -> tuple[str, str]:
        """Return the text that the next attempt would work from."""
        if self.title is None or self.turn.number != ticket.issue:
            return ticket.title, ticket.body
        return self.title, self.body or ""


@dataclass(frozen=True, slots=True)
class Command:
    """One line of the table."""

    name: str
    usage: str
    summary: str
    run: Callable[[Said], str]  # the answer; empty: a reaction says enough
    needs_floor: bool = True


def retry(said: Said) -> str:
    """Start another attempt."""
    ticket = said.ticket()
    if ticket.state is State.RUNNING:
        raise UserError("`retry` needs a finished ticket; this one is running. `/bot cancel` stops it.")
    if ticket.state is State.QUEUED:
        raise UserError(f"Attempt {ticket.attempt} is queued already. `/bot why` tells what it waits for.")
    if ticket.state is State.NEEDS_APPROVAL:
        return approve(said)
    title, body = said.text(ticket)
    attempt_again(said.turn, ticket, title=title, body=body, feedback=" ".join(said.call.args))
    return ""


def cancel(said: Said) -> str:
    """Stop what is under way."""
    ticket = said.ticket()
    reason = f"Cancelled by @{said.turn.standing.actor.login}."
    if ticket.is_over and merges_no_more(said.turn, ticket, reason):
        return ""
    if ticket.is_over:
        raise UserError("Nothing is under way here that could be cancelled.")
    tickets.request_cancel(said.turn.c, ticket.id, reason, said.turn.now)
    said.turn.told(said.turn.c, ticket.id)
    return ""


def approve(said: Said) -> str:
    """Let a ticket in, or a fork's commit."""
    turn = said.turn
    if said.call.name == "approve" and said.call.args:
        return _approve_commit(said, said.call.args[0].lower())
    if turn.ticket() is None and (check := pull_checks.waiting(turn.c, turn.repository, turn.number)) is not None:
        raise UserError(f"Name the commit that you looked at: `/bot approve {check.head_sha[:10]}`.")
    ticket = said.ticket()
    if ticket.state is not State.NEEDS_APPROVAL:
        raise UserError(f"This ticket waits for no approval; it is {ticket.state}.")
    title, body = said.text(ticket)
    if not text_was_shown(turn, ticket, title, body):
        show_difference(turn, ticket, title, body)
        raise UserError("The text changed and nobody was shown how. The difference is here now; approve once more.")
    if ticket.outcome is None:
        scope = scope_of(turn, title, body, before=ticket)
        tickets.reword(turn.c, ticket, title=visible(title), body=visible(body), now=turn.now, **scope)
        tickets.move(turn.c, tickets.get_ticket(turn.c, ticket.id), State.QUEUED, now=turn.now, reason="")
    else:
        tickets.requeue(
            turn.c, ticket, title=visible(title), body=visible(body), feedback=ticket.feedback, now=turn.now
        )
    turn.told(turn.c, ticket.id)
    return ""


def why(said: Said) -> str:
    """Tell why the ticket is where it is."""
    ticket = said.ticket()
    match ticket.state:
        case State.NEEDS_APPROVAL:
            return ticket.reason or approvable(said.turn, "It waits for approval.")
        case State.QUEUED:
            waits = scheduler.explain(said.turn.c, ticket, now=said.turn.now)
            return waits or "It is queued, and nothing holds it: it starts when a slot is free."
        case State.RUNNING:
            return f"It is running: {ticket.stage or 'starting'}, on attempt {ticket.attempt}."
        case State.DONE:
            verdict = f" The gate said {ticket.verdict}." if ticket.verdict else ""
            return f"It ended as **{ticket.outcome}**. {ticket.reason}{verdict}"


def status(said: Said) -> str:
    """Tell in one line where the ticket stands."""
    ticket = said.ticket()
    where = f"**{ticket.outcome}**" if ticket.state is State.DONE else f"**{ticket.state}**"
    stage = f" ({ticket.stage})" if ticket.state is State.RUNNING and ticket.stage else ""
    spent = ledger.spent(said.turn.c, ticket=ticket.id)
    pull = f", pull request #{ticket.pull}" if ticket.pull else ""
    cost = f"{spent.turns} turns, {spent.tokens:,} tokens, ${spent.dollars:.2f}"
    return f"Ticket {ticket.id} is {where}{stage}, attempt {ticket.attempt}{pull}. Used so far: {cost}."


def pause(said: Said) -> str:
    """Admit nothing new in this repository."""
    who = said.turn.standing.actor.login
    repository.pause(said.turn.c, said.turn.repository, paused=True, reason=f"@{who} paused this repository.")
    return "Nothing new starts in this repository until `/bot resume`. What runs goes on."


def resume(said: Said) -> str:
    """Admit again."""
    repository.pause(said.turn.c, said.turn.repository, paused=False)
    ticket = said.turn.ticket()
    if ticket is not None and ticket.state is State.QUEUED:
        said.turn.told(said.turn.c, ticket.id)
    return "Tickets of this repository start again."


def budget(said: Said) -> str:
    """Grant more, and go on where the budget ended the last attempt."""
    ticket = said.ticket()
    if not said.call.args:
        raise UserError("Say how much more: `/bot budget $2`, `500k tokens`, `20 turns` or `30m`.")
    amount = read_amount(" ".join(said.call.args))
    spent = ledger.spent(said.turn.c, ticket=ticket.id)
    granted = topped_up(Budget(**ticket.budget), amount, spent)  # type: ignore[arg-type] # its keys are the fields
    kept = {name: value for name, value in asdict(granted).items() if value is not None}
    if ticket.state is State.RUNNING:
        raise UserError("`budget` cannot change what is running; say it again once this attempt has ended.")
    changed = tickets.amend(said.turn.c, ticket, now=said.turn.now, budget=kept)
    if changed.state is State.DONE and changed.outcome in (Outcome.OVER_BUDGET, Outcome.TIMED_OUT):
        title, body = said.text(changed)
        attempt_again(said.turn, changed, title=title, body=body)
    return ""


def paths(said: Said) -> str:
    """Say which paths the next attempt may write."""
    ticket = said.ticket()
    if not said.call.args or len(said.call.args) > MOST_PATHS:
        raise UserError(f"Name one to {MOST_PATHS} paths: `/bot paths src/** docs`.")
    for path in said.call.args:
        if normalise(path) is None:
            raise UserError(f"`{path.replace('`', '')}` is no path inside the repository.")
    wanted = widen(claim(said.call.args), shared=said.turn.settings.shared)
    if ticket.state is State.RUNNING:
        raise UserError("`paths` cannot change what is running; say it before the next attempt.")
    tickets.amend(said.turn.c, ticket, now=said.turn.now, claim=wanted)
    said.turn.told(said.turn.c, ticket.id)
    return ""


def help_(_said: Said) -> str:
    """List the commands."""
    return help_text()


COMMANDS: tuple[Command, ...] = (
    Command("retry", "retry [what to do differently]", "start another attempt", retry),
    Command("cancel", "cancel", "stop what is under way", cancel),
    Command("approve", "approve [commit]", "let a waiting ticket in, or a fork's commit", approve),
    Command("why", "why", "why the ticket is where it is", why, needs_floor=False),
    Command("status", "status", "where the ticket stands, in one line", status, needs_floor=False),
    Command("pause", "pause", "start nothing new in this repository", pause),
    Command("resume", "resume", "start again", resume),
    Command("budget", "budget $2", "grant more: dollars, `500k tokens`, `20 turns` or `30m`", budget),
    Command("paths", "paths src/** docs", "the paths that the next attempt may write", paths),
    Command("help", "help", "this list", help_, needs_floor=False),
)
_BY_NAME = {command.name: command for command in COMMANDS}


def help_text() -> str:
    """Return what can be said, from the table."""
    lines = ["| say | to |", "|---|---|"]
    lines += [f"| `/bot {command.usage}` | {command.summary} |" for command in COMMANDS]
    return "\n".join(lines)


def find(name: str) -> Command | None:
    """Return the command of this name."""
    return _BY_NAME.get(name)


def unknown(name: str) -> str:
    """Return the one friendly line for a word that is no command."""
    if not name:
        return "Yes? `/bot help` lists what I understand."
    close = difflib.get_close_matches(name, _BY_NAME, n=1)
    shown = name.replace("`", "")[:40]
    hint = f"did you mean `/bot {close[0]}`?" if close else "`/bot help` lists what I understand."
    return f"I do not know `{shown}`; {hint}"


def obey(said: Said) -> str:
    """Run one command; return the answer. Raises UserError where it cannot be done."""
    command = find(said.call.name)
    if command is None and said.call.by_name and _is_question(said.call.text):
        return _know_of_it(said)
    if said.call.name == LEFT_OUT:
        raise UserError(
            f"One comment may give {MOST} commands, this has {said.call.args[0]}; write what is left in another one."
        )
    if command is None:
        raise UserError(unknown(said.call.name))
    if command.needs_floor and not said.turn.standing.may:
        raise UserError(f"`{command.name}`: {said.turn.standing.why_not()}")
    return command.run(said)


def _is_question(text: str) -> bool:
    return text.endswith("?") or len(text.split()) > 2


def _know_of_it(said: Said) -> str:
    """Answer a question honestly: with what is known here, and that more is not to be had."""
    known = f"{status(said)} {why(said)}" if said.turn.ticket() is not None else "There is no ticket here."
    return f"I take commands and answer no free questions. What I know: {known} `/bot help` lists what I understand."


def _approve_commit(said: Said, commit: str) -> str:
    turn = said.turn
    check = pull_checks.waiting(turn.c, turn.repository, turn.number)
    if check is None:
        raise UserError("No commit of this pull request waits for approval.")
    if len(commit) < 7 or not check.head_sha.startswith(commit):
        shown = commit.replace("`", "")[:40]
        raise UserError(
            f"`{shown}` is not the commit that waits; that is `{check.head_sha[:10]}` now. Look at it first."
        )
    pull_checks.move(turn.c, check, pull_checks.QUEUED, now=turn.now, approved_by=turn.standing.actor.login)
    turn.checked(turn.c, check.id)
    return ""
