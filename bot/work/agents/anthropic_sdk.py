"""Our own agent: the model asks for tools, they run in the box, it sees the answers, until it is done."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.sandbox.box import Box
from bot.work.agents.agent import (
    REMIND_AT,
    AgentResult,
    AgentSettings,
    Ending,
    Gate,
    Limits,
    Task,
    Usage,
    bounded,
    render_over,
    shares,
)  # fmt: skip
from bot.work.agents.messages import Messages, ModelError
from bot.work.agents.prices import CODE_MODEL, cost
from bot.work.agents.shell import environment
from bot.work.agents.stream import MALFORMED, Reply, whole_characters
from bot.work.agents.tools import Answer, Tools, render_call
from bot.work.agents.transcript import Transcript
from bot.work.prompts.change import render_reminder, render_request, render_system

_MAX_TOKENS = 32_000  # of one answer
_CALLS = 50  # of one answer that are run
_CUTS = 3  # answers in a row that ended at the token limit


def warm() -> None:
    """Pay once, ahead of the first ticket, what the SDK's first client costs."""
    Messages(AgentSettings())


class AnthropicAgent:
    """Works through any server that speaks the Messages API."""

    def __init__(self, settings: AgentSettings) -> None:
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
        """Work on the task until it is done or a limit ends it."""
        tools = Tools(box, limits=limits, gate=gate, env=environment(box, env))
        messages = Messages(self._settings)
        with Transcript(transcript, redact=self._settings.redact) as record:
            talk = _Talk(messages, self._settings.model or CODE_MODEL, tools, limits, record, on_line, box.workdir)
            system = render_system(task, workdir=str(box.workdir), network=box.network, has_gate=gate is not None)
            try:
                ended = await bounded(talk.run(task, system), limit_s=limits.wall_s, cancelled=cancelled)
            finally:
                await tools.close()
                await messages.close()
            if isinstance(ended, Ending):
                late = f"not finished after {limits.wall_s:g} s"
                ended = talk.result(ended, late if ended is Ending.TIMED_OUT else "cancelled")
            record.write("end", ending=ended.ending, reason=ended.reason, usage=asdict(ended.usage))
        return ended


@dataclass
class _Talk:
    """One conversation with the model, and what it has cost so far."""

    messages: Messages
    model: str
    tools: Tools
    limits: Limits
    record: Transcript
    on_line: Callable[[str], None]
    workdir: Path
    usage: Usage = field(default_factory=Usage)
    said: str = ""
    cuts: int = 0  # answers in a row that ended at the token limit
    reminded: bool = False
    began: float = field(default_factory=time.monotonic)

    async def run(self, task: Task, system: str) -> AgentResult:
        request = render_request(task)
        self.record.write(
            "start", agent="anthropic", model=self.model, repository=task.repository, issue=task.issue,
            title=task.title, feedback=bool(task.feedback), workdir=str(self.workdir), system=system, request=request,
        )  # fmt: skip
        history: list[dict[str, Any]] = [
            {"role": "user", "content": whole_characters([{"type": "text", "text": request}])}
        ]
        try:
            while True:
                if over := self._over():
                    return over
                reply = await self._ask(history, system)
                if end := self._end(reply):
                    return end
                history.append({"role": "assistant", "content": reply.content})
                if reply.stop_reason != "pause_turn":  # else the server goes on by itself
                    history.append({"role": "user", "content": await self._answer(reply)})
                    self.record.write("user", content=history[-1]["content"])
        except ModelError as error:
            return self.result(Ending.FAILED, str(error))

    async def _ask(self, history: list[dict[str, Any]], system: str) -> Reply:
        began = time.monotonic()
        reply = await self.messages.ask(
            history, model=self.model, system=system, tools=self.tools.schemas(), max_tokens=_MAX_TOKENS,
            on_line=self.on_line,
        )  # fmt: skip
        seconds = time.monotonic() - began
        self._count(reply, seconds)
        self.said = reply.text() or self.said
        for line in reply.text().splitlines():
            self.on_line(line)
        self.record.write(
            "assistant", turn=self.usage.turns, content=reply.content, stop_reason=reply.stop_reason,
            usage=reply.usage(), seconds=round(seconds, 3),
        )  # fmt: skip
        return reply

    def _end(self, reply: Reply) -> AgentResult | None:
        """Return the result if this reply is the last one."""
        self.cuts = self.cuts + 1 if reply.stop_reason == "max_tokens" else 0
        match reply.stop_reason:
            case "refusal":
                return self.result(Ending.REFUSED, reply.explanation or "the model refused")
            case "model_context_window_exceeded":
                return self.result(Ending.FAILED, "the conversation no longer fits the model's context window")
            case "max_tokens" if self.cuts == _CUTS or not reply.content:
                return self.result(
                    Ending.FAILED, f"answers were cut off at {_MAX_TOKENS:,} tokens, {self.cuts} in a row"
                )
            case "pause_turn" | "max_tokens":
                return None
            case _:
                return None if reply.calls() else self.result(Ending.FINISHED)

    async def _answer(self, reply: Reply) -> list[dict[str, Any]]:
        """Run the calls of a reply one after the other, and return what goes back."""
        began = time.monotonic()
        calls = reply.calls()
        answers = []
        for position, call in enumerate(calls):
            cut_off = reply.stop_reason == "max_tokens" and position == len(calls) - 1
            answer = await self._use(call, position=position, cut_off=cut_off)
            answers.append(
                {
                    "type": "tool_result", "tool_use_id": call["id"], "content": answer.text,
                    **({"is_error": True} if answer.is_error else {}),
                }
            )  # fmt: skip
        self.usage = replace(self.usage, tools_s=self.usage.tools_s + time.monotonic() - began)
        if not answers:
            answers.append({"type": "text", "text": "Your answer was cut off at its token limit. Go on."})
        return whole_characters(answers) + self._remind()

    async def _use(self, call: Mapping[str, Any], *, position: int, cut_off: bool) -> Answer:
        if position >= _CALLS:
            return Answer(f"Not run: at most {_CALLS} calls in one turn.", is_error=True)
        if cut_off:
            return Answer("Not run: the call was cut off at the token limit. Send it in smaller parts.", is_error=True)
        if MALFORMED in call["input"]:
            return Answer("Not run: the input was not valid JSON. Send it again.", is_error=True)
        self.on_line(render_call(call["name"], self.record.clean(call["input"])))
        return await self.tools.use(call["name"], call["input"])

    def _count(self, reply: Reply, seconds: float) -> None:
        had, tokens = self.usage, reply.usage()
        dollars = cost(self.model, **tokens)
        self.usage = replace(
            had,
            turns=had.turns + 1,
            dollars=None if dollars is None or had.dollars is None else had.dollars + dollars,
            model_s=had.model_s + seconds,
            **{name: getattr(had, name) + count for name, count in tokens.items()},
        )

    def _shares(self) -> dict[str, float]:
        return shares(self.limits, self.usage, seconds=time.monotonic() - self.began)

    def _over(self) -> AgentResult | None:
        over = render_over(self.limits, self._shares())
        return None if over is None else self.result(*over)

    def _remind(self) -> list[dict[str, Any]]:
        what = [name for name, share in self._shares().items() if share >= REMIND_AT]
        if self.reminded or not what:
            return []
        self.reminded = True
        self.on_line(f"80 % of the {what[0]} used; told the agent to finish")
        return [{"type": "text", "text": render_reminder(what[0])}]

    def result(self, ending: Ending, reason: str = "") -> AgentResult:
        return AgentResult(ending, reason=reason, message=self.said, model=self.model, usage=self.usage)
