"""Pull requests whose merge was left to the forge: at which commit, and that it is taken back."""

import sqlalchemy as sa

from bot.tickets import posts
from bot.tickets.ticket import Ticket

KIND = "automerge"


def left_at(c: sa.Connection, ticket: Ticket) -> str | None:
    """Return the commit at which the merge of a ticket's pull request was left to the forge; None where it was not."""
    found = posts.find(c, _key(ticket))
    return None if found is None else found.wanted["head"]


def is_left(c: sa.Connection, ticket: Ticket) -> bool:
    """Return whether the forge may still merge a ticket's pull request, also where that is just being taken back."""
    return left_at(c, ticket) is not None or not posts.is_shown(c, _key(ticket))


def note(c: sa.Connection, ticket: Ticket, head_sha: str | None, *, now: float) -> None:
    """Note that the forge merges a ticket's pull request at this commit by itself, or (None) that it no longer does."""
    _want(c, ticket, head_sha, now=now)
    found = posts.find(c, _key(ticket))
    if found is not None:
        posts.record_posted(c, found, posted=found.wanted, remote=found.remote, now=now)


def take_back(c: sa.Connection, ticket: Ticket, *, now: float) -> bool:
    """Wish that the forge merges a ticket's pull request no longer by itself; False where it was not to."""
    if left_at(c, ticket) is None:
        return False
    _want(c, ticket, None, now=now)
    return True


def _want(c: sa.Connection, ticket: Ticket, head_sha: str | None, *, now: float) -> None:
    wanted = {"pull": ticket.pull, "head": head_sha}
    posts.want(c, _key(ticket), KIND, repository=ticket.repository, installation=ticket.installation, wanted=wanted,
               now=now, urgent=True)  # fmt: skip


def _key(ticket: Ticket) -> str:
    return f"{KIND}:{ticket.repository}#{ticket.pull}"
