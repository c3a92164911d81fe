"""The SQL of tickets and attempts: every write names the state or the epoch it believes in."""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from bot.tickets.presence import tell
from bot.tickets.schema import attempts, tickets
from bot.tickets.store import insert
from bot.tickets.ticket import TRANSITIONS, Outcome, Stage, State, Ticket

_JSON = frozenset({"claim", "edges", "budget", "touched", "usage"})


FINISHED = frozenset({Outcome.MERGED, Outcome.NO_CHANGE, Outcome.CANCELLED})  # what waits for such a one may start


class IllegalMove(Exception):
    """A state was asked for that cannot follow the present one."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody asked for by putting the label on an issue."""

    repository: str
    issue: int
    title: str
    body: str
    requester: str
    label: str
    trigger_key: str  # label and times opened
    installation: int | None = None
    requester_id: int = 0  # the account's number on the forge, 0 where it is not known
    approved: bool = True  # False: the requester may not start work
    reason: str = ""
    claim: tuple[str, ...] = ()
    edges: tuple[tuple[str, int], ...] = ()
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is kept of one attempt; together with the stage times it is its receipt."""

    ticket: int
    number: int
    title: str
    body: str
    text_hash: str
    claim: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    base_sha: str | None = None
    head_sha: str | None = None
    policy_hash: str | None = None
    report: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    sandbox: str = ""
    warmth: str | None = None
    proof: str | None = None
    outcome: str | None = None
    reason: str = ""
    started_at: float | None = None
    ended_at: float | None = None


def text_hash(title: str, body: str) -> str:
    """Return the hash by which a later edit of an issue is noticed."""
    return hashlib.sha256(f"{title}\0{body}".encode()).hexdigest()


def create_ticket(c: sa.Connection, wish: Wish, *, now: float) -> Ticket | None:
    """Store a new ticket with its first attempt; None where this very trigger made one already."""
    state = State.QUEUED if wish.approved else State.NEEDS_APPROVAL
    row = c.execute(
        insert(c, tickets)
        .values(
            repository=wish.repository, issue=wish.issue, label=wish.label, trigger_key=wish.trigger_key,
            title=wish.title, body=wish.body, text_hash=text_hash(wish.title, wish.body), requester=wish.requester,
            requester_id=wish.requester_id,
            installation=wish.installation, state=state, reason=wish.reason, claim=json.dumps(wish.claim),
            edges=json.dumps(wish.edges), priority=wish.priority, created_at=now, updated_at=now,
        )
        .on_conflict_do_nothing(index_elements=["repository", "issue", "trigger_key"])
        .returning(tickets)
    ).first()  # fmt: skip
    if row is None:
        return None
    ticket = read_ticket(row)
    _open_attempt(c, ticket)
    tell(c)
    return ticket


def get_ticket(c: sa.Connection, ticket: int) -> Ticket:
    """Return one ticket; raises LookupError where there is none."""
    row = c.execute(sa.select(tickets).where(tickets.c.id == ticket)).first()
    if row is None:
        raise LookupError(f"no ticket {ticket}")
    return read_ticket(row)


def find_ticket(c: sa.Connection, repository: str, issue: int) -> Ticket | None:
    """Return the newest ticket of an issue."""
    row = c.execute(
        sa.select(tickets)
        .where(tickets.c.repository == repository, tickets.c.issue == issue)
        .order_by(tickets.c.id.desc())
        .limit(1)
    ).first()
    return None if row is None else read_ticket(row)


def find_by_pull(c: sa.Connection, repository: str, pull: int) -> Ticket | None:
    """Return the ticket whose pull request this is."""
    row = c.execute(sa.select(tickets).where(tickets.c.repository == repository, tickets.c.pull == pull)).first()
    return None if row is None else read_ticket(row)


def find_by_head(c: sa.Connection, repository: str, head_sha: str) -> Ticket | None:
    """Return the newest ticket whose branch stands at a commit."""
    where = (tickets.c.repository == repository, tickets.c.head_sha == head_sha)
    row = c.execute(sa.select(tickets).where(*where).order_by(tickets.c.id.desc()).limit(1)).first()
    return None if row is None else read_ticket(row)


def list_tickets(
    c: sa.Connection,
    *,
    states: Sequence[State] = tuple(State),
    repository: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> list[Ticket]:
    """Return tickets in these states, newest first; `before` is the id that the last page ended with."""
    query = sa.select(tickets).order_by(tickets.c.id.desc()).limit(limit)
    if repository is not None:
        query = query.where(tickets.c.repository == repository)
    if before is not None:
        query = query.where(tickets.c.id < before)
    if repository is None and set(states) == set(State):
        return [read_ticket(row) for row in c.execute(query)]
    # state by state, each along its index: for several at once SQLite walks through all that ever was
    found = [read_ticket(row) for state in states for row in c.execute(query.where(tickets.c.state == state))]
    return sorted(found, key=lambda ticket: -ticket.id)[:limit]


def repositories_of(c: sa.Connection) -> list[str]:
    """Return the repositories that ever had a ticket."""
    # from each to the next along the index: DISTINCT would read every row that ever was
    names = sa.select(sa.func.min(tickets.c.repository).label("name")).cte("names", recursive=True)
    following = sa.select(sa.func.min(tickets.c.repository)).where(tickets.c.repository > names.c.name)
    names = names.union_all(sa.select(following.scalar_subquery()).where(names.c.name.is_not(None)))
    return list(c.execute(sa.select(names.c.name).where(names.c.name.is_not(None))).scalars())


def running_tickets(c: sa.Connection) -> list[Ticket]:
    """Return the running tickets, the oldest first."""
    rows = c.execute(sa.select(tickets).where(tickets.c.state == State.RUNNING).order_by(tickets.c.id))
    return [read_ticket(row) for row in rows]


def move(c: sa.Connection, ticket: Ticket, to: State, *, now: float, **fields: Any) -> Ticket:
    """Bring a ticket to another state; raises IllegalMove where the table forbids it or somebody was faster."""
    if to not in TRANSITIONS[ticket.state]:
        raise IllegalMove(f"ticket {ticket.id} is {ticket.state}; from there it cannot become {to}")
    row = c.execute(
        tickets.update()
        .where(tickets.c.id == ticket.id, tickets.c.state == ticket.state)
        .values(state=to, updated_at=now, **_stored(fields))
        .returning(tickets)
    ).first()
    if row is None:
        raise IllegalMove(f"ticket {ticket.id} is no longer {ticket.state}")
    tell(c)
    return read_ticket(row)


def amend(c: sa.Connection, ticket: Ticket, *, now: float, **fields: Any) -> Ticket:
    """Change a ticket that nobody works on, without moving it; raises IllegalMove where somebody took it meanwhile."""
    where = (tickets.c.id == ticket.id, tickets.c.state == ticket.state, tickets.c.state != State.RUNNING)
    if c.execute(tickets.update().where(*where).values(updated_at=now, **_stored(fields))).rowcount != 1:
        raise IllegalMove(f"ticket {ticket.id} is no longer {ticket.state}")
    return get_ticket(c, ticket.id)


def reword(
    c: sa.Connection, ticket: Ticket, *, title: str, body: str, now: float, claim: Sequence[str],
    edges: Sequence[tuple[str, int]],
) -> Ticket:  # fmt: skip
    """Give a waiting ticket the text that was approved, and what that claims; its attempt starts from that."""
    words: dict[str, Any] = {"title": title, "body": body, "text_hash": text_hash(title, body), "claim": claim}
    update_attempt(c, ticket.id, ticket.attempt, **words)
    words["edges"] = edges
    return amend(c, ticket, now=now, **words)


def take(c: sa.Connection, ticket: Ticket, host: str, now: float) -> Ticket:
    """Mark a queued ticket as running on a host, at a new epoch."""
    c.execute(
        attempts.update()
        .where(attempts.c.ticket == ticket.id, attempts.c.number == ticket.attempt, attempts.c.started_at.is_(None))
        .values(started_at=now)
    )
    return move(
        c, ticket, State.RUNNING, now=now, host=host, epoch=ticket.epoch + 1, reason="", stage=None, started_at=now,
        tries=0,
    )  # fmt: skip


def requeue(
    c: sa.Connection, ticket: Ticket, *, title: str, body: str, feedback: str, now: float, resume_sha: str | None = None
) -> Ticket:
    """Start a new attempt of a ticket that ended, with the issue's text as it is now.

    It claims what the attempt before really touched; `resume_sha` is work of that one to go on from.
    """
    touched = _touched_before(c, ticket)
    again = move(
        c, ticket, State.QUEUED, now=now, title=title, body=body, text_hash=text_hash(title, body), feedback=feedback,
        attempt=ticket.attempt + 1, stage=None, outcome=None, verdict=None, reason="", cancel_requested=False,
        claim=touched or ticket.claim, held_for=None, resume_sha=resume_sha, started_at=None,
    )  # fmt: skip
    _open_attempt(c, again)
    return again


def set_reason(c: sa.Connection, ticket: Ticket, reason: str) -> Ticket:
    """Write why a queued ticket waits."""
    c.execute(tickets.update().where(tickets.c.id == ticket.id).values(reason=reason))
    return get_ticket(c, ticket.id)


def request_cancel(c: sa.Connection, ticket: int, reason: str, now: float) -> None:
    """Cancel a ticket: at once where it does not run, else the host that runs it stops it."""
    found = get_ticket(c, ticket)
    if found.state in (State.QUEUED, State.NEEDS_APPROVAL):
        move(c, found, State.DONE, now=now, outcome=Outcome.CANCELLED, reason=reason)
    elif found.state is State.DONE and not found.is_over:
        amend(c, found, now=now, outcome=Outcome.CANCELLED, reason=reason, held_for=None)
    elif found.state is State.RUNNING:
        c.execute(tickets.update().where(tickets.c.id == ticket).values(cancel_requested=True, reason=reason))
        tell(c)


def write_fenced(c: sa.Connection, ticket: int, epoch: int, **fields: Any) -> bool:
    """Write to a running ticket if it still is at this epoch; False where another holds it now."""
    where = (tickets.c.id == ticket, tickets.c.epoch == epoch, tickets.c.state == State.RUNNING)
    values = _stored(fields) or {"epoch": epoch}  # nothing to write: still ask, and hold the row until the commit
    return c.execute(tickets.update().where(*where).values(**values)).rowcount == 1


def is_held(c: sa.Connection, ticket: int, epoch: int) -> bool:
    """Return whether a ticket is still at this epoch; for what may be lost, `write_fenced` is for what may not."""
    return c.execute(sa.select(tickets.c.epoch).where(tickets.c.id == ticket)).scalar() == epoch


def one_more_try() -> sa.ColumnElement[int]:
    """Return the value of `tries` for a stage that begins."""
    return tickets.c.tries + 1


def find_attempt(c: sa.Connection, ticket: int, number: int) -> Attempt | None:
    """Return what is kept of one attempt."""
    row = c.execute(sa.select(attempts).where(attempts.c.ticket == ticket, attempts.c.number == number)).first()
    if row is None:
        return None
    found = dict(row._mapping)
    found |= {key: json.loads(found[key]) for key in ("claim", "touched", "usage")}
    found["claim"], found["touched"] = tuple(found["claim"]), tuple(found["touched"])
    return Attempt(**found)


def heads_of(c: sa.Connection, ticket: int) -> list[str]:
    """Return the commits that a ticket's attempts came to."""
    query = sa.select(attempts.c.head_sha).where(attempts.c.ticket == ticket, attempts.c.head_sha.is_not(None))
    return list(c.execute(query).scalars())


