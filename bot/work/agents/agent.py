"""What every agent takes and gives back, whoever writes the change."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from bot.sandbox.box import Box

Gate = Callable[[], Awaitable[str]]  # runs the gate now and says what it found


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of the agent. `title` and `body` are a stranger's words, already stripped of what is invisible."""

    repository: str
    issue: int
    title: str
    body: str
    claim: tuple[str, ...] = ()
    conventions: str = ""  # AGENTS.md or CLAUDE.md of the base commit
    memory: str = ""
    gate: str = ""  # how the gate will judge: the steps, one a line
    feedback: str = ""  # what the gate, a reviewer or a merge said of the last attempt
    resumed: bool = False  # the worktree holds an earlier attempt, not the base


@dataclass(frozen=True, slots=True)
class Limits:
    """When the agent is stopped; None is no limit."""

    turns: int = 50
    wall_s: float = 1800.0
    command_s: float = 300.0
    tokens: int | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run cost; dollars is None where the model's price is not known."""

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    dollars: float | None = 0.0
    model_s: float = 0.0
    tools_s: float = 0.0

    def tokens(self) -> int:
        """Return all tokens, cached ones too."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


class Ending(StrEnum):
    """Why the agent stopped."""

    FINISHED = "finished"
    TURN_LIMIT = "turn_limit"
    TIMED_OUT = "timed_out"
    OVER_BUDGET = "over_budget"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    FAILED = "failed"  # the model's server or the program failed; see `reason`


REMIND_AT = 0.8  # of a limit, from where on the agent is told to finish


def shares(limits: Limits, spent: Usage, *, seconds: float) -> dict[str, float]:
    """Return how much of each limit is used, 1.0 is all of it; dollars only where they are known."""
    found = {"turns": spent.turns / limits.turns, "time": seconds / limits.wall_s}
    if limits.tokens:
        found["tokens"] = spent.tokens() / limits.tokens
    if limits.dollars and spent.dollars is not None:
        found["dollars"] = spent.dollars / limits.dollars
    return found


def render_over(limits: Limits, used: dict[str, float]) -> tuple[Ending, str] | None:
    """Return how a run ends whose limit is used up, and why; None where all have some left. Time ends by itself."""
    if used.get("dollars", 0.0) >= 1.0:
        return Ending.OVER_BUDGET, f"the budget of ${limits.dollars:.2f} is used up"
    if used.get("tokens", 0.0) >= 1.0:
        return Ending.OVER_BUDGET, f"the budget of {limits.tokens:,} tokens is used up"
    if used["turns"] >= 1.0:
        return Ending.TURN_LIMIT, f"not finished after {limits.turns} turns"
    return None


@dataclass(frozen=True, slots=True)
class AgentResult:
    """How a run ended; the change itself is in the worktree."""

    ending: Ending
    reason: str = ""
    message: str = ""  # the agent's closing words
    model: str = ""
    usage: Usage = field(default_factory=Usage)


class Agent(Protocol):
    """Writes a change into `box.workdir`; has no credentials."""

    async def run(
        self,
        task: Task,
        *,
        box: Box,
        limits: Limits,
        transcript: Path,
        cancelled: asyncio.Event,
        on_line: Callable[[str], None],
        gate: Gate | None = None,
        env: Mapping[str, str] | None = None,
    ) -> AgentResult:
        """Work on the task until it is done or a limit ends it; never raises for the model's or the program's fault."""
        ...


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What an agent needs; the key never reaches a child."""

    model: str = ""  # empty: the agent's default
    model_url: str = ""  # empty: Anthropic's
    api_key: str = field(default="", repr=False)
    command: tuple[str, ...] = ()  # of the command agent, see command.py
    session: Path | None = None  # of the replay agent
    retries: int = 8  # of a request that the model's server could not answer, some 40 s
    pause_s: float = 2.0  # before a broken stream is asked for again
    silence_s: float = 300.0  # without a byte from the model's server
    redact: Callable[[Any], Any] = lambda fields: fields  # strikes secrets out of what the transcript keeps


async def bounded(
    work: Coroutine[Any, Any, AgentResult], *, limit_s: float, cancelled: asyncio.Event
) -> AgentResult | Ending:
    """Return the work's result, or which of the two ended it first; the work is over when this returns."""
    running = asyncio.ensure_future(work)
    stop = asyncio.ensure_future(cancelled.wait())
    try:
        await asyncio.wait({running, stop}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        return Ending.CANCELLED if stop.done() else Ending.TIMED_OUT
    finally:
        running.cancel()
        stop.cancel()
        await asyncio.gather(running, stop, return_exceptions=True)
