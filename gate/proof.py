"""What a proof found: the data behind every output, its verdict, and its JSON form (schema gate.proof/1)."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from gate.report import PolicyStamp

SCHEMA = "gate.proof/1"


class ProofVerdict(StrEnum):
    """How a proof ended; only SEEN may pass."""

    SEEN = "SEEN"
    UNSEEN = "UNSEEN"
    UNSETTLED = "UNSETTLED"
    ERROR = "ERROR"


EXIT_CODES: Mapping[ProofVerdict, int] = {
    ProofVerdict.SEEN: 0,
    ProofVerdict.UNSEEN: 1,
    ProofVerdict.ERROR: 2,
    ProofVerdict.UNSETTLED: 4,
}


class Seen(NamedTuple):
    """A file whose break made steps fail: which, and at which level it was broken."""

    path: str
    level: str
    steps: tuple[str, ...]


class Told(NamedTuple):
    """A file and what is to be said of it: who looked elsewhere, why it is not settled, or why it was not tried."""

    path: str
    reason: str


class Proof(NamedTuple):
    """A whole proof; `gate_runs` counts every run of the steps, `notes` are what else people should know."""

    verdict: ProofVerdict
    reason: str
    level: str
    gate_runs: int = 0
    seconds: float = 0.0
    seen: tuple[Seen, ...] = ()
    unseen: tuple[Told, ...] = ()
    unsettled: tuple[Told, ...] = ()
    untried: tuple[Told, ...] = ()
    notes: tuple[str, ...] = ()
    repository: str | None = None
    head: str | None = None
    policy: PolicyStamp = PolicyStamp()


def conclude(
    level: str, *, seen: Sequence[Seen], unseen: Sequence[Told], unsettled: Sequence[Told], untried: Sequence[Told],
    notes: Sequence[str] = (),
) -> Proof:  # fmt: skip
    """Return the proof with its verdict; pure. Nothing tried is never SEEN."""
    tried = len(seen) + len(unseen) + len(unsettled)
    counts = f"{len(seen)} seen, {len(unseen)} unseen, {len(unsettled)} unsettled, {len(untried)} untried"
    if unseen:
        verdict = ProofVerdict.UNSEEN
        reason = f"{_files(len(unseen), tried)} can be broken and every step still passes; {counts}"
    elif unsettled:
        verdict, reason = ProofVerdict.UNSETTLED, f"of {_files(len(unsettled), tried)} nothing is known; {counts}"
    elif not seen:
        what = "no file could be broken" if untried else "there was no file to break"
        verdict, reason = ProofVerdict.UNSETTLED, f"{what}, so nothing was proved; {counts}"
    else:
        verdict, reason = ProofVerdict.SEEN, f"each file that was broken made a step fail; {counts}"
    return Proof(
        verdict, reason, level, seen=tuple(sorted(seen)), unseen=tuple(sorted(unseen)),
        unsettled=tuple(sorted(unsettled)), untried=tuple(sorted(untried)), notes=tuple(notes),
    )  # fmt: skip


def read_proof(found: Mapping[str, Any]) -> Proof:
    """Return the proof that parsed JSON of our schema holds; unknown keys are ignored. Raises ValueError."""
    try:
        fields = {key: value for key, value in found.items() if key in Proof._fields}
        told = {
            name: tuple(Told(str(one["path"]), str(one["reason"])) for one in found.get(name, ()))
            for name in ("unseen", "unsettled", "untried")
        }
        seen = tuple(Seen(str(s["path"]), str(s["level"]), tuple(map(str, s["steps"]))) for s in found.get("seen", ()))
        stamp = found.get("policy") or {}
        policy = PolicyStamp(stamp.get("source"), stamp.get("hash"))
        verdict, notes = ProofVerdict(found["verdict"]), tuple(map(str, found.get("notes", ())))
        return Proof(**{**fields, **told, "seen": seen, "policy": policy, "verdict": verdict, "notes": notes})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a whole {SCHEMA} report: {error!r}") from error


def _files(count: int, of: int) -> str:
    return f"{count} of {of} file{'' if of == 1 else 's'}"
