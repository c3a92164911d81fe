"""Start a process that is not ours, bound it, and kill its whole tree."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


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
