"""Read git's index in process: starting git for it costs more than a small slot's whole way from lease to ready.

https://git-scm.com/docs/index-format
"""

import os
import re
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bot.slots.plain import read

_HEAD = struct.Struct(">4sLL")
_FIXED, _ID = 62, 20
# times, device and inode are git's own business; then mode, owner and size, id and flags; then the path, and one to
# eight zero bytes. Flags of assume-valid, extended, and the stage of a conflict do not match: git says what they mean.
_ENTRY = re.compile(rb".{24}(.{36})([\x00-\x0f].)([^\x00]+)\x00{1,8}", re.DOTALL)
_CHANGED = re.compile(rb"(.{4}).{56}[\x00-\x0f].([^\x00]+)\x00{1,8}", re.DOTALL)  # and when, in seconds
_TIME = struct.Struct(">L")
_EXTENSION = struct.Struct(">4sL")
_MODULE = (0o160000).to_bytes(4, "big")
_LONG = 0xFFF  # what flags say of every path that is at least as long


class Tracked(Mapping[str, str]):
    """What git tracks: each path with "mode blob", such as `100644 e69de29...`; written only when it is asked for.

    `entries` holds them as the index does: mode, what is git's own, id. `modules` are the submodules.
    """

    def __init__(self, entries: Mapping[str, bytes], modules: tuple[str, ...]) -> None:
        self._entries = entries
        self.modules = modules

    def __getitem__(self, path: str) -> str:
        entry = self._entries[path]
        return f"{int.from_bytes(entry[:4], 'big'):o} {entry[16:36].hex()}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, path: object) -> bool:
        return path in self._entries


def listed(entries: Iterable[tuple[str, int, str]]) -> Tracked:
    """Return what a listing of paths, modes and ids says."""
    known = {path: mode.to_bytes(4, "big") + bytes(12) + bytes.fromhex(blob) for path, mode, blob in entries}
    return Tracked(known, tuple(path for path, entry in known.items() if entry[:4] == _MODULE))


def read_index(path: Path) -> Tracked | None:
    """Return what an index holds that only lists files; None where only git can say what it means.

    That is: another version than 2, an entry with a flag or in conflict, a split or sparse index, a damaged file.
    """
    try:
        return _read(read(path) or b"")
    except (struct.error, ValueError):
        return None


def changed_since(path: Path, at_s: int, tracked: Tracked) -> list[str]:
    """Return the paths to which something was done in or after a second of the file system's own clock.

    `tracked` is what the index holds: all of it where its times cannot be read. The time is the kernel's (ctime), which
    no program can set; git compares it by the second, and writes a file anew that has another one.
    """
    data, at = path.read_bytes(), _TIME.pack(at_s & 0xFFFFFFFF)
    found = _CHANGED.findall(data, _HEAD.size)[: len(tracked)]
    names = [os.fsdecode(name) for when, name in found if when >= at]
    return names if len(found) == len(tracked) and all(name in tracked for name in names) else list(tracked)


def _read(data: bytes) -> Tracked | None:
    signature, version, count = _HEAD.unpack_from(data)
    if signature != b"DIRC" or version != 2:
        return None
    found = _ENTRY.findall(data, _HEAD.size)[:count]  # what matches behind the last one is an extension
    raw = [name for _, _, name in found]
    lengths = [len(name) for name in raw]
    said = array("H", b"".join([flags for _, flags, _ in found]))
    if sys.byteorder == "little":
        said.byteswap()
    if said.tolist() != (lengths if max(lengths, default=0) < _LONG else [min(n, _LONG) for n in lengths]):
        return None
    at = _HEAD.size + sum(((_FIXED + length + 8) & ~7) * times for length, times in Counter(lengths).items())
    end = len(data) - _ID
    while at < end:  # and everything is accounted for, to the last byte
        extension, size = _EXTENSION.unpack_from(data, at)
        if not extension[:1].isupper():  # one that must be understood
            return None
        at += _EXTENSION.size + size
    names = b"\0".join(raw).decode(sys.getfilesystemencoding(), "surrogateescape").split("\0") if raw else []
    if at != end or len(names) != count:
        return None
    entries = [entry for entry, _, _ in found]
    modules: tuple[str, ...] = ()
    if _MODULE in {entry[:4] for entry in entries}:
        modules = tuple(name for name, entry in zip(names, entries, strict=True) if entry[:4] == _MODULE)
    return Tracked(dict(zip(names, entries, strict=True)), modules)
