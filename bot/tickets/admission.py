"""Decide which queued tickets may start now. No I/O, no clock."""

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from bot.tickets.after import After
from bot.tickets.ahead import Ahead, Compiled, compiled
from bot.tickets.claims import EVERYTHING, WHOLE, overlap, through
from bot.tickets.ticket import Ticket

_ID, _PRIORITY = operator.attrgetter("id"), operator.attrgetter("priority")


class Admit(NamedTuple):
    """This ticket may start."""

    ticket: Ticket


class Wait(NamedTuple):
    """This ticket waits; the reason is for people, `behind` the issues it waits for."""

    ticket: Ticket
    reason: str
    behind: tuple[int, ...] = ()


Decision = Admit | Wait
Links = Mapping[str, tuple[tuple[str, str], ...]]  # repository to its symlinks: link and target
# by name it takes twice as long
_wait: Callable[[tuple[Ticket, str, tuple[int, ...]]], Wait] = partial(tuple.__new__, Wait)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may run. `free` is this host's free slots; 0 for `total` is no limit."""

    free: int
    total: int = 0
    per_repository: Mapping[str, int] = field(default_factory=dict)
    paused: Mapping[str, str] = field(default_factory=dict)  # repository, or `*`, to the reason
    exhausted: Mapping[str, str] = field(default_factory=dict)  # repository to the budget that is used up
    low_disk: str = ""  # why nothing starts on this host


def admit(
    queued: Sequence[Ticket], running: Sequence[Ticket], *, limits: Limits,
    unfinished: Collection[tuple[str, int]] = (), links: Links | None = None,
) -> list[Decision]:  # fmt: skip
    """Return one decision per queued ticket: by priority, then oldest first.

    `unfinished` are (repository, issue) that are not done although no ticket is queued or running for them.
    A claim on a symlink of `links` is one on its target, too.
    """
    ahead: defaultdict[str, Ahead] = defaultdict(Ahead)
    room, after = _Room(limits, running), After(queued, running, unfinished)
    for ticket in running:
        ahead[ticket.repository].add(ticket, f"runs{_since(ticket)}", _claimed(ticket, links))
    decisions: list[Decision] = []
    said: dict[int, _Said] = {}
    behind: tuple[int, ...]
    some_closed = bool(limits.paused or limits.exhausted)
    for ticket in in_order(queued):
        if ticket.edges and (edge := after.wait(ticket)) is not None:
            decisions.append(Wait(ticket, *edge))
            continue  # it blocks nobody: what it waits for may well overlap it, and must come first
        repo = ticket.repository
        before = ahead[repo]
        claimed = _claimed(ticket, links) if links else compiled(ticket.claim)
        met = before.meets(claimed)
        if met is None:
            reason, behind = room.full(repo), ()
        else:
            other, how, path = met
            head, tail, behind = said.get(other.id) or said.setdefault(other.id, _say(other, how))
            reason = f"{head}the whole repository{tail}" if path == EVERYTHING else f"{head}`{path}`{tail}"
        if some_closed and (closed := room.closed(repo)):
            reason, behind = closed, ()
        if reason:
            decisions.append(_wait((ticket, reason, behind)))
            how = "is queued before it"  # a waiting ticket still blocks younger ones: no starvation
        else:
            decisions.append(Admit(ticket))
            room.take(ticket)
            after.start(ticket)
            how = "starts now"
        if before.whole is None:
            before.add(ticket, how, claimed, is_clear=met is None)
    return decisions


def _claimed(ticket: Ticket, links: Links | None) -> Compiled:
    return compiled(through(ticket.claim, links.get(ticket.repository, ())) if links else ticket.claim)


def in_order(queued: Iterable[Ticket]) -> list[Ticket]:
    """Return queued tickets in the order in which they are let in: by priority, then oldest first."""
    return sorted(sorted(queued, key=_ID), key=_PRIORITY, reverse=True)  # of equal priority the order stays


def chain(wait: Wait, queued: Iterable[Ticket], running: Iterable[Ticket]) -> str:
    """Return a reason with how many more are in the way: `...; then 2 older`."""
    ticket = wait.ticket
    order = in_order(queued)
    before = [*running, *order[: next((n for n, t in enumerate(order) if t.id == ticket.id), 0)]]
    near = (t for t in before if t.repository == ticket.repository and t.issue not in wait.behind)
    older = sum(overlap(ticket.claim or WHOLE, other.claim or WHOLE) is not None for other in near)
    return f"{wait.reason.removesuffix('.')}; then {older} older." if wait.behind and older else wait.reason


_Said = tuple[str, str, tuple[int, ...]]  # what stands before and behind the path in a reason, and who is waited for


def _say(other: Ticket, how: str) -> _Said:
    """Return why a ticket waits for another one; many wait for the same, so it is said once."""
    return f"Waits for #{other.issue} on ", f", which {how}.", (other.issue,)


class _Room:
    """What the limits leave, as tickets start."""

    def __init__(self, limits: Limits, running: Sequence[Ticket]) -> None:
        self._limits = limits
        self._counts = Counter(ticket.repository for ticket in running)
        self._running, self._free = len(running), limits.free
        self._full: dict[str, str] = {}  # repository to what keeps all of it waiting, as far as was asked for

    def take(self, ticket: Ticket) -> None:
        """Count a ticket that starts."""
        self._counts[ticket.repository] += 1
        self._running, self._free = self._running + 1, self._free - 1
        self._full.clear()

    def closed(self, repo: str) -> str:
        """Return why nothing at all starts in a repository, or nothing."""
        limits = self._limits
        return (_paused(repo, limits.paused) if limits.paused else "") or limits.exhausted.get(repo, "")

    def full(self, repo: str) -> str:
        """Return which limit is reached, or nothing."""
        reason = self._full.get(repo)
        if reason is None:
            reason = self._full[repo] = self._reached(repo)
        return reason

    def _reached(self, repo: str) -> str:
        limits = self._limits
        most = limits.per_repository.get(repo, 0)
        if most and self._counts[repo] >= most:
            return f"{_run(self._counts[repo])} in {repo}, and its limit is {most}."
        if limits.total and self._running >= limits.total:
            return f"{_run(self._running)}, and the limit is {limits.total}."
        if limits.low_disk:
            return limits.low_disk
        return "All slots are in use." if self._free <= 0 else ""


def _paused(repo: str, paused: Mapping[str, str]) -> str:
    """Return why nothing starts in a repository, or nothing."""
    for name, where in ((repo, repo), ("*", "Everything")):
        if name in paused:
            why = f": {paused[name]}" if paused[name] else ""
            return f"{where} is paused{why}. `/bot resume` lets it go on."
    return ""


def _since(ticket: Ticket) -> str:
    if ticket.started_at is None:
        return ""
    return f" since {datetime.fromtimestamp(ticket.started_at, UTC):%H:%M} UTC"


def _run(count: int) -> str:
    return "1 ticket runs" if count == 1 else f"{count} tickets run"
