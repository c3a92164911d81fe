"""Replay tickets against the real admission rules: how long they would take, with how many slots. No I/O."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.errors import ConfigError
from bot.tickets.admission import Admit, Limits, admit
from bot.tickets.claims import WHOLE, claim
from bot.tickets.edges import HARD, cycles
from bot.tickets.ticket import State, Ticket

POLICIES = ("serial", "per-repo", "disjoint")
MOST = 1e12  # of seconds, and of an id
SHOWN = 60  # characters of a wrong value
KEYS = ("id", "repository", "at_s", "paths", "depends_on", "seconds")


@dataclass(frozen=True, slots=True)
class Planned:
    """One ticket of a trace; times in seconds."""

    id: int
    repository: str
    at_s: float
    seconds: float
    paths: tuple[str, ...] = WHOLE
    depends_on: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trace went under one rule."""

    policy: str
    makespan_s: float
    waiting_s: float  # of all tickets together
    busy: float  # share of the slots' time that was used, 0 to 1
    starts: Mapping[int, float] = field(default_factory=dict)


def read_trace(found: object, source: str) -> list[Planned]:
    """Return the tickets of a trace. Raises ConfigError: `file: key: expected X, got Y`."""
    if not isinstance(found, list) or not found:
        raise ConfigError(f"{source}: expected a JSON list of tickets that is not empty, got {_kind(found)}")
    planned = [_planned(item, f"{source}: [{number}]") for number, item in enumerate(found)]
    ids: set[int] = set()
    for one in planned:
        if one.id in ids:
            raise ConfigError(f"{source}: id: expected each once, got {one.id} twice")
        ids.add(one.id)
    for one in planned:
        unknown = [n for n in one.depends_on if n not in ids]
        if unknown:
            raise ConfigError(f"{source}: ticket {one.id}: depends_on: expected ids of the trace, got {unknown[0]}")
    circles = cycles({one.id: one.depends_on for one in planned})
    if circles:
        circle = " -> ".join(str(n) for n in [*circles[0], circles[0][0]])
        raise ConfigError(f"{source}: depends_on: expected no circle, got {circle}")
    return planned


def simulate(planned: Sequence[Planned], *, slots: int, policy: str) -> Outcome:
    """Return what happens when the tickets come, and start as the rule allows. `planned` has no circle."""
    arriving = sorted(planned, key=lambda p: (p.at_s, p.id))
    by_id = {p.id: p for p in planned}
    queued: dict[int, Ticket] = {}
    running: dict[int, Ticket] = {}
    ends: list[tuple[float, int]] = []
    starts: dict[int, float] = {}
    ended: set[int] = set()
    most = 1 if policy == "serial" else slots
    now, at = 0.0, 0
    while at < len(arriving) or queued or running:
        while at < len(arriving) and arriving[at].at_s <= now:
            queued[arriving[at].id] = _ticket(arriving[at], policy)
            at += 1
        if len(running) < most:
            waits = {(t.repository, n) for t in queued.values() for _, n in t.edges if n not in ended}
            limits = Limits(free=most - len(running))
            for decision in admit(list(queued.values()), list(running.values()), limits=limits, unfinished=waits):
                if isinstance(decision, Admit):
                    number = decision.ticket.id
                    starts[number] = now
                    running[number] = replace(queued.pop(number), state=State.RUNNING)
                    heapq.heappush(ends, (now + by_id[number].seconds, number))
        now = min([*([ends[0][0]] if ends else []), *([arriving[at].at_s] if at < len(arriving) else [])], default=now)
        while ends and ends[0][0] <= now:
            number = heapq.heappop(ends)[1]
            running.pop(number)
            ended.add(number)
    return outcome_of(planned, starts, slots=slots, policy=policy)


def outcome_of(planned: Sequence[Planned], starts: Mapping[int, float], *, slots: int, policy: str) -> Outcome:
    """Return how tickets went that started at these seconds."""
    makespan = max((starts[p.id] + p.seconds for p in planned), default=0.0)
    work = sum(p.seconds for p in planned)
    waiting = sum(starts[p.id] - p.at_s for p in planned)
    return Outcome(policy, makespan, waiting, work / (slots * makespan) if makespan else 0.0, dict(starts))


