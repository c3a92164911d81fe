"""Which tickets wait for another issue to be done, or to stop running. No I/O."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from bot.tickets.edges import HARD, NATIVE, PART, SOFT, cycles
from bot.tickets.ticket import Ticket

Why = tuple[str, tuple[int, ...]]  # the reason, and the issues that are waited for


class After:
    """The edges between the tickets that are queued or run, and to issues that are known not to be done."""

    def __init__(
        self, queued: Sequence[Ticket], running: Sequence[Ticket], unfinished: Collection[tuple[str, int]]
    ) -> None:
        edged = [t for t in queued if t.edges]
        named = {issue for t in edged for _, issue in t.edges}
        self._unfinished = unfinished
        self._open = {(t.repository, t.issue): t for t in (*queued, *running) if t.issue in named} if named else {}
        self._running = {(t.repository, t.issue) for t in running} if named else set()
        self._circles = _circles(edged)

    def start(self, ticket: Ticket) -> None:
        """Note that a ticket runs from now on."""
        self._running.add((ticket.repository, ticket.issue))

    def wait(self, ticket: Ticket) -> Why | None:
        """Return why a ticket waits because of its edges; None where none of them is in the way."""
        repo = ticket.repository
        circle = self._circles.get((repo, ticket.issue))
        if circle is not None:
            names = ", ".join(f"#{n}" for n in circle[:-1])
            reason = f"{names} and #{circle[-1]} wait for each other in a circle: edit one of them."
            return reason, tuple(n for n in circle if n != ticket.issue)
        for kind, issue in ticket.edges:
            where = (repo, issue)
            if kind in (HARD, NATIVE) and (where in self._open or where in self._unfinished):
                return f"Depends on #{issue}, which is not done.", (issue,)
            if kind == PART and where in self._open and not _waits_for(self._open[where], ticket.issue):
                return f"Is part of #{issue}, which is not done.", (issue,)
            if kind == SOFT and where in self._running:
                return f"Mentions #{issue}, and the two do not run at the same time.", (issue,)
        return None


def _waits_for(ticket: Ticket, issue: int) -> bool:
    """Return whether a whole names this part of it: then the whole waits, not the part."""
    return any(kind in (HARD, NATIVE) and n == issue for kind, n in ticket.edges)


def _circles(edged: Iterable[Ticket]) -> dict[tuple[str, int], list[int]]:
    """Return the circle of each issue that is in one."""
    after: defaultdict[str, dict[int, list[int]]] = defaultdict(dict)
    for ticket in edged:
        hard = [issue for kind, issue in ticket.edges if kind in (HARD, NATIVE)]
        if hard:
            after[ticket.repository][ticket.issue] = hard
    return {
        (repository, issue): circle
        for repository, graph in after.items()
        for circle in cycles(_without_ends(graph))
        for issue in circle
    }


def _without_ends(after: Mapping[int, list[int]]) -> dict[int, list[int]]:
    """Return a graph without what can be done in some order: what is left has circles, or waits for one."""
    after = {issue: others for issue, others in after.items() if not after.keys().isdisjoint(others)}  # mostly none
    waits = {issue: {n for n in others if n in after} for issue, others in after.items()}
    before: defaultdict[int, list[int]] = defaultdict(list)
    for issue, others in waits.items():
        for other in others:
            before[other].append(issue)
    free = [issue for issue, others in waits.items() if not others]
    while free:
        done = free.pop()
        del waits[done]
        for issue in before[done]:
            waits[issue].discard(done)
            if not waits[issue]:
                free.append(issue)
    return {issue: after[issue] for issue in waits}
