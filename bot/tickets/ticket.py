"""A ticket: one issue's wish, its state, and which state may follow which."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """Where a ticket stands; the words are stored."""

    NEEDS_APPROVAL = "needs_approval"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


class Stage(StrEnum):
    """What a running ticket does."""

    PREPARE = "prepare"
    EDIT = "edit"
    VERIFY = "verify"
    PUBLISH = "publish"
    MERGE = "merge"


class Outcome(StrEnum):
    """How an attempt ended."""

    MERGED = "merged"
    PROPOSED = "proposed"
    NO_CHANGE = "no_change"
    RED = "red"
    UNGATED = "ungated"
    HELD = "held"
    TIMED_OUT = "timed_out"
    OVER_BUDGET = "over_budget"
    CANCELLED = "cancelled"
    FAILED = "failed"


TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.NEEDS_APPROVAL: frozenset({State.QUEUED, State.DONE}),
    State.QUEUED: frozenset({State.RUNNING, State.NEEDS_APPROVAL, State.DONE}),
    State.RUNNING: frozenset({State.QUEUED, State.DONE}),
    State.DONE: frozenset({State.QUEUED, State.NEEDS_APPROVAL}),
}


@dataclass(frozen=True, slots=True)
class Ticket:
    """One row of the tickets table. Times are seconds since the epoch."""

    id: int
    repository: str  # OWNER/NAME
    issue: int
    title: str
    body: str  # frozen when the ticket was triggered
    text_hash: str  # sha256 of title and body
    requester: str
    state: State
    attempt: int  # 1 is the first
    epoch: int  # grows with every lease; late writes of an older one are refused
    created_at: float
    updated_at: float
    requester_id: int = 0  # the account's number on the forge, 0 where it is not known
    installation: int | None = None
    label: str = ""  # that triggered it
    stage: Stage | None = None
    tries: int = 0  # how often this stage was begun and did not end: the bot died in it
    outcome: Outcome | None = None
    reason: str = ""
    verdict: str | None = None
    claim: tuple[str, ...] = ()
    priority: int = 0
    host: str | None = None
    branch: str | None = None
    base_sha: str | None = None
    head_sha: str | None = None
    pull: int | None = None
    cancel_requested: bool = False
    feedback: str = ""  # what a review or a comment asked for since the last attempt
    budget: Mapping[str, float] = field(default_factory=dict)  # what `/bot budget` granted
    edges: tuple[tuple[str, int], ...] = ()  # (kind, issue) this ticket waits for
    held_for: int | None = None  # the ticket whose end lets this one go on by itself
    resume_sha: str | None = None  # the work that this attempt goes on from
    started_at: float | None = None  # of the present attempt

    @property
    def is_over(self) -> bool:
        """Return whether nothing more happens to the ticket by itself."""
        return self.state is State.DONE and self.held_for is None