def costs_s(planned: Sequence[Planned], *, slots: int) -> dict[str, float]:
    """Return the seconds of waiting that go away without each limit: slots, claims that overlap, dependencies."""
    waiting_s = simulate(planned, slots=slots, policy="disjoint").waiting_s
    without = {
        "slots": (planned, max(1, len(planned))),
        "claims": ([replace(p, paths=(f"ticket-{p.id}",)) for p in planned], slots),
        "dependencies": ([replace(p, depends_on=()) for p in planned], slots),
    }
    return {
        name: waiting_s - simulate(tickets, slots=most, policy="disjoint").waiting_s
        for name, (tickets, most) in without.items()
    }


def lower_bound_s(planned: Sequence[Planned], *, slots: int) -> float:
    """Return the time that no rule can beat: the longest chain, the work over the slots, the last to come."""
    ends: dict[int, float] = {}
    by_id = {p.id: p for p in planned}
    stack = [(p.id, False) for p in planned]
    while stack:
        number, ready = stack.pop()
        if number in ends:
            continue
        one = by_id[number]
        if not ready:
            stack.append((number, True))
            stack += [(n, False) for n in one.depends_on if n not in ends]
            continue
        ends[number] = max([one.at_s, *(ends[n] for n in one.depends_on)]) + one.seconds
    first = min((p.at_s for p in planned), default=0.0)
    return max([first + sum(p.seconds for p in planned) / slots, *ends.values()], default=0.0)


def _ticket(planned: Planned, policy: str) -> Ticket:
    repository = "all" if policy == "serial" else planned.repository
    paths = planned.paths if policy == "disjoint" else WHOLE
    edges = tuple((HARD, n) for n in planned.depends_on)
    return Ticket(
        id=planned.id, repository=repository, issue=planned.id, title="", body="", text_hash="", requester="",
        state=State.QUEUED, attempt=1, epoch=0, created_at=planned.at_s, updated_at=planned.at_s, claim=paths,
        edges=edges,
    )  # fmt: skip


def _planned(item: object, where: str) -> Planned:
    if not isinstance(item, dict):
        raise ConfigError(f"{where}: expected an object, got {_kind(item)}")
    for key in item:
        if key not in KEYS:
            raise ConfigError(f"{where}: {key}: expected one of {', '.join(KEYS)}, got an unknown key")
    paths = item.get("paths", [])
    depends = item.get("depends_on", [])
    if not isinstance(paths, list) or not all(isinstance(p, str) for p in paths):
        raise ConfigError(f"{where}: paths: expected a list of texts, got {paths!r}")
    if not isinstance(depends, list) or not all(_is_whole(n) for n in depends):
        raise ConfigError(f"{where}: depends_on: expected a list of ids, got {depends!r}")
    return Planned(
        id=_number(item, "id", where, whole=True), repository=_text(item, where), paths=claim(paths),
        at_s=_number(item, "at_s", where, 0.0), seconds=_number(item, "seconds", where), depends_on=tuple(depends),
    )  # fmt: skip


def _number(item: Mapping[str, Any], key: str, where: str, default: float | None = None, *, whole: bool = False) -> Any:
    found = item.get(key, default)
    good = _is_whole(found) if whole else isinstance(found, int | float) and not isinstance(found, bool)
    if not good or not 0 <= found < MOST:
        kind = "a whole number" if whole else "a number of seconds"
        got = "nothing" if key not in item else repr(found)[:SHOWN]
        raise ConfigError(f"{where}: {key}: expected {kind} from 0 to below {MOST:.0e}, got {got}")
    return found


def _text(item: Mapping[str, Any], where: str) -> str:
    found = item.get("repository")
    if not isinstance(found, str) or not found:
        raise ConfigError(f"{where}: repository: expected text such as 'owner/name', got {found!r}")
    return found


def _kind(found: object) -> str:
    words = {dict: "an object", list: "an empty one", str: "text", bool: "true or false", type(None): "null"}
    return words.get(type(found), "a number")


def _is_whole(found: object) -> bool:
    return isinstance(found, int) and not isinstance(found, bool)
