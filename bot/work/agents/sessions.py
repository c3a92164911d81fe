"""Sessions: what a scripted model says, written by hand or recorded.

A session is a file of JSON lines in the format of our transcripts, so a recorded transcript is a session as it is.
The first line says which conversations the session answers; what it leaves out, it does not ask for:

    {"type": "start", "repository": "acme/shop", "issue": 2, "title": "...", "feedback": true, "when": ["any text"]}

`repository` and `issue` are found as `acme/shop#2` in the conversation's first message, `title` and every text of
`when` in the first message or the system prompt. `feedback: true` asks for a conversation that follows a red gate or a
review, `false` for a first one. Of several sessions that fit, the one that asks for most answers; then the first.

Each following line is the model's next turn. Written short:

    {"say": "I will look at it.", "bash": "pytest -q"}
    {"edit": {"command": "str_replace", "path": "shop/cart.py", "old_str": "<", "new_str": "<="}}
    {"say": "Let the gate judge.", "gate": true}
    {"say": "Fixed: the discount now counts from 100."}

`bash`, `edit` and `gate` may be lists: several calls in one turn. Or written as transcripts have it:

    {"type": "assistant", "content": [{"type": "text", "text": "..."}], "stop_reason": "end_turn", "usage": {...}}

`{"type": "user" | "end", ...}` lines are skipped. A turn may wait: `"delay_s": 0.5`. A line with `fault` is served in
place of the turn that follows it, once or `times` times:

    {"fault": 529}   {"fault": 429, "retry_after": 1, "times": 2}
    {"fault": "cut"}          the connection breaks inside the stream
    {"fault": "silent", "delay_s": 60}
    {"fault": "overloaded"}   an error event inside the stream

`"malformed": true` beside a tool call sends its input as broken JSON.

After its last line a session answers "Done." and ends the turn; `"loop": true` in its first line starts it again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import ConfigError
from bot.work.agents.transcript import read_records

_TOOLS = {"bash": "bash", "edit": "str_replace_based_edit_tool", "gate": "gate"}
_FIELDS = ("delay_s", "fault", "times", "retry_after", "malformed")
_USAGE = {"cache_read_tokens": "cache_read_input_tokens", "cache_write_tokens": "cache_creation_input_tokens"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a session: an answer, or a fault in its place."""

    content: tuple[Mapping[str, Any], ...] = ()
    stop_reason: str = "end_turn"
    usage: Mapping[str, int] | None = None
    delay_s: float = 0.0
    fault: int | str | None = None
    times: int = 1
    retry_after: float | None = None
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """What the model says in one kind of conversation."""

    name: str
    needs: tuple[str, ...] = ()
    feedback: bool | None = None
    loop: bool = False
    workdir: str = ""  # the folder it was recorded in
    turns: tuple[tuple[Turn, ...], ...] = ()  # each: faults, then the answer

    def fit(self, text: str, *, feedback: bool) -> int | None:
        """Return how much of the conversation the session asks for, None if it is not for this one."""
        if any(need not in text for need in self.needs) or self.feedback not in (None, feedback):
            return None
        return len(self.needs) + (self.feedback is not None)


def load_sessions(*paths: Path) -> list[Session]:
    """Load the sessions of files and of the folders' `*.jsonl` files, in the order of their names."""
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl*")) if path.is_dir() else [path])]
    try:
        return [read_session(file.name, read_records(file)) for file in files]
    except ValueError as error:
        raise ConfigError(str(error)) from error


def read_session(name: str, records: Iterable[Mapping[str, Any]]) -> Session:
    """Return the session that a list of records describes; raises ConfigError."""
    start: Mapping[str, Any] = {}
    turns: list[tuple[Turn, ...]] = []
    faults: list[Turn] = []
    for number, record in enumerate(records, 1):
        if record.get("type") == "start":
            start = record
        elif record.get("type") not in ("user", "end", "note"):
            turn = _read_turn(record, where=f"{name}: line {number}")
            faults.append(turn)
            if turn.fault is None:
                turns.append(tuple(faults))
                faults = []
    if faults:  # nothing follows: the conversation ends after it
        turns.append((*faults, Turn(content=({"type": "text", "text": "Done."},))))
    return Session(
        name, needs=_needs(start), feedback=start.get("feedback"), loop=bool(start.get("loop")),
        workdir=str(start.get("workdir") or ""), turns=tuple(turns),
    )  # fmt: skip


def _needs(start: Mapping[str, Any]) -> tuple[str, ...]:
    needs = [start["when"]] if isinstance(start.get("when"), str) else list(start.get("when", ()))
    if start.get("issue") is not None:
        needs.append(f"{start.get('repository', '')}#{start['issue']}\n")
    elif start.get("repository"):
        needs.append(f"{start['repository']}#")
    if start.get("title"):
        needs.append(start["title"])
    return tuple(needs)


def _read_turn(record: Mapping[str, Any], *, where: str) -> Turn:
    known = {name: record[name] for name in _FIELDS if name in record}
    usage = {_USAGE.get(name, name): count for name, count in (record.get("usage") or {}).items()}
    content = record["content"] if record.get("type") == "assistant" else _short(record, where)
    if not content and "fault" not in record:
        raise ConfigError(f"{where}: expected say, bash, edit, gate, fault or an assistant's content, got {record}")
    calls = any(block["type"] == "tool_use" for block in content)
    stop = record.get("stop_reason") or ("tool_use" if calls else "end_turn")
    return Turn(content=tuple(content), stop_reason=stop, usage=usage or None, **known)


def _short(record: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = [{"type": "text", "text": record["say"]}] if record.get("say") else []
    for key in ("bash", "edit", "gate"):
        calls = record.get(key, ())
        for call in calls if isinstance(calls, list | tuple) else (calls,):
            if key != "gate" and not isinstance(call, str | dict):
                raise ConfigError(f"{where}: {key}: expected a text or an object, got {call!r}")
            given = {"command": call} if isinstance(call, str) else call if isinstance(call, dict) else {}
            content.append({"type": "tool_use", "name": _TOOLS[key], "input": given})
    return content
