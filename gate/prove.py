"""Prove what a repository's checks can see: break files in a copy, run the checks, and look who notices."""

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gate.canaries.canary import Level
from gate.candidates import Candidates
from gate.proof import Proof, ProofVerdict, Seen, Told, conclude
from gate.search import Colour, Fate, Found, search
from gate.trial import Failed, Subject, Tell, Trial

AUTO = "auto"
# what steps are made of: broken beside the code it would keep them from starting, and nobody would be named
_SETUP = frozenset({"JSON", "YAML", "TOML", "make", "shell"})
_SPENT = "the time of --budget was over before its turn"


class Wish(NamedTuple):
    """What is asked: a level (`auto`, or one of Level), these files alone (None: all), until when (monotonic clock)."""

    level: str
    files: frozenset[str] | None
    until: float


def prove(subject: Subject, wish: Wish, *, stop: threading.Event, tell: Tell) -> Proof:
    """Return the proof. Raises Interrupted where `stop` is set; `tell` hears how it goes, a line at a time."""
    candidates = Candidates(subject.tree, subject.history.files, policy_file=subject.policy.file)
    trial = Trial(subject, candidates, until=wish.until, stop=stop, tell=tell)
    try:
        proof = _proof(trial, candidates, wish)
    except Failed as failed:
        proof = Proof(ProofVerdict.ERROR, str(failed), wish.level, notes=failed.notes)
    return proof._replace(gate_runs=trial.runs)


class _Result(NamedTuple):
    """What became of a file, and the level at which it was broken last."""

    level: Level
    found: Found


def _proof(trial: Trial, candidates: Candidates, wish: Wish) -> Proof:
    asked = [path for path in candidates.canaries if wish.files is None or path in wish.files]
    untried = {path: why for path, why in candidates.reasons.items() if wish.files is None or path in wish.files}
    if wish.level != AUTO:
        whys = {path: candidates.why_not(path, Level(wish.level)) for path in asked}
        untried |= {path: why for path, why in whys.items() if why}
        asked = [path for path in asked if not whys[path]]
    results = dict[str, _Result]()
    if asked:
        trial.over_whole_files()
        for group in _groups(candidates, asked):
            results |= _search(trial, candidates, wish, group)
        _control(trial, candidates, wish, results)
    of = {fate: {path: r.found for path, r in results.items() if r.found.fate is fate} for fate in Fate}
    return conclude(
        wish.level,
        seen=[Seen(path, results[path].level, f.steps) for path, f in of[Fate.SEEN].items()],
        unseen=[Told(path, _hint(path, results, candidates, trial)) for path in of[Fate.UNSEEN]],
        unsettled=[Told(path, f.reason) for path, f in of[Fate.UNSETTLED].items()],
        untried=[Told(path, why) for path, why in untried.items()],
        notes=_notes(trial, results),
    )


def _groups(candidates: Candidates, paths: Sequence[str]) -> list[list[str]]:
    """Return the code, then what steps are made of."""
    setup = {path for path in paths if candidates.canaries[path].NAME in _SETUP}
    return [[path for path in paths if path not in setup], [path for path in paths if path in setup]]


def _search(trial: Trial, candidates: Candidates, wish: Wish, paths: Sequence[str]) -> dict[str, _Result]:
    """Return what became of the files of a group at the level that is asked for.

    `auto` is a name that nobody defines, which checks of all kinds see and most name; what is unseen then, and what has
    no names, is broken in its syntax.
    """
    results = dict[str, _Result]()
    for level in (Level.NAME, Level.SYNTAX) if wish.level == AUTO else (Level(wish.level),):
        left = [
            path for path in paths
            if level in candidates.canaries[path].BREAKS
            and (path not in results or results[path].found.fate is Fate.UNSEEN)
        ]  # fmt: skip
        levels = dict.fromkeys(left, level)
        found = search(left, lambda some, levels=levels: trial.over_broken(some, levels), spent=_SPENT)  # type: ignore[misc]
        results |= {path: _Result(level, f) for path, f in found.items()}
    return results


def _control(trial: Trial, candidates: Candidates, wish: Wish, results: Mapping[str, _Result]) -> None:
    """Raise Failed where nothing was seen, and nothing else that is broken is seen either.

    A file that was seen is its own control: it shows that the steps look at the copy, and that they can fail.
    """
    if not any(r.found.fate is Fate.UNSEEN for r in results.values()):
        return
    if any(r.found.fate is Fate.SEEN for r in results.values()):
        return
    if wish.files is not None or wish.level != AUTO:
        for group in _groups(candidates, list(candidates.canaries)):
            levels = {path: _first(candidates, path) for path in group}
            ran = trial.over_broken(group, levels, at_least_s=60.0) if group else None
            if ran is not None and ran.colour is Colour.RED:
                return
    raise Failed(
        "the control failed: every file that can be broken was, and each step passed. Either the steps look at "
        "something else than the copy that they run in, or they cannot fail"
    )


def _first(candidates: Candidates, path: str) -> Level:
    return Level.NAME if Level.NAME in candidates.canaries[path].BREAKS else Level.SYNTAX


def _hint(path: str, results: Mapping[str, _Result], candidates: Candidates, trial: Trial) -> str:
    """Return which steps looked near an unseen file, so that a person knows where to look on."""
    if path in trial.passing:
        steps = ", ".join(sorted(trial.passing[path]))
        return f"{steps} named it and passed all the same: a warning only, or a failure that does not count"
    language = candidates.canaries[path].NAME
    near = dict[str, int]()
    for other, result in results.items():
        if language == candidates.canaries[other].NAME:
            for step in result.found.steps:
                near[step] = near.get(step, 0) + 1
    if not near:
        return f"no step saw a {language} file"
    saw = " and ".join(f"{step} saw {count}" for step, count in sorted(near.items()))
    return f"{saw} of the {language} files, and not this one: look at what is left out there"


def _notes(trial: Trial, results: Mapping[str, _Result]) -> list[str]:
    notes = [
        f"{step} passed while {count} files were broken together, and never failed: it sees none of them"
        for step, count in sorted(trial.blind.items())
        if count > 1
    ]
    if trial.layout and any(result.level is not Level.SYNTAX for result in results.values()):
        notes.append(f"{', '.join(trial.layout)}: only asked about syntax; a formatter sees how text is laid out alone")
    return notes
