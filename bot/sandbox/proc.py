"""Start a process that is not ours, bound it, and kill its whole tree."""

import asyncio
import contextlib
import os
import secrets
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.sandbox.children import hear_of_ends
from bot.sandbox.output import Excerpt

MARK = "SLUICE_PROCESS"  # every process of one run carries it, so that none can hide behind a new session
CHUNK_BYTES = 65536
LINE_BYTES = 65536
DRAIN_S = 2.0
WATCH_S = 0.2
ROUNDS = 50  # of killing: a fork bomb needs several


@dataclass(frozen=True, slots=True)
class Done:
    """How a process ended. `output` is stdout and stderr together, its middle cut out past `keep_bytes`."""

    exit_code: int | None
    output: str
    seconds: float
    timed_out: bool = False
    silent: bool = False
    cancelled: bool = False
    crowded: bool = False  # it started more processes than it may


async def run(
    *argv: str,
    cwd: Path,
    env: Mapping[str, str],
    limit_s: float,
    silence_s: float | None = None,
    stdin: bytes | None = None,
    keep_bytes: int = 200_000,
    log: Path | None = None,
    on_line: Callable[[str], None] | None = None,
    cancelled: asyncio.Event | None = None,
    processes: int | None = None,
    ours: bool = False,
) -> Done:
    """Run `argv` to its end, or until a limit or `cancelled` ends it; never leaves a child behind.

    `ours` runs nothing of a repository's, and all it starts stays in its group: once it ended by itself, nobody
    searches all processes for more, which costs as much again as to start git.
    """
    began = time.monotonic()
    mark = secrets.token_hex(8)
    hear_of_ends()
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env={**env, MARK: mark},
        stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    output = _Output(keep_bytes, log, on_line)
    reading = asyncio.create_task(output.read(process))
    feeding = asyncio.create_task(_feed(process, stdin))
    ends: dict[asyncio.Task[Any], str] = {asyncio.create_task(process.wait()): ""}
    if cancelled is not None:
        ends[asyncio.create_task(cancelled.wait())] = "cancelled"
    if processes is not None:
        ends[asyncio.create_task(crowded(mark, processes))] = "processes"
    cut = "interrupted"
    try:
        cut = await _wait(ends, output, limit_s=limit_s, silence_s=silence_s)
    finally:
        await _end_tree(process, mark, search=bool(cut) or not ours)
        feeding.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                await reading  # a killed tree closes its pipes
        output.close()
    return Done(
        exit_code=None if cut else process.returncode,
        output=output.kept.text(),
        seconds=time.monotonic() - began,
        timed_out=cut == "limit",
        silent=cut == "silence",
        cancelled=cut == "cancelled",
        crowded=cut == "processes",
    )


class _Output:
    """Takes what a process prints: bounded in memory, whole in the log, line by line to whoever listens."""

    def __init__(self, keep_bytes: int, log: Path | None, on_line: Callable[[str], None] | None) -> None:
        self.kept = Excerpt(keep_bytes)
        self.last_at = time.monotonic()
        self._log = log.open("wb") if log is not None else None
        self._on_line = on_line
        self._line = bytearray()

    async def read(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        while chunk := await process.stdout.read(CHUNK_BYTES):
            self.last_at = time.monotonic()
            self.kept.add(chunk)
            if self._log is not None:
                self._log.write(chunk)
            if self._on_line is not None:
                self._split(chunk, self._on_line)

    def _split(self, chunk: bytes, on_line: Callable[[str], None]) -> None:
        self._line += chunk
        *lines, rest = self._line.split(b"\n")
        for line in lines:
            on_line(line.decode("utf-8", "replace").rstrip("\r"))
        self._line = bytearray(rest[:LINE_BYTES])  # a line without an end must not fill the memory

    def close(self) -> None:
        if self._line and self._on_line is not None:
            self._on_line(self._line.decode("utf-8", "replace"))
        if self._log is not None:
            self._log.close()


async def _feed(process: asyncio.subprocess.Process, stdin: bytes | None) -> None:
    if stdin is None or process.stdin is None:
        return
    with contextlib.suppress(ConnectionError):
        process.stdin.write(stdin)
        await process.stdin.drain()
    process.stdin.close()


async def _wait(
    ends: Mapping[asyncio.Task[Any], str], output: _Output, *, limit_s: float, silence_s: float | None
) -> str:
    """Wait for the first of the ends; return its word, or which limit came before it ("limit", "silence")."""
    ends_at = time.monotonic() + limit_s
    try:
        while True:
            next_s = ends_at - time.monotonic()
            if silence_s is not None:
                next_s = min(next_s, output.last_at + silence_s - time.monotonic())
            done, _ = await asyncio.wait(ends, timeout=max(next_s, 0.0), return_when=asyncio.FIRST_COMPLETED)
            if done:
                return min(ends[task] for task in done)
            if time.monotonic() >= ends_at:
                return "limit"
            if silence_s is not None and time.monotonic() >= output.last_at + silence_s:
                return "silence"
    finally:
        for task in ends:
            task.cancel()


async def _end_tree(process: asyncio.subprocess.Process, mark: str, *, search: bool = True) -> None:
    """Kill all that the process started, those that left its group and session too, until none is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for _ in range(ROUNDS if search else 0):
        left = await asyncio.to_thread(_marked, mark)
        if not left:
            break
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.01)
    await process.wait()


async def crowded(mark: str, processes: int) -> None:
    """Return once more than so many processes carry the mark.

    The kernel's own limit of processes does not hold for root, whom a box's user is where root runs the service.
    """
    before = _scheduled()
    while True:
        await asyncio.sleep(WATCH_S)
        if _scheduled() - before > processes and len(await asyncio.to_thread(_marked, mark)) > processes:
            return


def _scheduled() -> int:
    """Return how many threads the machine has: cheap enough to ask often."""
    return int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[2])


def _marked(mark: str) -> list[int]:
    """Return the processes whose environment carries the mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if wanted in Path(entry.path, "environ").read_bytes():
                    found.append(int(entry.name))
    return found


@dataclass(frozen=True, slots=True)
class Started:
    """A process to talk to, and the mark that all it starts carries."""

    process: asyncio.subprocess.Process
    mark: str


async def start(*argv: str, cwd: Path, env: Mapping[str, str]) -> Started:
    """Start a process to talk to: stdin and stdout are pipes, stderr goes with stdout. End it with `end`."""
    mark = secrets.token_hex(8)
    hear_of_ends()
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env={**env, MARK: mark},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    return Started(process, mark)


async def end(started: Started) -> None:
    """Kill the whole tree of what `start` gave, and wait until it is gone."""
    await _end_tree(started.process, started.mark)
