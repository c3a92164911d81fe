"""Put a streamed message together. Tool input stays text until its block ends, and may turn out not to be JSON."""

import json
from collections.abc import AsyncIterable
from dataclasses import dataclass, field
from typing import Any

MALFORMED = "malformed"  # key of a tool input that was not JSON


@dataclass
class Reply:
    """One message of the model, as it is sent back with the next request."""

    content: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str = ""
    explanation: str = ""  # of a refusal
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    whole: bool = False  # the stream came to its end

    def text(self) -> str:
        """Return what the model said."""
        return "\n".join(block["text"] for block in self.content if block["type"] == "text").strip()

    def calls(self) -> list[dict[str, Any]]:
        """Return the tool calls."""
        return [block for block in self.content if block["type"] == "tool_use"]

    def usage(self) -> dict[str, int]:
        """Return the tokens, under the names that our Usage has."""
        return {
            "input_tokens": self.input_tokens, "output_tokens": self.output_tokens,
            "cache_read_tokens": self.cache_read_tokens, "cache_write_tokens": self.cache_write_tokens,
        }  # fmt: skip


async def collect(events: AsyncIterable[Any]) -> Reply:
    """Return the message that a stream of events holds."""
    reply = Reply()
    inputs: dict[int, list[str]] = {}
    async for event in events:
        match event.type:
            case "message_start":
                _count(reply, event.message.usage)
            case "content_block_start":
                reply.content.append(event.content_block.model_dump(mode="json", exclude_none=True))
            case "content_block_delta" if event.delta.type == "input_json_delta":
                inputs.setdefault(event.index, []).append(event.delta.partial_json)
            case "content_block_delta":
                _grow(reply.content[event.index], event.delta)
            case "content_block_stop" if event.index in inputs:
                reply.content[event.index]["input"] = _read_input("".join(inputs[event.index]))
            case "message_delta":
                reply.stop_reason = event.delta.stop_reason or ""
                details = getattr(event.delta, "stop_details", None)
                reply.explanation = (getattr(details, "explanation", None) or "") if details else ""
                _count(reply, event.usage)
            case "message_stop":
                reply.whole = True
            case _:
                pass  # new kinds of events are no reason to stop
    reply.content = whole_characters(reply.content)
    return reply


def whole_characters(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the content without halves of characters, which JSON may hold and no request can be sent with."""
    text = json.dumps(content, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return list(json.loads(text.encode("utf-8", "replace")))
    return content


def _read_input(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return {MALFORMED: text}


def _grow(block: dict[str, Any], delta: Any) -> None:
    match delta.type:
        case "citations_delta":
            block.setdefault("citations", []).append(delta.citation.model_dump(mode="json", exclude_none=True))
        case _:  # text, thinking, signature, and what may come: texts that are appended
            for key, value in delta.model_dump(mode="json", exclude={"type"}, exclude_none=True).items():
                block[key] = block.get(key, "") + value if isinstance(value, str) else value


def _count(reply: Reply, usage: Any) -> None:
    for ours, theirs in (
        ("input_tokens", "input_tokens"),
        ("output_tokens", "output_tokens"),
        ("cache_read_tokens", "cache_read_input_tokens"),
        ("cache_write_tokens", "cache_creation_input_tokens"),
    ):
        found = getattr(usage, theirs, None)
        if found is not None:
            setattr(reply, ours, found)
