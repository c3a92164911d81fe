"""Tell seen files from unseen ones by breaking many at once. Pure: what runs the checks is handed in.

All are broken together; those that a failing check names leave, and the others are broken again, until a run is green:
that one run shows all that are left to be unseen. Where something fails and names nobody, halves are looked at alone.
With 95 of 100 named, three runs do; one by one it would be a hundred.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple


class Colour(StrEnum):
    """How the checks ended over broken files."""

    GREEN = "green"  # all passed, and executed as much as over whole files
    RED = "red"  # one failed, as checks fail
    UNCLEAR = "unclear"  # out of time, killed, or green after having executed less


class Ran(NamedTuple):
    """One run over broken files: how it ended, whom the failing checks named, and by which checks."""

    colour: Colour
    named: dict[str, tuple[str, ...]]  # file: steps
    red: tuple[str, ...] = ()  # all steps that failed
    reason: str = ""  # of UNCLEAR


class Fate(StrEnum):
    """What is known of a file at the end."""

    SEEN = "seen"
    UNSEEN = "unseen"
    UNSETTLED = "unsettled"


class Found(NamedTuple):
    """A file's fate: by which steps it was seen, or why it is not settled."""

    fate: Fate
    steps: tuple[str, ...] = ()
    reason: str = ""


Run = Callable[[Sequence[str]], Ran | None]  # breaks just these files and runs the checks; None: no time is left


def search(files: Sequence[str], run: Run, *, spent: str) -> dict[str, Found]:
    """Return what became of each file. `spent` is why a file is unsettled that no time was left for."""
    found = dict[str, Found]()
    open_: list[tuple[Sequence[str], str]] = [(list(files), "")] if files else []
    while open_:
        group, before = open_.pop()
        ran = run(group)
        if ran is None:
            found |= dict.fromkeys(group, Found(Fate.UNSETTLED, reason=before or spent))
            continue
        named = {path: steps for path, steps in ran.named.items() if path in set(group)}
        found |= {path: Found(Fate.SEEN, steps) for path, steps in named.items()}
        rest = [path for path in group if path not in named]
        if not rest:
            continue
        if ran.colour is Colour.GREEN:
            found |= dict.fromkeys(rest, Found(Fate.UNSEEN))
        elif named:
            open_.append((rest, ""))
        elif len(rest) == 1:
            found[rest[0]] = _alone(rest, ran, run)
        else:
            half = (len(rest) + 1) // 2
            why = _as_a_group(len(rest), ran, spent)
            open_ += [(rest[half:], why), (rest[:half], why)]
    return found


def _alone(only: Sequence[str], ran: Ran, run: Run) -> Found:
    """Return the fate of a file that was broken alone and that nobody named: the second run must say the same."""
    if ran.colour is Colour.UNCLEAR:
        return Found(Fate.UNSETTLED, reason=ran.reason)
    again = run(only)
    if again is None or again.colour is Colour.RED:
        return Found(Fate.SEEN, ran.red)
    return Found(Fate.UNSETTLED, reason=f"{', '.join(ran.red)} failed once with it broken, and not a second time")


def _as_a_group(size: int, ran: Ran, spent: str) -> str:
    what = f"{', '.join(ran.red)} failed" if ran.colour is Colour.RED else ran.reason
    return f"{what} with it broken among {size} files, and named none of them; {spent}"
