"""What acting on one delivery works with, and how it answers: everything in one transaction."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from bot.forges.answers import Issue
from bot.forges.events import Origin
from bot.inbox.trust import HOUR_S, Breaker, Standing, tripped
from bot.inbox.visible import visible
from bot.tickets import asks, marks, merges, posts, tickets
from bot.tickets.marks import Mark
from bot.tickets.repository import RepositorySettings
from bot.tickets.ticket import State, Ticket

COMMENT_LENGTH = 65_000
UNHEARD = "not answered: people below the floor asked too often within an hour"
LAST_ANSWER = "_More that is asked without that access is kept, and not answered for up to an hour._"
DIFF_LINES = 120


@dataclass(frozen=True, slots=True)
class Done:
    """Something came of the delivery."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing came of it, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Later:
    """Its time has not come: it is looked at again."""

    reason: str


Effect = Done | Ignored | Later


@dataclass(frozen=True, slots=True)
class Linked:
    """Other issues as the forge shows them now: those it says are waited for, and those that the text names."""

    native: tuple[Issue, ...] = ()
    named: tuple[Issue, ...] = ()


class NeedsLook(Exception):
    """The delivery alone does not tell; the forge must be asked how the issue stands now."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One delivery being acted on."""

    c: sa.Connection
    origin: Origin
    number: int
    standing: Standing
    settings: RepositorySettings
    label: str
    breaker: Breaker
    now: float
    told: Callable[[sa.Connection, int], None]  # a ticket changed: its comment and labels are wished for
    checked: Callable[[sa.Connection, int], None]  # a check of a pull request changed: its check run is wished for
    seen: Issue | None = None  # the issue as the forge shows it now, if it was asked
    linked: Linked | None = None  # other issues that it waits for, if the forge was asked

    @property
    def repository(self) -> str:
        """Return where it happened."""
        return self.origin.repository

    def ticket(self) -> Ticket | None:
        """Return the newest ticket of the issue, or of the pull request."""
        found = tickets.find_ticket(self.c, self.repository, self.number)
        return found or tickets.find_by_pull(self.c, self.repository, self.number)

    def mark(self, what: str) -> Mark | None:
        """Return what was heard last about the issue."""
        return marks.find(self.c, self.repository, self.number, what)

    def mark_of(self, issue: int, what: str) -> Mark | None:
        """Return what was heard last about another issue."""
        return marks.find(self.c, self.repository, issue, what)

    def put_mark_of(self, issue: int, what: str, mark: Mark) -> None:
        """Keep what was heard about another issue."""
        marks.put(self.c, self.repository, issue, what, mark)

    def put_mark(self, what: str, mark: Mark) -> None:
        """Keep what was heard."""
        marks.put(self.c, self.repository, self.number, what, mark)

    def parked(self) -> str:
        """Count this as asking for work; return why it is parked, or nothing."""
        sender = self.standing.actor.id
        reason = tripped(self.c, self.breaker, self.repository, self.number, sender, now=self.now)
        asks.add(self.c, self.repository, self.number, sender, "work", now=self.now)
        return reason

    def answers_left(self) -> int | None:
        """Return how many answers this sender may still get within an hour; None where nothing limits them."""
        if self.standing.may:
            return None
        since, actor = self.now - HOUR_S, self.standing.actor.id
        to_sender = asks.count(self.c, "stranger", since=since, sender=actor)
        to_all = asks.count(self.c, "stranger", since=since, repository=self.repository)
        return max(0, min(self.breaker.stranger - to_sender, self.breaker.strangers - to_all))

    def _count_answer(self) -> None:
        if not self.standing.may:
            asks.add(self.c, self.repository, self.number, self.standing.actor.id, "stranger", now=self.now)

    def tell(self, ticket: int) -> bool:
        """Have a ticket's comment and labels follow it; False where its sender had too many answers already."""
        if self.answers_left() == 0:
            return False
        self._count_answer()
        self.told(self.c, ticket)
        return True

    def reply(self, key: str, text: str) -> None:
        """Answer once under this key, unless too many answers were given here, or to strangers, already."""
        words = self.breaker.words
        since = self.now - self.breaker.issue_s
        if asks.count(self.c, "words", since=since, repository=self.repository, issue=self.number) >= words:
            return
        left = self.answers_left()
        if left == 0:
            return
        self._count_answer()
        asks.add(self.c, self.repository, self.number, self.standing.actor.id, "words", now=self.now)
        marker = f"<!-- sluice:reply:{key} -->"
        body = f"{marker}\n{text}" + (f"\n\n{LAST_ANSWER}" if left == 1 else "")
        cut = body if len(body) <= COMMENT_LENGTH else body[:COMMENT_LENGTH] + "\n\n… cut"
        posts.want(
            self.c, f"reply:{self.repository}#{self.number}:{key}", "reply", repository=self.repository,
            installation=self.origin.installation, now=self.now,
            wanted={"issue": self.number, "marker": marker, "body": cut},
        )  # fmt: skip

    def react(self, comment: int, content: str, *, on_line: bool = False) -> None:
        """React to a comment, or to one on a line of a pull request: their numbers are not the same ones."""
        key = f"reaction:{self.repository}:{'line:' if on_line else ''}{comment}"
        wanted = {"comment": comment, "content": content, **({"on_line": True} if on_line else {})}
        posts.want(
            self.c, key, "reaction", repository=self.repository, installation=self.origin.installation, now=self.now,
            wanted=wanted,
        )  # fmt: skip


