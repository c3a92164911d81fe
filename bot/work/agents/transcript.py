"""What was said and done in a run, as JSON lines: start, user and assistant in turn, end. Replayable as a session."""

import json
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

Record = Mapping[str, Any]


class Transcript:
    """Writes records as they happen; compressed when the path ends in `.gz`. What was written survives a crash."""

    def __init__(self, path: Path, *, redact: Callable[[Any], Any] = lambda fields: fields) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        self._zip = zlib.compressobj(wbits=31) if path.suffix == ".gz" else None
        self._redact = redact

    def clean(self, value: Any) -> Any:
        """Return data without secrets, to be shown elsewhere; before it is cut, or a part of one would stay."""
        return self._redact(value)

    def write(self, kind: str, **fields: Any) -> None:
        """Add one record."""
        record = {"type": kind, "at": round(time.time(), 3), **self._redact(fields)}
        raw = json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        self._file.write(self._zip.compress(raw) + self._zip.flush(zlib.Z_SYNC_FLUSH) if self._zip else raw)
        self._file.flush()

    def close(self) -> None:
        """Finish the file."""
        if self._zip and not self._file.closed:
            self._file.write(self._zip.flush())
        self._file.close()

    def __enter__(self) -> "Transcript":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_records(path: Path) -> Iterator[Record]:
    """Return the records of a transcript, as far as they were written; raises ValueError for what is no transcript."""
    *lines, last = _read_text(path).split("\n")
    for number, line in enumerate([*lines, last], 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            if number > len(lines):
                return  # its writer was stopped in the middle of it
            raise ValueError(f"{path.name}: line {number}: expected JSON, got {line[:80]!r}") from error
        if not isinstance(record, dict):
            raise ValueError(f"{path.name}: line {number}: expected an object, got {line[:80]!r}")
        yield record


def _read_text(path: Path) -> str:
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = zlib.decompressobj(wbits=31).decompress(raw)  # also of a file that was never finished
    return raw.decode("utf-8", "replace")
