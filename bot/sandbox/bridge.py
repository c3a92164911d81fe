"""Let a box without network reach a server of ours: a loopback port inside leads to a Unix socket outside.

This file is also the program that runs inside, by its path and with nothing of ours importable:
`python -I bridge.py PORT=SOCKET ... -- COMMAND ...`
"""

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

_CHUNK_BYTES = 65536


def through(argv: Sequence[str], *, ports: Mapping[int, Path]) -> list[str]:
    """Return the argv that runs `argv` with each port of loopback leading to a socket."""
    leads = [f"{port}={path}" for port, path in ports.items()]
    return [str(Path(sys.executable).resolve()), "-I", "-S", str(Path(__file__).resolve()), *leads, "--", *argv]


def needs() -> tuple[Path, ...]:
    """Return what a box must let be read for it: this file and the interpreter."""
    return (Path(__file__).resolve(), Path(sys.executable).resolve().parent.parent)


def main(words: Sequence[str]) -> int:
    """Open the ports, run the command, and end as it ends."""
    at = words.index("--")
    for lead in words[:at]:
        port, _, path = lead.partition("=")
        listener = socket.create_server(("127.0.0.1", int(port)))
        threading.Thread(target=_accept, args=(listener, path), daemon=True).start()
    child = os.posix_spawnp(words[at + 1], list(words[at + 1 :]), os.environ)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: os.kill(child, received))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        inside, _ = listener.accept()
        outside = socket.socket(socket.AF_UNIX)
        try:
            outside.connect(path)
        except OSError:
            inside.close()
            continue
        inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, sink in ((inside, outside), (outside, inside)):
            threading.Thread(target=_copy, args=(source, sink), daemon=True).start()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(_CHUNK_BYTES):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
