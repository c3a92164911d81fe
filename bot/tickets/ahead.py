"""The claims of what runs or waits before a ticket, found along its paths and not one by one. No I/O."""

import functools
from collections import defaultdict
from collections.abc import Sequence

from bot.tickets.claims import EVERYTHING, WHOLE, is_glob, key, meet
from bot.tickets.ticket import Ticket

Met = tuple[Ticket, str, str]  # who is met, how it stands, and the path where: plain tuples, for there are thousands
_Entry = tuple[int, Ticket, str, str]  # place, ticket, how it stands, path
_Path = tuple[str, tuple[str, ...], str, bool]  # path, folders above it, literal part, whether a pattern follows


class Ahead:
    """Claims in the order in which they were added, the oldest first."""

    def __init__(self) -> None:
        self._place = 0
        self._ends: dict[str, _Entry] = {}  # the oldest claim of exactly this, and with it of all below
        self._first: dict[str, _Entry] = {}  # the oldest claim of something below this folder
        self._patterns: defaultdict[str, list[_Entry]] = defaultdict(list)  # claims that are a pattern from here on
        self._every: list[tuple[tuple[str, ...], _Entry]] = []  # all of them, with the folders above each
        self._below: defaultdict[str, list[_Entry]] = defaultdict(list)  # all below a folder, as far as was asked for
        self._indexed = 0  # of `every`

    def add(self, ticket: Ticket, how: str) -> None:
        """Put a ticket behind those that are there; `how` it stands goes into reasons."""
        ends, first, self._place = self._ends, self._first, self._place + 1
        if "" in ends:
            return  # somebody claims everything: whoever comes now meets that one first
        for path, above, at, is_pattern in _compiled(ticket.claim):
            if at in ends or not ends.keys().isdisjoint(above):
                continue  # whatever meets this meets an older claim of a folder above it
            entry = (self._place, ticket, how, path)
            self._every.append((above, entry))
            for folder in above:
                if folder not in first:
                    first[folder] = entry
            if is_pattern:
                self._patterns[at].append(entry)
            else:
                ends[at] = entry

    def meets(self, ticket: Ticket) -> Met | None:
        """Return the oldest ticket here whose claim meets this one's, how it stands, and the path where they meet."""
        best: _Entry | None = None
        where = ""
        for looked in _compiled(ticket.claim):
            found = self._oldest(looked)
            if found is not None and (best is None or found[0] < best[0]):
                best, where = found, looked[0]
                if found[0] == 1:
                    break  # none is older
        return None if best is None else (best[1], best[2], best[3] if where == EVERYTHING else where)

    def _oldest(self, looked: _Path) -> _Entry | None:
        path, above, at, is_pattern = looked
        ends, patterns = self._ends, self._patterns
        found = ends.get(at)
        if found is None and not ends.keys().isdisjoint(above):
            for folder in above:
                found = ends.get(folder, found)  # the deepest is the oldest
        if patterns and (at in patterns or not patterns.keys().isdisjoint(above)):
            for folder in (*above, at):
                if folder in patterns:
                    found = _older(found, path, patterns[folder])
        inside = self._first.get(at)
        if inside is None or (found is not None and found[0] <= inside[0]):
            return found
        return _older(found, path, self._all_below(at)) if is_pattern else inside

    def _all_below(self, folder: str) -> list[_Entry]:
        """Return every claim below a folder, the oldest first: only patterns ask for more than the first."""
        for above, entry in self._every[self._indexed :]:
            for each in above:
                self._below[each].append(entry)
        self._indexed = len(self._every)
        return self._below[folder]


def _older(best: _Entry | None, path: str, entries: Sequence[_Entry]) -> _Entry | None:
    """Return the oldest of `best` and the entries that the path meets."""
    for entry in entries:
        if best is not None and entry[0] >= best[0]:
            break
        if meet(path, entry[3]):
            return entry
    return best


@functools.lru_cache(maxsize=32768)
def _compiled(claim: tuple[str, ...]) -> tuple[_Path, ...]:
    """Return a claim as it is looked up; a queue is looked through again and again."""
    return tuple(_compile(path) for path in claim or WHOLE)


def _compile(path: str) -> _Path:
    segments = key(path)
    while segments and segments[-1] == EVERYTHING:  # a folder is claimed with all below it anyway
        segments = segments[:-1]
    literal = next((n for n, segment in enumerate(segments) if is_glob(segment)), len(segments))
    above = tuple("/".join(segments[:n]) for n in range(literal))
    return (path, above, "/".join(segments[:literal]), literal < len(segments))
