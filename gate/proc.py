"""Run one step's process: its output live and whole on disk, its time bounded, and nothing of it left behind."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "GATE_STEP"  # every process of a step carries it, so that none can hide behind a new session
CHUNK_BYTES = 65536
LINE_BYTES = 8192  # of one line that are shown live; the file has it whole
GRACE_S = 2.0  # between SIGTERM and SIGKILL
DRAIN_S = 2.0  # to read what is left in the pipe of a tree that is gone
ROUNDS = 100  # of killing: what forks while it dies needs several


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step's process ended; `left` says that it left children, which were killed."""

    exit_code: int | None
    seconds: float
    timed_out: bool = False
    stopped: bool = False
    left: bool = False
    error: str = ""  # it could not be started, or its output could not be kept


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    limit_s: float,
    stop: threading.Event,
    on_line: Callable[[str], None] | None = None,
) -> Ended:
    """Run a process to its end, the limit or `stop`; memory stays the same however much it prints."""
    began = time.monotonic()
    mark = os.urandom(8).hex()
    try:
        process = subprocess.Popen(
            argv, cwd=cwd, env={**env, MARK: mark}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return Ended(None, 0.0, error=f"{argv[0]}: {error.strerror}: {error.filename or cwd}")
    output = _Output(process, log, on_line)
    cut = _wait(process, ends_at=began + limit_s, stop=stop)
    seconds = time.monotonic() - began
    left = _end_tree(process, mark, gently=bool(cut))
    output.finish()
    return Ended(
        exit_code=None if cut else process.returncode,
        seconds=seconds,
        timed_out=cut == "limit",
        stopped=cut == "stop",
        left=left and not cut,
        error=output.error,
    )


class _Output:
    """Copies a pipe to a file, and line by line to whoever listens, in a thread."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, on_line: Callable[[str], None] | None) -> None:
        self.error = ""
        self._pipe = process.stdout
        self._log = log
        self._on_line = on_line
        self._line = b""
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._thread.join(DRAIN_S)
        if self._line and self._on_line is not None:
            self._on_line(self._line.decode("utf-8", "replace"))

    def _copy(self) -> None:
        if self._pipe is None:
            return
        try:
            with self._pipe, self._log.open("wb", buffering=0) as file:
                while chunk := os.read(self._pipe.fileno(), CHUNK_BYTES):
                    self._keep(file.write, chunk)
                    if self._on_line is not None:
                        self._show(chunk, self._on_line)
        except OSError as error:
            self.error = f"{self._log}: {error.strerror}"

    def _keep(self, write: Callable[[bytes], int | None], chunk: bytes) -> None:
        """Write to the file; a full disk is told, and must not stop the step by filling its pipe."""
        try:
            write(chunk)
        except OSError as error:
            self.error = f"{self._log}: {error.strerror}"

    def _show(self, chunk: bytes, on_line: Callable[[str], None]) -> None:
        *lines, self._line = (self._line + chunk).split(b"\n")
        for line in lines:
            on_line(line[:LINE_BYTES].decode("utf-8", "replace").rstrip("\r"))
        self._line = self._line[:LINE_BYTES]


def _wait(process: subprocess.Popen[bytes], *, ends_at: float, stop: threading.Event) -> str:
    """Wait for the end; return what cut it short: "limit", "stop", or nothing."""
    ended = threading.Event()

    def watch() -> None:
        process.wait()
        ended.set()
        stop_or_end.set()

    stop_or_end = threading.Event()
    threading.Thread(target=watch, daemon=True).start()
    while not ended.is_set():
        if stop.is_set():
            return "stop"
        left_s = ends_at - time.monotonic()
        if left_s <= 0:
            return "limit"
        stop_or_end.wait(min(left_s, 0.1))
    return ""


def _end_tree(process: subprocess.Popen[bytes], mark: str, *, gently: bool) -> bool:
    """Kill all that the process started, those that left its group too; return whether any was left."""
    if gently:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    left = False
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
        left = True
    for _ in range(ROUNDS):
        found = _marked(mark)
        if not found:
            break
        left = True
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    process.wait()
    return left


def _marked(mark: str) -> list[int]:
    """Return the processes whose environment carries the mark; on a system without /proc the group has to do."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    with contextlib.suppress(FileNotFoundError), os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdecimal():
                with contextlib.suppress(OSError), open(f"{entry.path}/environ", "rb") as file:  # noqa: PTH123 hot
                    if wanted in file.read():
                        found.append(int(entry.name))
    return found
