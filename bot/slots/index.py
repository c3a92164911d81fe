"""Read git's index in process: starting git for it costs more than a small slot's whole way from lease to ready.

https://git-scm.com/docs/index-format
"""

import struct
import sys
from pathlib import Path

_HEAD = struct.Struct(">4sLL")
_ENTRY = struct.Struct(">24xL12x20sH")  # mode, id, flags; times, device, owner and size are git's own business
_EXTENSION = struct.Struct(">4sL")
_FIXED, _ID = _ENTRY.size, 20
_NOT_PLAIN = 0xF000  # assume-valid, extended, and the stage of a conflict


def read_index(path: Path) -> dict[str, str] | None:
    """Return path -> "mode blob stage" of an index that only lists files; None where only git can say what it means.

    That is: another version than 2, an entry with a flag or in conflict, a split or sparse index, a damaged file.
    """
    try:
        return _read(path.read_bytes())
    except (OSError, struct.error, ValueError):
        return None


def _read(data: bytes) -> dict[str, str] | None:
    signature, version, count = _HEAD.unpack_from(data)
    if signature != b"DIRC" or version != 2:
        return None
    found: dict[str, str] = {}
    modes: dict[int, str] = {}
    at, unpack, end = _HEAD.size, _ENTRY.unpack_from, len(data) - _ID
    encoding = sys.getfilesystemencoding()
    for _ in range(count):
        mode, blob, flags = unpack(data, at)
        if flags & _NOT_PLAIN:
            return None
        name = at + _FIXED
        stop = data.index(b"\0", name)
        word = modes.get(mode) or modes.setdefault(mode, f"{mode:o}")
        found[data[name:stop].decode(encoding, "surrogateescape")] = f"{word} {blob.hex()} 0"
        at += (stop - at + 8) & ~7  # each entry ends with one to eight zero bytes
    while at < end:
        extension, size = _EXTENSION.unpack_from(data, at)
        if not extension[:1].isupper():  # one that must be understood
            return None
        at += _EXTENSION.size + size
    return found if at == end and len(found) == count else None
