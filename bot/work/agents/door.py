"""The way from a program in the box to the proxy that knows the key."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.sandbox import bridge
from bot.sandbox.box import Box
from bot.serving import serve_in_thread, serve_on_socket
from bot.work.agents.keyproxy import KeyProxy

_PORT = 8787  # inside a box, whose loopback is its own, nobody else listens


@dataclass(frozen=True, slots=True)
class Door:
    """Where the program finds the proxy, and what its box needs for that."""

    url: str
    readable: tuple[Path, ...] = ()
    ports: Mapping[int, Path] = field(default_factory=dict)

    def through(self, argv: Sequence[str]) -> list[str]:
        """Return the argv that runs `argv` with the way open."""
        return bridge.through(argv, ports=self.ports) if self.ports else list(argv)


@contextmanager
def open_door(proxy: KeyProxy, box: Box) -> Iterator[Door]:
    """Serve the proxy where the box can reach it: on loopback, or in a box on a socket in the file system."""
    if box.mode == "off":
        with serve_in_thread(proxy.app()) as served:
            yield Door(served.url)
        return
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        path = Path(folder, "model")
        with serve_on_socket(proxy.app(), path):
            yield Door(f"http://127.0.0.1:{_PORT}", (Path(folder), *bridge.needs()), {_PORT: path})
