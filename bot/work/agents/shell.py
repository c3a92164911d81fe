"""A bash in the box that stays: folder and variables live on from one command to the next."""

import asyncio
import secrets
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from bot.sandbox import box as boxes
from bot.sandbox import proc
from bot.sandbox.box import Box
from bot.sandbox.output import Excerpt
from bot.sandbox.proc import Started

_CHUNK_BYTES = 65536
# Commands come NUL-ended on stdin, each after the mark that ends its output; they read /dev/null themselves
_LOOP = r"""
while IFS= read -r -d '' _mark && IFS= read -r -d '' _command; do
  eval "$_command" </dev/null
  printf '\n%s %d\n' "$_mark" "$?"
done
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """How one command ended. `exit_code` is None when it was stopped, or took the shell with it."""

    output: str
    exit_code: int | None
    timed_out: bool = False
    crowded: bool = False  # it started more processes than it may


class Shell:
    """Starts with its first command, and anew after one that hung or ended it."""

    def __init__(self, box: Box, *, env: Mapping[str, str], keep_bytes: int = 30_000) -> None:
        self._box = box
        self._env = env
        self._keep_bytes = keep_bytes
        self._started: Started | None = None

    async def run(self, command: str, *, limit_s: float) -> Ran:
        """Run one command to its end or the limit."""
        process = await self._running()
        mark = secrets.token_hex(16)
        try:
            async with asyncio.timeout(limit_s):
                return await self._watched(self._exchange(process, command, mark))
        except TimeoutError:
            await self.close()
            self._kept.add(self._rest)
            return Ran(self._kept.text(), None, timed_out=True)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the shell and all that it started."""
        started, self._started = self._started, None
        if started is not None:
            await proc.end(started)

    async def _running(self) -> asyncio.subprocess.Process:
        if self._started is None or self._started.process.returncode is not None:
            await self.close()
            argv, env = boxes.wrap(self._box, ["bash", "--noprofile", "--norc", "-c", _LOOP, "bash"], env=self._env)
            self._started = await proc.start(*argv, cwd=self._box.workdir, env=env)
        return self._started.process

    async def _watched(self, exchange: Coroutine[Any, Any, Ran]) -> Ran:
        """Return the exchange's end, or that the box is crowded."""
        if self._started is None or self._box.processes is None:
            return await exchange
        ran = asyncio.create_task(exchange)
        crowd = asyncio.create_task(proc.crowded(self._started.mark, self._box.processes))
        try:
            await asyncio.wait({ran, crowd}, return_when=asyncio.FIRST_COMPLETED)
            if ran.done():
                return ran.result()
            await self.close()
            return Ran(self._kept.text(), None, crowded=True)
        finally:
            for task in (ran, crowd):
                task.cancel()
            await asyncio.gather(ran, crowd, return_exceptions=True)

    async def _exchange(self, process: asyncio.subprocess.Process, command: str, mark: str) -> Ran:
        assert process.stdin is not None  # noqa: S101 started with pipes
        self._kept, self._rest = Excerpt(self._keep_bytes), b""
        try:
            process.stdin.write(mark.encode() + b"\0" + command.encode("utf-8", "replace") + b"\0")
            await process.stdin.drain()
        except ConnectionError:
            pass  # it ended since the last command: reading tells
        ended = await self._read_to(process, f"\n{mark} ".encode())
        if ended is None:
            await self.close()
            return Ran(self._kept.text(), None)
        return Ran(self._kept.text(), ended)

    async def _read_to(self, process: asyncio.subprocess.Process, mark: bytes) -> int | None:
        """Collect output up to the mark and return the exit code behind it; None if the shell ended."""
        assert process.stdout is not None  # noqa: S101 started with pipes
        while chunk := await process.stdout.read(_CHUNK_BYTES):
            self._rest += chunk
            at = self._rest.find(mark)
            if at >= 0 and (end := self._rest.find(b"\n", at + len(mark))) >= 0:
                self._kept.add(self._rest[:at])
                return int(self._rest[at + len(mark) : end])
            if at < 0 and len(self._rest) > len(mark):
                self._kept.add(self._rest[: -len(mark)])
                self._rest = self._rest[-len(mark) :]
        self._kept.add(self._rest)
        return None


def environment(box: Box, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the least that commands need; nothing of the service's own environment is in it."""
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(box.home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "GIT_TERMINAL_PROMPT": "0",
        "PAGER": "cat",
        **(extra or {}),
    }
