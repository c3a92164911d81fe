"""A transcript for people: its parts in order, and all of them as text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.work.agents.tools import render_call
from bot.work.agents.transcript import Record, read_records

_SHOWN = 40  # lines of a tool's answer
_MARKS = {
    "said": "", "note": "", "start": "", "thought": "  ~ ", "call": "> ", "old": "  - ", "new": "  + ",
    "answer": "    ", "wrong": "  ! ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that happened in a run.

    `kind` is start, turn, said, thought, call, old and new (what an edit takes and gives), answer, wrong (an answer
    that is an error), note, or end.
    """

    kind: str
    text: str


def read_parts(path: Path) -> Iterator[Part]:
    """Return what was said and done in a transcript; raises ValueError for what is none."""
    for record in read_records(path):
        yield from _parts(record)


def render_transcript(path: Path) -> str:
    """Return what was said and done, turn by turn; long answers of tools are cut."""
    return "\n".join(line for part in read_parts(path) for line in _lines(part)) + "\n"


def _lines(part: Part) -> Iterator[str]:
    match part.kind:
        case "turn":
            yield from ("", f"-- {part.text}")
        case "end":
            yield from ("", f"== {part.text}")
        case "said" | "note" | "start" | "call":
            yield f"{_MARKS[part.kind]}{part.text}"
        case _:
            yield from _indented(part.text, mark=_MARKS[part.kind])


def _parts(record: Record) -> Iterator[Part]:
    match record.get("type"):
        case "start":
            yield Part(
                "start", f"{record.get('repository')}#{record.get('issue')} {record.get('title')} ({_who(record)})"
            )
            if record.get("feedback"):
                yield Part("start", "after feedback on the last attempt")
        case "assistant":
            yield Part("turn", _turn(record))
            for block in record.get("content", ()):
                yield from _block(block)
        case "user":
            for block in record.get("content", ()):
                yield from _block(block)
        case "note":
            yield Part("note", str(record.get("text", "")))
        case "end":
            why = f": {record['reason']}" if record.get("reason") else ""
            yield Part("end", f"{record.get('ending')}{why} ({render_usage(record.get('usage') or {})})")
        case _:
            pass


def _who(record: Record) -> str:
    command = record.get("command")
    return str(record["model"]) if record.get("model") else " ".join(map(str, command or ("no model named",)))


def _turn(record: Record) -> str:
    usage = record.get("usage") or {}
    parts = [f"turn {record['turn']}"] if "turn" in record else ["turn"]
    if "seconds" in record:
        parts.append(f"{record['seconds']:.1f} s")
    if usage.get("output_tokens"):
        parts.append(f"{usage['output_tokens']:,} tokens written")
    return ", ".join(parts)


def _block(block: Mapping[str, Any]) -> Iterator[Part]:
    match block.get("type"):
        case "text":
            yield Part("said", str(block.get("text", "")))
        case "thinking":
            yield Part("thought", str(block.get("thinking", "")))
        case "tool_use":
            asked = block.get("input")
            yield Part("call", render_call(str(block.get("name")), asked))
            yield from _edit(asked if isinstance(asked, Mapping) else {})
        case "tool_result":
            yield Part("wrong" if block.get("is_error") else "answer", _text(block.get("content")))
        case _:
            pass


def _edit(asked: Mapping[str, Any]) -> Iterator[Part]:
    for key, kind in (("old_str", "old"), ("new_str", "new"), ("file_text", "new"), ("insert_text", "new")):
        if asked.get(key):
            yield Part(kind, str(asked[key]))


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
