"""Run one step's process: its output live and whole on disk, its time bounded, and nothing of it left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from gate.orphans import FAMILY, MARK

CHUNK_BYTES = 65536
LINE_CHARS = 8192  # of one line that are shown live; the file has it whole
GRACE_S = 2.0  # between SIGTERM and SIGKILL
DRAIN_S = 2.0  # to read what is left in the pipe of a tree that is gone
ROUNDS = 100  # of killing: what forks while it dies needs several


class Ended(NamedTuple):
    """How a step's process ended."""

    exit_code: int | None
    seconds: float
    timed_out: bool = False
    stopped: bool = False
    error: str = ""  # it could not be started or ended, or its output could not be kept


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    limit_s: float,
    stop: threading.Event,
    on_lines: Callable[[Sequence[str]], None] | None = None,
) -> Ended:
    """Run a process to its end, the limit or `stop`; memory stays the same however much it prints."""
    began = time.monotonic()
    mark = f"{FAMILY.name}-{os.urandom(4).hex()}"
    try:
        with FAMILY.starting:
            process = subprocess.Popen(
                _found(argv), cwd=cwd, env={**env, MARK: mark}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            FAMILY.started(process.pid, mark)
    except OSError as error:
        return Ended(None, 0.0, error=f"{error.filename or cwd} could not be started: {error.strerror}")
    output = _Output(process, log, on_lines)
    end = _End(process)
    cut = end.wait(until=began + limit_s, stop=stop)
    seconds = time.monotonic() - began
    left = _end_tree(process, end, mark, gently=bool(cut))
    output.finish()
    return Ended(
        exit_code=None if cut else end.exit_code,
        seconds=seconds,
        timed_out=cut == "limit",
        stopped=cut == "stop",
        error=left or output.error or end.error,
    )


def start_apart(argv: Sequence[str], *, env: Mapping[str, str]) -> IO[bytes] | None:
    """Run a program that leaves something behind in a session of its own; return what leads to its input, if it ran."""
    try:
        process = subprocess.Popen(
            argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    except OSError:
        return None
    process.wait()
    return process.stdin


def _found(argv: Sequence[str]) -> list[str]:
    """Return argv; on Windows with the whole path, since its own search prefers another bash to the one on PATH."""
    if sys.platform == "win32":
        import shutil  # noqa: PLC0415 there only

        return [shutil.which(argv[0]) or argv[0], *argv[1:]]
    return list(argv)


class _Output:
    """Copies a pipe to a file, and line by line to whoever listens, in a thread."""

    def __init__(
        self, process: subprocess.Popen[bytes], log: Path, on_lines: Callable[[Sequence[str]], None] | None
    ) -> None:
        self.error = ""
        self._pipe = process.stdout
        self._log = log
        self._on_lines = on_lines
        self._line = b""
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._thread.join(DRAIN_S)
        if self._line and self._on_lines is not None:
            self._on_lines([self._line.decode("utf-8", "replace")])

    def _copy(self) -> None:
        if self._pipe is None:
            return
        try:
            with self._pipe, self._log.open("wb", buffering=0) as file:
                while chunk := os.read(self._pipe.fileno(), CHUNK_BYTES):
                    self._keep(file.write, chunk)
                    if self._on_lines is not None:
                        self._show(chunk, self._on_lines)
        except OSError as error:
            self.error = f"{self._log}: {error.strerror}"

    def _keep(self, write: Callable[[bytes], int | None], chunk: bytes) -> None:
        """Write to the file; a full disk is told, and must not stop the step by filling its pipe."""
        try:
            while chunk:
                chunk = chunk[write(chunk) or 0 :]
        except OSError as error:
            self.error = f"{self._log}: {error.strerror}"

    def _show(self, chunk: bytes, on_lines: Callable[[Sequence[str]], None]) -> None:
        """Show the lines that are whole, all at once: a call for each would slow a loud step a hundredfold."""
        whole, end, rest = chunk.rpartition(b"\n")
        if end:
            text = (self._line + whole).decode("utf-8", "replace")
            lines = text.split("\n")
            if "\r" in text or max(map(len, lines)) > LINE_CHARS:
                lines = [line[:LINE_CHARS].rstrip("\r") for line in lines]
            on_lines(lines)
            self._line = b""
        self._line = (self._line + rest)[:LINE_CHARS]


class _End:
    """Waits for a process in a thread, and wakes who waits for its end, the limit or a stop."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.exit_code: int | None = None
        self.error = ""
        self.gone = threading.Event()
        self._process = process
        threading.Thread(target=self._watch, daemon=True).start()

    def wait(self, *, until: float, stop: threading.Event) -> str:
        """Wait for the end; return what cut it short: "limit", "stop", or nothing."""
        while not self.gone.is_set():
            if stop.is_set():
                return "stop"
            left_s = until - time.monotonic()
            if left_s <= 0:
                return "limit"
            self.gone.wait(min(left_s, 0.1))
        return ""

    def _watch(self) -> None:
        """Wait without `Popen.wait`, which takes an end that somebody else saw for success."""
        if sys.platform == "win32":
            self.exit_code = self._process.wait()
        else:
            try:
                self.exit_code = os.waitstatus_to_exitcode(os.waitpid(self._process.pid, 0)[1])
            except ChildProcessError:
                self.error = "how it ended is not known: something else waited for it"
            self._process.returncode = self.exit_code or 0  # so that nothing waits for it again
        FAMILY.reaped(self._process.pid)
        self.gone.set()


def _end_tree(process: subprocess.Popen[bytes], end: _End, mark: str, *, gently: bool) -> str:
    """Kill all that the process started, those that left its group too; return what could not be ended.

    On Linux nothing escapes: orphans come to us, where the command line asked for that; elsewhere those that carry the
    mark are found. Other systems know the process group only (macOS) or the tree below a process that lives (Windows).
    """
    if sys.platform == "win32":
        if not end.gone.is_set():
            tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            subprocess.run(tree, capture_output=True, check=False)
        end.gone.wait()
        return ""
    if gently:
        _signal_group(process.pid, signal.SIGTERM)
        end.gone.wait(GRACE_S)
    _signal_group(process.pid, signal.SIGKILL)
    end.gone.wait()
    left = FAMILY.end(mark) if FAMILY.adopts else _end_marked(mark)
    return f"processes that it left cannot be ended: {', '.join(map(str, left))}" if left else ""


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _end_marked(mark: str) -> list[int]:
    found: list[int] = []
    for _ in range(ROUNDS):
        found = _marked(mark)
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return found


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
