"""Start a process that is not ours, bound it, and kill its whole tree."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Done:
    """How a process ended. `output` is stdout and stderr together, its middle cut out past `keep_bytes`."""

    exit_code: int | None
    output: str
    seconds: float
    timed_out: bool = False
    silent: bool = False
    cancelled: bool = False


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
) -> Done:
    """Run `argv` to its end, or until a limit or `cancelled` ends it; never leaves a child behind."""
    raise NotImplementedError


async def start(*argv: str, cwd: Path, env: Mapping[str, str]) -> asyncio.subprocess.Process:
    """Start a process to talk to: stdin and stdout are pipes, stderr goes with stdout. End it with `end`."""
    return await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env=dict(env),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )


async def end(process: asyncio.subprocess.Process) -> None:
    """Kill the whole tree of a process that `start` gave, and wait until it is gone."""
    tree = [process.pid]
    with contextlib.suppress(psutil.NoSuchProcess):
        tree += [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
    for pid in tree:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
