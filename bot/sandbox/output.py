"""Keep the head and the tail of an output of any length, in bounded memory."""


class Excerpt:
    """Takes bytes, keeps the first and the last half of `limit_bytes`, and counts what lies between."""

    def __init__(self, limit_bytes: int) -> None:
        self._half = limit_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Take more of the output."""
        self.total += len(chunk)
        room = self._half - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk[-self._half :]
        if len(self._tail) > 2 * self._half:  # cut now and then, not with every chunk
            del self._tail[: -self._half]

    def text(self) -> str:
        """Return what was kept, with a line that says how much is missing."""
        tail = self._tail[-self._half :]
        missing = self.total - len(self._head) - len(tail)
        middle = f"\n[... {missing:,} bytes left out ...]\n".encode() if missing > 0 else b""
        return bytes(self._head + middle + tail).decode("utf-8", "replace")
