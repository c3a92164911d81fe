"""Decide which queued tickets may start now. No I/O, no clock."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.tickets.claims import EVERYTHING, key, meet
from bot.tickets.edges import HARD
from bot.tickets.ticket import Ticket


@dataclass(frozen=True, slots=True)
class Admit:
    """This ticket may start."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Wait:
    """This ticket waits; the reason is for people, `behind` the issues it waits for."""

    ticket: Ticket
    reason: str
    behind: tuple[int, ...] = ()


Decision = Admit | Wait


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may run. `free` is this host's free slots; 0 for `total` is no limit."""

    free: int
    total: int = 0
    per_repository: Mapping[str, int] = field(default_factory=dict)
    paused: Mapping[str, str] = field(default_factory=dict)  # repository, or `*`, to the reason
    exhausted: Mapping[str, str] = field(default_factory=dict)  # repository to the budget that is used up
    low_disk: str = ""  # why nothing starts on this host
    elsewhere: Collection[int] = ()  # ids of tickets that another host is warm for and may still take


def admit(
    queued: Sequence[Ticket], running: Sequence[Ticket], *, limits: Limits, unfinished: Collection[tuple[str, int]] = ()
) -> list[Decision]:
    """Return one decision per queued ticket: by priority, then oldest first.

    `unfinished` are (repository, issue) that are not done although no ticket is queued or running for them.
    """
    ahead = {ticket.repository: _Ahead() for ticket in (*queued, *running)}
    counts: dict[str, int] = {}
    for ticket in running:
        ahead[ticket.repository].add(ticket, "runs")
        counts[ticket.repository] = counts.get(ticket.repository, 0) + 1
    state = _State(limits, counts, limits.free, len(running), frozenset(unfinished))
    decisions: list[Decision] = []
    order = sorted(queued, key=lambda t: (-t.priority, t.id))
    open_issues = {(t.repository, t.issue): t for t in (*queued, *running)}
    for ticket in order:
        wait = state.refusal(ticket, ahead[ticket.repository], open_issues)
        if wait is None:
            decisions.append(Admit(ticket))
            state.start(ticket)
            ahead[ticket.repository].add(ticket, "starts now")
        else:
            decisions.append(wait)
            ahead[ticket.repository].add(ticket, "is queued before it")  # a waiting ticket still blocks younger ones
    return decisions


@dataclass(slots=True)
class _State:
    limits: Limits
    counts: dict[str, int]
    free: int
    running: int
    unfinished: frozenset[tuple[str, int]]

    def start(self, ticket: Ticket) -> None:
        self.free -= 1
        self.running += 1
        self.counts[ticket.repository] = self.counts.get(ticket.repository, 0) + 1

    def refusal(self, ticket: Ticket, ahead: "_Ahead", open_issues: Mapping[tuple[str, int], Ticket]) -> Wait | None:
        limits, repo = self.limits, ticket.repository
        for paused in (repo, "*"):
            if paused in limits.paused:
                where = "Everything" if paused == "*" else repo
                why = f": {limits.paused[paused]}" if limits.paused[paused] else ""
                return Wait(ticket, f"{where} is paused{why}. `/bot resume` lets it go on.")
        if repo in limits.exhausted:
            return Wait(ticket, limits.exhausted[repo])
        edge = self._edge(ticket, open_issues)
        if edge is not None:
            return edge
        met = ahead.meets(ticket)
        if met is not None:
            other, how, path = met
            more = ahead.count(ticket, but=other)
            behind = f"; then {more} more" if more else ""
            return Wait(ticket, f"Waits for #{other.issue} on {_shown(path)}, which {how}{behind}.", (other.issue,))
        return self._full(ticket)

    def _full(self, ticket: Ticket) -> Wait | None:
        limits, repo = self.limits, ticket.repository
        most = limits.per_repository.get(repo, 0)
        if most and self.counts.get(repo, 0) >= most:
            return Wait(ticket, f"{repo} runs {self.counts[repo]} tickets, and its limit is {most}.")
        if limits.total and self.running >= limits.total:
            return Wait(ticket, f"{self.running} tickets run, and the limit is {limits.total}.")
        if limits.low_disk:
            return Wait(ticket, limits.low_disk)
        if ticket.id in limits.elsewhere:
            return Wait(ticket, "Another host has this repository warm and may take it in a moment.")
        if self.free <= 0:
            return Wait(ticket, "All slots are in use.")
        return None

    def _edge(self, ticket: Ticket, open_issues: Mapping[tuple[str, int], Ticket]) -> Wait | None:
        for kind, issue in ticket.edges:
            other = open_issues.get((ticket.repository, issue))
            if kind == HARD:
                if other is not None and (HARD, ticket.issue) in other.edges:
                    circle = f"#{ticket.issue} and #{issue} each wait for the other"
                    return Wait(ticket, f"{circle}: edit one of them.", (issue,))
                if other is not None or (ticket.repository, issue) in self.unfinished:
                    return Wait(ticket, f"Depends on #{issue}, which is not done.", (issue,))
            elif other is not None and other.id < ticket.id:
                return Wait(ticket, f"Mentions #{issue}, and the two do not run at the same time.", (issue,))
        return None


class _Ahead:
    """The claims of what runs or waits before a ticket, found by their first segment and not one by one."""

    def __init__(self) -> None:
        self._by_first: dict[str, list[tuple[Ticket, str, str]]] = {}
        self._anywhere: list[tuple[Ticket, str, str]] = []  # claims that begin with a pattern
        self._all: list[tuple[Ticket, str, str]] = []

    def add(self, ticket: Ticket, how: str) -> None:
        for path in ticket.claim or (EVERYTHING,):
            entry = (ticket, how, path)
            first = _first(path)
            (self._anywhere if first is None else self._by_first.setdefault(first, [])).append(entry)
            self._all.append(entry)

    def meets(self, ticket: Ticket) -> tuple[Ticket, str, str] | None:
        """Return the oldest ticket ahead whose claim meets this one's, how it stands, and where they meet."""
        return next(iter(self._met(ticket)), None)

    def count(self, ticket: Ticket, *, but: Ticket) -> int:
        """Return how many more stand ahead."""
        return len({other.id for other, _, _ in self._met(ticket)} - {but.id})

    def _met(self, ticket: Ticket) -> Iterable[tuple[Ticket, str, str]]:
        for path in ticket.claim or (EVERYTHING,):
            first = _first(path)
            near = self._all if first is None else [*self._by_first.get(first, ()), *self._anywhere]
            for other, how, theirs in near:
                if meet(path, theirs):
                    yield other, how, path if path != EVERYTHING else theirs


def _first(path: str) -> str | None:
    """Return the first segment of a path, None where it is a pattern: such a claim can meet any."""
    segments = key(path)
    return None if not segments or "*" in segments[0] or "?" in segments[0] else segments[0]


def _shown(path: str) -> str:
    return "the whole repository" if path == EVERYTHING else f"`{path}`"
