"""Where an attempt's seconds went: what waited for the machinery, the model, its tools and the gate. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

NOT_OURS = ("model", "tools", "gate")  # kinds that are the work itself; all else of a stage is infrastructure
COLD = ("clone", "worktree", "install")  # parts that only a slot without warmth pays
WORTH_SAYING_S = 0.005
READY = (*COLD, "fetch", "checkout", "update")  # parts that bring a slot to its commit with its dependencies


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds of a stage; a `part` is one piece of it, an empty one means all of it. A `step` is a part of `gate`."""

    stage: str
    seconds: float
    part: str = ""
    kind: str = "infrastructure"
    started_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one stage, or of all, by what they were spent on."""

    stage: str
    seconds: float
    infrastructure: float
    model: float
    tools: float
    gate: float


def by_stage(times: Iterable[Time]) -> list[Spent]:
    """Return the seconds of each stage in the order of their first run; repeated runs are one row."""
    stages: dict[str, dict[str, float]] = {}
    for took in times:
        row = stages.setdefault(took.stage, dict.fromkeys(("", *NOT_OURS), 0.0))
        if not took.part:
            row[""] += took.seconds
        elif took.kind in NOT_OURS:
            row[took.kind] += took.seconds
    return [
        Spent(stage, row[""], max(0.0, row[""] - sum(row[kind] for kind in NOT_OURS)), *(row[k] for k in NOT_OURS))
        for stage, row in stages.items()
        if row[""]
    ]


def parts(times: Iterable[Time]) -> list[Time]:
    """Return the parts of each stage, and behind them what none of them explains, so that they add up."""
    stages: dict[str, list[Time]] = {}
    for took in times:
        stages.setdefault(took.stage, []).append(took)
    found: list[Time] = []
    for stage, all_of_it in stages.items():
        shown = [took for took in all_of_it if took.part]
        rest = sum(t.seconds for t in all_of_it if not t.part) - sum(t.seconds for t in shown if t.kind != "step")
        found += [*shown, *([Time(stage, rest, "all else")] if shown and rest >= WORTH_SAYING_S else [])]
    return found


def total(spent: Sequence[Spent]) -> Spent:
    """Return the sum of stages."""
    names = ("seconds", "infrastructure", *NOT_OURS)
    return Spent("all", *(sum(getattr(s, name) for s in spent) for name in names))


def saved(times: Iterable[Time], cold: Mapping[str, float]) -> float:
    """Return the seconds that warmth saved: what the cold parts cost when last paid, less what was paid instead."""
    paid = sum(t.seconds for t in times if t.part in READY)
    return max(0.0, sum(cold.get(part, 0.0) for part in COLD) - paid) if paid else 0.0
