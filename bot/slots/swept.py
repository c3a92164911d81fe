"""Know a swept worktree again: where no folder of it has changed since, nothing was added to any or taken away.

What a program does to a folder's entries, rights or attributes shows in the folder's ctime, which no program can set.
That is one question a folder, where a sweep opens and lists each. What stands in files is git's to compare.
"""

import contextlib
import json
import os
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from bot.slots.index import Tracked


def note(record: Path, root: Path, index: Path, folders: Collection[str]) -> None:
    """Note how a worktree stands that was just swept; `folders` are all that a sweep enters, "" for the root."""
    record.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # without a note, the next job sweeps once more
        now = _stamps(root, index, folders)
        record.write_text(json.dumps(now))
        # the file system's clock ticks: a second change of a folder within one tick would show no other time
        if max(changed for _, changed in now.values()) >= record.stat().st_ctime_ns:
            record.unlink()


def is_as_noted(record: Path, root: Path, index: Path) -> bool:
    """Return whether a worktree and its index stand as they were noted; the note is forgotten, for a job begins."""
    with contextlib.suppress(OSError, ValueError):
        noted = json.loads(record.read_text())
        record.unlink()
        return bool(noted == _stamps(root, index, [path for path in noted if path != _INDEX]))
    return False


def may_meet(kept: Sequence[str], tracked: Tracked) -> bool:
    """Return whether a kept path is tracked, or stands above or below something tracked that is no folder."""
    names: list[str] = list(tracked) if kept else []  # in git's order, which is that of their bytes
    for path in kept:
        at = bisect_left(names, os.fsencode(f"{path}/"), key=os.fsencode)
        if names[at : at + 1] and names[at].startswith(f"{path}/"):
            return True
        parts = path.split("/")
        if any("/".join(parts[:n]) in tracked for n in range(1, len(parts) + 1)):
            return True
    return False


_INDEX = "."  # no path of git's


def _stamps(root: Path, index: Path, folders: Iterable[str]) -> dict[str, list[int]]:
    """Return inode and ctime, in nanoseconds, of each folder and of the index; zeros where nothing stands."""
    found = {path: _stamp(f"{root}/{path}" if path else str(root)) for path in folders}
    found[_INDEX] = _stamp(str(index))
    return found


def _stamp(path: str) -> list[int]:
    try:
        stat = os.lstat(path)
    except FileNotFoundError:
        return [0, 0]
    return [stat.st_ino, stat.st_ctime_ns]
