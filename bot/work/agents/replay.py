"""A recorded session as the agent: the real loop and the real tools, against a scripted model on loopback."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bot.errors import ConfigError
from bot.sandbox.box import Box
from bot.work.agents.agent import AgentResult, AgentSettings, Ending, Gate, Limits, Task
from bot.work.agents.anthropic_sdk import AnthropicAgent
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions


class ReplayAgent:
    """Says what a transcript, or a folder of them, says; for any issue that they fit."""

    def __init__(self, settings: AgentSettings) -> None:
        if settings.session is None or not settings.session.exists():
            raise ConfigError(f"agent: session: expected a transcript or a folder of them, got {settings.session}")
        self._sessions = load_sessions(settings.session)
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
        gate: Gate | None = None,
        env: Mapping[str, str] | None = None,
    ) -> AgentResult:
        """Replay the session that fits the task."""
        model = ScriptedModel(self._sessions)
        with model.serve() as served:
            agent = AnthropicAgent(replace(self._settings, model_url=served.url, api_key="replay"))
            result = await agent.run(
                task, box=box, limits=limits, transcript=transcript, cancelled=cancelled, on_line=on_line,
                gate=gate, env=env,
            )  # fmt: skip
        if model.unmatched:
            return replace(result, ending=Ending.FAILED, reason="no recorded session fits this issue")
        return result