def attempt_again(turn: Turn, ticket: Ticket, *, title: str, body: str, feedback: str = "") -> Effect:
    """Start a new attempt of a ticket that ended, or let it wait for approval; the text must have been seen."""
    reason = turn.standing.why_not() if not turn.standing.may else turn.parked()
    if not reason and not text_was_shown(turn, ticket, title, body):
        show_difference(turn, ticket, title, body)
        reason = "The text changed since the last attempt; the difference is shown below."
    if reason:
        waiting = tickets.move(turn.c, ticket, State.NEEDS_APPROVAL, now=turn.now, reason=approvable(turn, reason))
        turn.tell(waiting.id)
        return Done(reason)
    merges.take_back(turn.c, ticket, now=turn.now)
    again = tickets.requeue(
        turn.c, ticket, title=visible(title), body=visible(body), feedback=visible(feedback), now=turn.now
    )
    turn.told(turn.c, again.id)
    return Done(f"attempt {again.attempt} of ticket {again.id}")


def merges_no_more(turn: Turn, ticket: Ticket, why: str) -> bool:
    """Take back that the forge merges a ticket's pull request by itself, and say why; False where it was not to."""
    if not merges.take_back(turn.c, ticket, now=turn.now):
        return False
    if ticket.state is State.DONE:
        tickets.amend(
            turn.c, ticket, now=turn.now, reason=f"{why} It no longer merges by itself. Review it and merge it by hand."
        )
    turn.told(turn.c, ticket.id)
    return True


def approvable(turn: Turn, reason: str) -> str:
    """Return a reason with what is needed to go on."""
    return f"{reason} Somebody with **{turn.standing.floor}** access or above can start it: `/bot approve`."


def text_was_shown(turn: Turn, ticket: Ticket, title: str, body: str) -> bool:
    """Tell whether this text is the frozen one, or one whose difference was shown here."""
    found = tickets.text_hash(visible(title), visible(body))
    shown = turn.mark("text")
    return found == ticket.text_hash or (shown is not None and shown.note == found)


def show_difference(turn: Turn, ticket: Ticket, title: str, body: str) -> None:
    """Show how the text differs from the frozen one, and remember that it was shown."""
    found = tickets.text_hash(visible(title), visible(body))
    before = turn.mark("text")
    turn.put_mark("text", Mark(True, before.at if before else 0.0, found))
    lines = list(
        difflib.unified_diff(
            [ticket.title, "", *ticket.body.splitlines()], [visible(title), "", *visible(body).splitlines()],
            "as asked for", "as it is now", lineterm="", n=2,
        )
    )  # fmt: skip
    rest = len(lines) - DIFF_LINES
    more = [f"… {rest} more lines"] if rest > 0 else []
    turn.reply(
        f"text:{found[:12]}",
        "✏️ The text differs from the one that work was asked for with:\n\n"
        + _fenced("\n".join([*lines[:DIFF_LINES], *more]))
        + f"\n\nWork goes on with the new text after somebody with **{turn.standing.floor}** access or above "
        "comments `/bot approve` (or `/bot retry` once an attempt has ended).",
    )


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}diff\n{text}\n{fence}"