def update_attempt(c: sa.Connection, ticket: int, number: int, **fields: Any) -> None:
    """Write to one attempt."""
    where = (attempts.c.ticket == ticket, attempts.c.number == number)
    c.execute(attempts.update().where(*where).values(**_stored(fields)))


def read_ticket(row: sa.Row[Any], **left_out: str) -> Ticket:
    """Return the ticket that a row of the table holds; `left_out` is what stands for columns that were not read."""
    found: dict[str, Any] = dict(zip(row._fields, row, strict=True)) | left_out
    del found["trigger_key"], found["revision"]
    found["state"] = State(found["state"])
    found["stage"] = Stage(found["stage"]) if found["stage"] else None
    found["outcome"] = Outcome(found["outcome"]) if found["outcome"] else None
    found["claim"] = _read_claim(found["claim"])
    found["edges"] = _read_edges(found["edges"])
    found["budget"] = {} if found["budget"] == "{}" else json.loads(found["budget"])
    return Ticket(**found)


@functools.lru_cache(maxsize=32768)
def _read_claim(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@functools.lru_cache(maxsize=32768)
def _read_edges(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((str(kind), int(issue)) for kind, issue in json.loads(text))


def _open_attempt(c: sa.Connection, ticket: Ticket) -> None:
    c.execute(
        attempts.insert().values(
            ticket=ticket.id, number=ticket.attempt, title=ticket.title, body=ticket.body,
            text_hash=ticket.text_hash, claim=json.dumps(ticket.claim),
        )
    )  # fmt: skip


def _touched_before(c: sa.Connection, ticket: Ticket) -> tuple[str, ...]:
    before = find_attempt(c, ticket.id, ticket.attempt)
    return before.touched if before else ()


def _stored(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: json.dumps(value) if key in _JSON else value for key, value in fields.items()}
