"""The tools of our own agent: a shell, an editor, and the gate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.sandbox.box import Box
from bot.work.agents.agent import Gate, Limits
from bot.work.agents.editor import EditError, Editor
from bot.work.agents.shell import Ran, Shell

_BASH = {"type": "bash_20250124", "name": "bash"}
_EDITOR = {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}
_GATE = {
    "name": "gate",
    "description": "Run the repository's gate on the working tree as it is now, and return what it found.",
    "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gave back."""

    text: str
    is_error: bool = False


class Tools:
    """The tools of one run; `close` ends the shell and all that it left."""

    def __init__(self, box: Box, *, limits: Limits, gate: Gate | None, env: Mapping[str, str]) -> None:
        self._shell = Shell(box, env=env)
        self._editor = Editor(box.workdir)
        self._limits = limits
        self._gate = gate

    def schemas(self) -> list[dict[str, Any]]:
        """Return what the model is told of the tools, in Anthropic's current schemas."""
        return [_BASH, _EDITOR, *([_GATE] if self._gate else [])]

    async def use(self, name: str, asked: Any) -> Answer:
        """Run one call; the model's mistakes are answers, never exceptions."""
        if not isinstance(asked, Mapping):
            return Answer(f"The input of the tool is not a JSON object: {str(asked)[:200]!r}. Send it again.", True)
        try:
            match name:
                case "bash":
                    return await self._bash(asked)
                case "str_replace_based_edit_tool":
                    return Answer(self._editor.use(asked))
                case "gate" if self._gate is not None:
                    return Answer(await self._gate())
                case _:
                    return Answer(f"There is no tool {name!r}.", True)
        except EditError as error:
            return Answer(str(error), True)

    async def close(self) -> None:
        """End what still runs."""
        await self._shell.close()

    async def _bash(self, asked: Mapping[str, Any]) -> Answer:
        if asked.get("restart"):
            await self._shell.close()
            return Answer("The shell is new.")
        command = asked.get("command")
        if not isinstance(command, str) or "\0" in command:
            return Answer(f"command: expected a text without NUL, got {str(command)[:200]!r}", True)
        return _say(await self._shell.run(command, limit_s=self._limits.command_s), self._limits.command_s)


def _say(ran: Ran, limit_s: float) -> Answer:
    if ran.timed_out:
        ending = f"[stopped after {limit_s:g} s with everything it started; the next command gets a new shell]"
        return Answer(f"{ran.output}\n{ending}", True)
    if ran.crowded:
        return Answer(
            f"{ran.output}\n[stopped: it started too many processes; the next command gets a new shell]", True
        )
    if ran.exit_code is None:
        return Answer(f"{ran.output}\n[this ended the shell; the next command gets a new one]", True)
    if ran.exit_code:
        return Answer(f"{ran.output}\n[exit code {ran.exit_code}]".lstrip("\n"))
    return Answer(ran.output or "(no output)")


def render_call(name: str, asked: Any) -> str:
    """Return a call as one line for people."""
    if not isinstance(asked, Mapping):
        return f"{name}: input that is not JSON"
    match name:
        case "bash" | "Bash":
            return "$ " + " ".join(str(asked.get("command", "restart")).split())[:200]
        case "str_replace_based_edit_tool":
            return f"{asked.get('command')} {asked.get('path')}"
        case _:
            detail = " ".join(str(value) for value in asked.values())
            return f"{name} {' '.join(detail.split())}".strip()[:200]
