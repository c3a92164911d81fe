"""What every agent takes and gives back, whoever writes the change."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from bot.sandbox.box import Box


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


class Ending(StrEnum):
    """Why the agent stopped."""

    FINISHED = "finished"
    TURN_LIMIT = "turn_limit"
    TIMED_OUT = "timed_out"
    OVER_BUDGET = "over_budget"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    FAILED = "failed"  # the model's server or the program failed; see `reason`


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
    ) -> AgentResult:
        """Work on the task until it is done or a limit ends it; never raises for the model's or the program's fault."""
        ...
