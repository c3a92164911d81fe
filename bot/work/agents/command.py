"""Any program as the agent: it gets the task, works in the box, and what it prints is read.

The command's words may hold `{prompt_file}` (a file with the task; without it the task comes on stdin), `{model}` and
`{turns}`. `claude` alone stands for the full call of Claude Code. The program reaches the model through a proxy that
adds the key: ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY lead there, and the latter is worth nothing outside of this run.
"""

import asyncio
import contextlib
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

from bot.errors import ConfigError
from bot.sandbox import box as boxes
from bot.sandbox import proc
from bot.sandbox.box import Box
from bot.sandbox.proc import Done
from bot.work.agents.agent import AgentResult, AgentSettings, Ending, Gate, Limits, Task, Usage
from bot.work.agents.door import Door, open_door
from bot.work.agents.keyproxy import KeyProxy
from bot.work.agents.prices import CODE_MODEL
from bot.work.agents.reading import Reading
from bot.work.agents.shell import environment
from bot.work.agents.transcript import Transcript
from bot.work.prompts.change import render_request, render_system

_CLAUDE = (
    "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions",
    "--max-turns", "{turns}", "--model", "{model}",
)  # fmt: skip
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",  # Claude Code refuses to skip its questions as root otherwise
}


class CommandAgent:
    """Runs a program of the operator's choice."""

    def __init__(self, settings: AgentSettings) -> None:
        if not settings.command:
            raise ConfigError("agent: command: expected a program and its arguments, got nothing")
        self._settings = settings

    async def run(
        self,
        task: Task,
        *,
        box: Box,
        limits: Limits,
        transcript: Path,
        cancelled: asyncio.Event,
        on_line: Callable[[str], None],
        gate: Gate | None = None,  # noqa: ARG002 a program has no tool of ours
        env: Mapping[str, str] | None = None,
    ) -> AgentResult:
        """Work on the task until the program ends or a limit ends it."""
        settings = self._settings
        stop = _Stop(cancelled, silence_s=max(settings.silence_s, limits.command_s))
        proxy = KeyProxy(
            settings.model_url or "https://api.anthropic.com", settings.api_key or "none", limits,
            on_traffic=stop.alive,
            on_over=stop.end, counts_turns=not any("{turns}" in word for word in _words(settings.command)),
            on_reminded=lambda what: stop.call(on_line, f"80 % of the {what} used; told the agent to finish"),
            on_refused=lambda why: stop.end(Ending.FAILED, why),
        )  # fmt: skip
        with Transcript(transcript, redact=settings.redact) as record, open_door(proxy, box) as door, stop:
            record.write(
                "start", agent="command", command=list(settings.command), repository=task.repository, issue=task.issue,
                title=task.title, feedback=bool(task.feedback), request=render_request(task),
            )  # fmt: skip
            reading = Reading(record, on_line, on_sign=stop.alive)
            access = {"ANTHROPIC_BASE_URL": door.url, "ANTHROPIC_API_KEY": proxy.token}
            try:
                done = await self._program(
                    task, box, door, limits=limits, reading=reading, stop=stop.event,
                    env={**environment(box, env), **_QUIET, **access},
                )  # fmt: skip
                result = _result(done, reading, stop, limits)
            except FileNotFoundError:
                result = AgentResult(Ending.FAILED, reason=f"there is no program {settings.command[0]!r}")
            result = replace(result, usage=_usage(reading, proxy), model=reading.model or settings.model)
            record.write("end", ending=result.ending, reason=result.reason, usage=asdict(result.usage))
        return result

    async def _program(
        self,
        task: Task,
        box: Box,
        door: Door,
        *,
        limits: Limits,
        reading: Reading,
        stop: asyncio.Event,
        env: Mapping[str, str],
    ) -> Done:
        words = _words(self._settings.command)
        prompt = f"{render_system(task, workdir=str(box.workdir), network=box.network)}\n\n{render_request(task)}"
        file = _write_anew(box.home / "task.md", prompt + "\n")
        given = {"prompt_file": str(file), "model": self._settings.model or CODE_MODEL, "turns": str(limits.turns)}
        argv = [_fill(word, given) for word in words]
        found = shutil.which(argv[0], path=env["PATH"])
        if found is None:
            raise FileNotFoundError(argv[0])
        box = replace(box, readable=(*box.readable, *door.readable, *_homes(Path(found))))
        argv, env = boxes.wrap(box, door.through([found, *argv[1:]]), env=env)
        from_file = any("{prompt_file}" in word for word in words)
        return await proc.run(
            *argv, cwd=box.workdir, env=env, limit_s=limits.wall_s, keep_bytes=20_000, cancelled=stop,
            processes=box.processes,
            stdin=None if from_file else prompt.encode("utf-8", "replace"), on_line=reading.feed,
        )  # fmt: skip


