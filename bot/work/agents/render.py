"""A transcript as text for people."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bot.work.agents.tools import render_call
from bot.work.agents.transcript import Record, read_records

_SHOWN = 40  # lines of a tool's answer


def render_transcript(path: Path) -> str:
    """Return what was said and done, turn by turn; long answers of tools are cut."""
    return "\n".join(line for record in read_records(path) for line in _lines(record)) + "\n"


def _lines(record: Record) -> Iterator[str]:
    match record.get("type"):
        case "start":
            yield f"{record.get('repository')}#{record.get('issue')} {record.get('title')} ({record.get('model')})"
            if record.get("feedback"):
                yield "after feedback on the last attempt"
        case "assistant":
            yield ""
            yield f"-- {_turn(record)}"
            for block in record.get("content", ()):
                yield from _block(block)
        case "user":
            for block in record.get("content", ()):
                yield from _block(block)
        case "note":
            yield str(record.get("text", ""))
        case "end":
            yield ""
            why = f": {record['reason']}" if record.get("reason") else ""
            yield f"== {record.get('ending')}{why} ({render_usage(record.get('usage') or {})})"
        case _:
            pass


def _turn(record: Record) -> str:
    usage = record.get("usage") or {}
    parts = [f"turn {record['turn']}"] if "turn" in record else ["turn"]
    if "seconds" in record:
        parts.append(f"{record['seconds']:.1f} s")
    if usage.get("output_tokens"):
        parts.append(f"{usage['output_tokens']:,} tokens written")
    return ", ".join(parts)


def _block(block: Mapping[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "text":
            yield str(block.get("text", ""))
        case "thinking":
            yield from _indented(str(block.get("thinking", "")), mark="  ~ ")
        case "tool_use":
            asked = block.get("input")
            yield f"> {render_call(str(block.get('name')), asked)}"
            yield from _edit(asked if isinstance(asked, Mapping) else {})
        case "tool_result":
            yield from _indented(_text(block.get("content")), mark="  ! " if block.get("is_error") else "    ")
        case _:
            pass


def _edit(asked: Mapping[str, Any]) -> Iterator[str]:
    for key, mark in (("old_str", "  - "), ("new_str", "  + "), ("file_text", "  + "), ("insert_text", "  + ")):
        if asked.get(key):
            yield from _indented(str(asked[key]), mark=mark)


def _indented(text: str, *, mark: str) -> Iterator[str]:
    lines = text.strip("\n").split("\n")
    if len(lines) > _SHOWN:
        half = _SHOWN // 2
        lines = [*lines[:half], f"[... {len(lines) - 2 * half} lines ...]", *lines[-half:]]
    yield from (f"{mark}{line}".rstrip() for line in lines)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", f"[{block.get('type')}]")) for block in content or ())


def render_usage(usage: Mapping[str, Any]) -> str:
    """Return turns, tokens and dollars in a few words."""
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    tokens = sum(int(usage.get(name) or 0) for name in names)
    dollars = usage.get("dollars")
    price = "dollars unknown" if dollars is None else f"${dollars:.2f}"
    turns = int(usage.get("turns") or 0)
    return f"{turns} turn{'' if turns == 1 else 's'}, {tokens:,} tokens, {price}"
