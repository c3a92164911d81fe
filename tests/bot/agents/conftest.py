"""One run of an agent on a small worktree, against a scripted model."""

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.box import Box
from bot.work.agents.agent import AgentResult, AgentSettings, Gate, Limits, Task
from bot.work.agents.open import open_agent
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import read_session

TASK = Task("acme/shop", 7, "Discount counts too late", "A cart of exactly 100 should get it.")


@dataclass
class Work:
    """A worktree, and what an agent did in it."""

    box: Box
    transcript: Path
    lines: list[str] = field(default_factory=list)
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel([]))

    async def run(
        self,
        *turns: dict[str, Any],
        task: Task = TASK,
        settings: AgentSettings | None = None,
        limits: Limits | None = None,
        gate: Gate | None = None,
        cancelled: asyncio.Event | None = None,
        unknown: tuple[str, ...] = (),
    ) -> AgentResult:
        """Let the agent run against a model that says these turns."""
        self.model = ScriptedModel([read_session("test", turns)], unknown=unknown)
        settings = settings or AgentSettings(retries=1, pause_s=0.01)
        with self.model.serve() as served:
            agent = open_agent(
                "command" if settings.command else "anthropic",
                replace(settings, model_url=settings.model_url or served.url),
            )
            return await agent.run(
                task, box=self.box, limits=limits or Limits(), transcript=self.transcript,
                cancelled=cancelled or asyncio.Event(), on_line=self.lines.append, gate=gate,
            )  # fmt: skip

    def answers(self, turn: int) -> list[str]:
        """Return what the model was told after its turn of this number, counted from 1."""
        return [_said(block) for block in self.model.requests[turn]["messages"][2 * turn]["content"]]


def _said(block: dict[str, Any]) -> str:
    return str(block.get("text") or block.get("content"))


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """Return a worktree with one file, unboxed."""
    for name in ("tree", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "tree/cart.py").write_text("def discount(total):\n    return total > 100\n")
    return Work(Box("off", tmp_path / "tree", tmp_path / "home"), tmp_path / "run.jsonl")