def _words(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a command; `claude` alone stands for the full call."""
    return (*command, *_CLAUDE) if len(command) == 1 and Path(command[0]).name == "claude" else command


class _Stop:
    """Ends the program when the ticket is cancelled, its budget is used up, or nothing is heard of it."""

    def __init__(self, cancelled: asyncio.Event, *, silence_s: float) -> None:
        self.event = asyncio.Event()
        self.ending = Ending.CANCELLED
        self.reason = "cancelled"
        self._cancelled = cancelled
        self._silence_s = silence_s
        self._heard = time.monotonic()
        self._loop = asyncio.get_running_loop()

    def alive(self) -> None:
        """Note a sign of life; from any thread."""
        self._heard = time.monotonic()

    def end(self, ending: Ending, reason: str) -> None:
        """End the program; from any thread."""
        self._loop.call_soon_threadsafe(self._end, ending, reason)

    def call(self, function: Callable[[str], None], said: str) -> None:
        """Call a function of the loop's; from any thread."""
        self._loop.call_soon_threadsafe(function, said)

    def _end(self, ending: Ending, reason: str) -> None:
        if not self.event.is_set():
            self.ending, self.reason = ending, reason
            self.event.set()

    async def _watch(self) -> None:
        while True:
            left = self._silence_s - (time.monotonic() - self._heard)
            if left <= 0:
                return self._end(Ending.TIMED_OUT, f"nothing was heard of the program for {self._silence_s:g} s")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._cancelled.wait()
                return self._end(Ending.CANCELLED, "cancelled")

    def __enter__(self) -> "_Stop":
        self._watching = asyncio.ensure_future(self._watch())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watching.cancel()


def _write_anew(path: Path, text: str) -> Path:
    path.unlink(missing_ok=True)  # an earlier program may have left a link there
    with path.open("x", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path


def _fill(word: str, given: Mapping[str, str]) -> str:
    for name, value in given.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _homes(program: Path) -> tuple[Path, ...]:
    """Return the folders that a program needs to see: its own, and of a Node program the outermost node_modules."""
    folders = []
    for path in (program, program.resolve()):
        inside = [parent for parent in path.parents if parent.name == "node_modules"]
        folders.append(inside[-1] if inside else path.parent)
    return tuple(dict.fromkeys(folders))


def _result(done: Done, reading: Reading, stop: _Stop, limits: Limits) -> AgentResult:
    said = reading.said
    if done.cancelled:
        return AgentResult(stop.ending, reason=stop.reason, message=said)
    if done.timed_out:
        return AgentResult(Ending.TIMED_OUT, reason=f"not finished after {limits.wall_s:g} s", message=said)
    if done.crowded:
        return AgentResult(Ending.FAILED, reason="it started too many processes", message=said)
    if reading.ending not in (None, Ending.FINISHED):
        return AgentResult(reading.ending, reason=reading.reason, message=said)
    if done.exit_code:
        return AgentResult(Ending.FAILED, reason=f"exit code {done.exit_code}: {_last_line(done)}", message=said)
    return AgentResult(Ending.FINISHED, message=said)


def _last_line(done: Done) -> str:
    lines = [line for line in done.output.splitlines() if line.strip()]
    return lines[-1].strip()[:500] if lines else "it said nothing"


def _usage(reading: Reading, proxy: KeyProxy) -> Usage:
    """Return what the program told of its use; the proxy's count where it told nothing."""
    told = reading.usage
    if told is None or not told.tokens():
        return replace(proxy.usage, turns=reading.turns or proxy.usage.turns)
    return told if told.dollars is not None else replace(told, dollars=proxy.usage.dollars)
