"""Read what a program prints: the JSON lines of Claude Code become our transcript, all else is lines for people."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.work.agents.agent import Ending, Usage
from bot.work.agents.tools import render_call
from bot.work.agents.transcript import Transcript

_LONGEST = 2_000  # characters of a line for people
# Claude Code's words, in `subtype` of its last line
_ENDINGS = {
    "success": Ending.FINISHED,
    "error_max_turns": Ending.TURN_LIMIT,
    "error_max_budget_usd": Ending.OVER_BUDGET,
}
_REASONS = {
    "error_max_turns": "it is not finished at its limit of turns", "error_max_budget_usd": "its budget is used up",
}  # fmt: skip


@dataclass
class Reading:
    """Takes lines as they come; holds what they told."""

    record: Transcript
    on_line: Callable[[str], None]
    on_sign: Callable[[], None] = lambda: None  # of life
    said: str = ""  # the last thing for people
    ending: Ending | None = None  # None: no result was told
    reason: str = ""
    model: str = ""
    usage: Usage | None = None
    turns: int = 0
    _seen: set[str] = field(default_factory=set)

    def feed(self, line: str) -> None:
        """Take one line."""
        self.on_sign()
        found = _read_json(line)
        match found.get("type"):
            case "assistant" | "user" if isinstance(found.get("message"), Mapping):
                self._message(found["type"], found["message"])
            case "result":
                self._result(found)
            case "system" if found.get("model"):
                self.model = str(found["model"])
            case str():
                pass  # other events of the stream
            case _ if line.strip():
                self.said = self.record.clean(line.strip())[:_LONGEST]
                self.on_line(self.said)
                self.record.write("note", text=self.said)
            case _:
                pass

    def _message(self, kind: str, message: Mapping[str, Any]) -> None:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": str(content)}]
        if kind == "assistant":
            if message.get("id") not in self._seen:  # one message comes in several lines, one a block
                self._seen.add(str(message.get("id")))
                self.turns += 1
            self.record.write("assistant", turn=self.turns, content=blocks, stop_reason=message.get("stop_reason"))
            for block in blocks:
                self._show(block)
        else:
            self.record.write("user", content=blocks)

    def _show(self, block: Any) -> None:
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                self.said = text.strip()
                for line in self.said.splitlines():
                    self.on_line(line[:_LONGEST])
            case {"type": "tool_use", "name": str(name), "input": asked}:
                self.on_line(render_call(name, self.record.clean(asked)))
            case _:
                pass

    def _result(self, found: Mapping[str, Any]) -> None:
        told = str(found.get("result") or "")
        self.ending = _ENDINGS.get(str(found.get("subtype")), Ending.FAILED)
        if found.get("is_error") and self.ending is Ending.FINISHED:
            self.ending, self.reason = Ending.FAILED, told[:_LONGEST]
        elif self.ending is not Ending.FINISHED:
            word = str(found.get("subtype"))
            self.reason = told[:_LONGEST] or _REASONS.get(word, word)
        elif told:
            self.said = told
        self.usage = _usage(found)
        models = found.get("modelUsage")
        if isinstance(models, Mapping) and models and not self.model:
            self.model = str(next(iter(models)))


def _usage(found: Mapping[str, Any]) -> Usage:
    """Return what the result line counts: over all models where it tells them apart."""
    models, total = found.get("modelUsage"), found.get("usage")
    usage = Usage(turns=_number(found.get("num_turns")), dollars=found.get("total_cost_usd"))
    if isinstance(models, Mapping) and models:
        for one in models.values():
            usage = replace(
                usage,
                input_tokens=usage.input_tokens + _number(one.get("inputTokens")),
                output_tokens=usage.output_tokens + _number(one.get("outputTokens")),
                cache_read_tokens=usage.cache_read_tokens + _number(one.get("cacheReadInputTokens")),
                cache_write_tokens=usage.cache_write_tokens + _number(one.get("cacheCreationInputTokens")),
            )
        return usage
    counts = total if isinstance(total, Mapping) else {}
    return replace(
        usage,
        input_tokens=_number(counts.get("input_tokens")),
        output_tokens=_number(counts.get("output_tokens")),
        cache_read_tokens=_number(counts.get("cache_read_input_tokens")),
        cache_write_tokens=_number(counts.get("cache_creation_input_tokens")),
    )


def _number(found: Any) -> int:
    return found if isinstance(found, int) else 0


def _read_json(line: str) -> Mapping[str, Any]:
    if not line.lstrip().startswith("{"):
        return {}
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("type"), str) else {}
