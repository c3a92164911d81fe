"""The claims of what runs or waits before a ticket, found along its paths and not one by one. No I/O."""

import functools
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from bot.tickets.claims import EVERYTHING, WHOLE, is_glob, key, meet
from bot.tickets.ticket import Ticket

Met = tuple[Ticket, str, str]  # who is met, how it stands, and the path where: plain tuples, for there are thousands
Looked = tuple[str, str, tuple[str, ...], bool]  # path, literal part, folders above, whether a pattern follows
_Entry = tuple[int, Ticket, str, Looked]  # place, ticket, how it stands, what it claims


class Compiled(NamedTuple):
    """A claim as it is looked up and added: its paths, all their literal parts, and all folders above these."""

    paths: tuple[Looked, ...]
    places: tuple[str, ...]
    above: tuple[str, ...]


class Ahead:
    """Claims in the order in which they were added, the oldest first."""

    def __init__(self) -> None:
        self._place = 0
        # the oldest claim of everything: whoever comes now meets it, and need not be added
        self.whole: _Entry | None = None
        self._ends: dict[str, _Entry] = {}  # the oldest claim of exactly this, and with it of all below
        self._first: dict[str, _Entry] = {}  # the oldest claim of something below this folder
        self._patterns: defaultdict[str, list[_Entry]] = defaultdict(list)  # claims that are a pattern from here on
        self._every: list[_Entry] = []
        self._below: defaultdict[str, list[_Entry]] = defaultdict(list)  # all below a folder, as far as was asked for
        self._indexed = 0  # of `every`
        # most claims meet none of these: whoever names nothing of `met`, below nothing of `over`, needs no closer look
        self._met = set[str]()  # the keys of ends, first and patterns
        self._over = set[str]()  # the keys of ends and patterns

    def add(self, ticket: Ticket, how: str, claimed: Compiled, *, is_clear: bool = False) -> None:
        """Put a ticket behind those that are there; `how` it stands goes into reasons. `is_clear`: it meets nobody."""
        self._place += 1
        if self.whole is not None:
            return
        place, ends, first, every = self._place, self._ends, self._first, self._every
        for looked in claimed.paths:
            _, at, above, is_pattern = looked
            if not is_clear and (at in ends or not ends.keys().isdisjoint(above)):
                continue  # whatever meets this meets an older claim of a folder above it
            entry = (place, ticket, how, looked)
            every.append(entry)
            for folder in above:
                if folder in first:
                    break  # and so is each folder above it
                first[folder] = entry
                self._met.add(folder)
            if is_pattern:
                self._patterns[at].append(entry)
            elif at:
                ends[at] = entry
            else:
                self.whole = entry
                return
            self._met.add(at)
            self._over.add(at)

    def meets(self, claimed: Compiled) -> Met | None:
        """Return the oldest ticket here whose claim meets this one, how it stands, and the path where they meet."""
        paths, places, over = claimed
        best, where = self.whole, paths[0][0]
        if self._met.isdisjoint(places) and self._over.isdisjoint(over):
            return None if best is None else (best[1], best[2], best[3][0] if where == EVERYTHING else where)
        ends, first, patterns = self._ends, self._first, self._patterns
        for looked in paths:
            path, at, above, _ = looked
            if (
                at in first or at in ends or not ends.keys().isdisjoint(above)
                or (patterns and (at in patterns or not patterns.keys().isdisjoint(above)))
            ):  # fmt: skip
                found = self._oldest(looked)
                if found is not None and (best is None or found[0] < best[0]):
                    best, where = found, path
                    if found[0] == 1:
                        break  # none is older
        return None if best is None else (best[1], best[2], best[3][0] if where == EVERYTHING else where)

    def _oldest(self, looked: Looked) -> _Entry | None:
        """Return the oldest claim that a path meets, but for a claim of everything."""
        path, at, above, is_pattern = looked
        ends, patterns = self._ends, self._patterns
        found = ends.get(at)
        if found is None and not ends.keys().isdisjoint(above):
            found = next(ends[folder] for folder in above if folder in ends)  # the deepest is the oldest
        if patterns and (at in patterns or not patterns.keys().isdisjoint(above)):
            for folder in (at, *above):
                if folder in patterns:
                    found = _older(found, path, patterns[folder])
        inside = self._first.get(at)
        if inside is None or (found is not None and found[0] <= inside[0]):
            return found
        return _older(found, path, self._all_below(at)) if is_pattern else inside

    def _all_below(self, folder: str) -> list[_Entry]:
        """Return every claim below a folder, the oldest first: only patterns ask for more than the first."""
        for entry in self._every[self._indexed :]:
            for each in entry[3][2]:
                self._below[each].append(entry)
        self._indexed = len(self._every)
        return self._below[folder]


@functools.lru_cache(maxsize=32768)
def compiled(claim: tuple[str, ...]) -> Compiled:
    """Return a claim as it is looked up and added; a queue is looked through again and again."""
    paths = tuple(_compile(path) for path in claim or WHOLE)
    above = dict.fromkeys(folder for _, _, folders, _ in paths for folder in folders)
    return Compiled(paths, tuple(dict.fromkeys(at for _, at, _, _ in paths)), tuple(above))


def _older(best: _Entry | None, path: str, entries: Sequence[_Entry]) -> _Entry | None:
    """Return the oldest of `best` and the entries that the path meets."""
    for entry in entries:
        if best is not None and entry[0] >= best[0]:
            break
        if meet(path, entry[3][0]):
            return entry
    return best


def _compile(path: str) -> Looked:
    segments = key(path)
    while segments and segments[-1] == EVERYTHING:  # a folder is claimed with all below it anyway
        segments = segments[:-1]
    literal = next((n for n, segment in enumerate(segments) if is_glob(segment)), len(segments))
    # interned: most share their folders, and one string in the processor's cache is found sooner than thousands
    at, *above = (sys.intern("/".join(segments[:n])) for n in range(literal, -1, -1))
    return (path, at, tuple(above), literal < len(segments))
