"""What the stages of tickets took: medians, shares, cold beside warm, and the figures published elsewhere. No I/O."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bot.tickets.journal import Timed
from bot.tickets.seconds import COLD, NOT_OURS, Spent, Time, by_stage, saved, total

KINDS = ("infrastructure", *NOT_OURS)


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds of one thing over the attempts that had it; the share is of all seconds of all attempts, 0 to 1."""

    name: str
    part: str
    kind: str
    attempts: int
    median_s: float
    p90_s: float
    total_s: float
    share: float


@dataclass(frozen=True, slots=True)
class Published:
    """A figure that was published for jobs in fresh checkouts, and what stands beside it here."""

    name: str
    least_s: float
    most_s: float
    here: str  # name of the row in `Measured.overhead` that it compares to


# set-up of a job in a fresh checkout against one in a warm slot, over four repositories of TypeScript
PUBLISHED = (
    Published("overhead of a job, cold", 300.0, 480.0, "cold"),
    Published("overhead of a job, warm", 0.0, 60.0, "warm"),
    Published("install, cold", 91.0, 91.0, "install"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """All that `bot stats stages` shows."""

    attempts: int
    stages: tuple[Row, ...]
    kinds: tuple[Row, ...]
    overhead: Mapping[str, Row | None]  # infrastructure of cold attempts, of warm ones, and installs from nothing
    saved_s: float  # by warmth, over all attempts


def measure(rows: Iterable[Timed], cold: Mapping[str, Mapping[str, float]]) -> Measured:
    """Sum up attempts; `cold` says for each repository what its cold parts cost when last paid, in seconds."""
    attempts: dict[tuple[str, int, int], list[Time]] = defaultdict(list)
    for row in rows:
        attempts[(row.repository, row.ticket, row.attempt)].append(row.took)
    spent = {key: by_stage(times) for key, times in attempts.items()}
    sums = {key: total(stages) for key, stages in spent.items()}
    everything = sum(s.seconds for s in sums.values())
    is_cold = {key: any(t.part in COLD for t in times) for key, times in attempts.items()}
    parted = {key: _by_part(times) for key, times in attempts.items()}
    names = _order(parted.values())
    kinds = [_row("all", "", kind, [getattr(s, kind) for s in sums.values()], everything) for kind in KINDS]
    return Measured(
        attempts=len(attempts),
        stages=tuple(_row(*n, [p[n] for p in parted.values() if n in p], everything) for n in names),
        kinds=tuple(kinds),
        overhead={
            "cold": _overhead([sums[key] for key, yes in is_cold.items() if yes], everything),
            "warm": _overhead([sums[key] for key, yes in is_cold.items() if not yes], everything),
            "install": _one([row for row in (_installs(times) for times in attempts.values()) if row], everything),
        },
        saved_s=round(sum(saved(times, cold.get(key[0], {})) for key, times in attempts.items()), 3),
    )


def p90(values: Sequence[float]) -> float:
    """Return the 90th percentile by nearest rank."""
    return sorted(values)[math.ceil(0.9 * len(values)) - 1]


def _by_part(times: Iterable[Time]) -> dict[tuple[str, str, str], float]:
    summed: dict[tuple[str, str, str], float] = defaultdict(float)
    for took in times:
        summed[(took.stage, took.part, took.kind if took.part else "")] += took.seconds
    return summed


def _order(parted: Iterable[Iterable[tuple[str, str, str]]]) -> list[tuple[str, str, str]]:
    """Return every stage in the order of its first sight, its parts behind it."""
    stages: dict[str, dict[tuple[str, str, str], None]] = {}
    for names in parted:
        for name in names:
            stages.setdefault(name[0], {})[name] = None
    return [name for names in stages.values() for name in sorted(names, key=lambda n: bool(n[1]))]


def _overhead(sums: Sequence[Spent], everything: float) -> Row | None:
    return _one([s.infrastructure for s in sums], everything)


def _installs(times: Iterable[Time]) -> float:
    return sum(t.seconds for t in times if t.part == "install")


def _one(seconds: Sequence[float], everything: float) -> Row | None:
    return _row("all", "", "infrastructure", seconds, everything) if seconds else None


def _row(name: str, part: str, kind: str, seconds: Sequence[float], everything: float) -> Row:
    if not seconds:
        return Row(name, part, kind, 0, 0.0, 0.0, 0.0, 0.0)
    whole = sum(seconds)
    share = whole / everything if everything else 0.0
    middle, high, summed = round(median(seconds), 3), round(p90(seconds), 3), round(whole, 3)
    return Row(name, part, kind, len(seconds), middle, high, summed, round(share, 4))
