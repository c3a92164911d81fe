"""Recorded sessions: replayed by the real loop with the real tools, and read by people."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.errors import ConfigError
from bot.sandbox.box import Box
from bot.work.agents.agent import AgentResult, AgentSettings, Ending, Limits, Task
from bot.work.agents.open import open_agent
from bot.work.agents.render import render_transcript
from bot.work.agents.transcript import Transcript
from tests.bot.agents.conftest import TASK, Work


async def replay(session: Path, box: Box, *, task: Task = TASK) -> AgentResult:
    agent = open_agent("replay", AgentSettings(session=session))
    return await agent.run(
        task, box=box, limits=Limits(), transcript=session.parent / "again.jsonl", cancelled=asyncio.Event(),
        on_line=lambda _: None,
    )  # fmt: skip


@pytest.fixture
async def recorded(work: Work) -> Path:
    """Return the transcript of a run that made one file by its full path."""
    file = {"command": "create", "path": f"{work.box.workdir}/made.txt", "file_text": "made\n"}
    work.transcript = work.transcript.with_suffix(".jsonl.gz")
    await work.run({"say": "I make it.", "edit": file}, {"bash": "cat made.txt; false"}, {"say": "Made."})
    return work.transcript


async def test_a_replay_does_the_same_in_another_folder(recorded: Path, work: Work, tmp_path: Path) -> None:
    other = replace(work.box, workdir=tmp_path / "other")
    other.workdir.mkdir()
    result = await replay(recorded, other)

    assert (result.ending, result.message, (other.workdir / "made.txt").read_text()) == (
        Ending.FINISHED, "Made.", "made\n",
    )  # fmt: skip


async def test_a_replay_for_another_issue_fails_with_the_reason(recorded: Path, work: Work) -> None:
    result = await replay(recorded, work.box, task=replace(TASK, issue=8))

    assert (result.ending, result.reason) == (Ending.FAILED, "no recorded session fits this issue")


@pytest.mark.parametrize("session", [None, Path("/nowhere/at/all.jsonl")])
def test_a_replay_needs_a_session(session: Path | None) -> None:
    with pytest.raises(ConfigError) as raised:
        open_agent("replay", AgentSettings(session=session))

    assert str(raised.value) == f"agent: session: expected a transcript or a folder of them, got {session}"


def test_an_agent_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError) as raised:
        open_agent("robot", AgentSettings())

    assert str(raised.value) == "agent: expected anthropic, command or replay, got 'robot'"


def test_a_transcript_reads_like_a_conversation(tmp_path: Path) -> None:
    edit = {"command": "str_replace", "path": "cart.py", "old_str": ">", "new_str": ">="}
    with Transcript(tmp_path / "run.jsonl") as transcript:
        transcript.write("start", repository="acme/shop", issue=7, title="Too late", model="claude-opus-5")
        transcript.write(
            "assistant", turn=1, seconds=1.24, usage={"output_tokens": 1100},
            content=[{"type": "text", "text": "I look."}, use("bash", {"command": "seq 60"})],
        )  # fmt: skip
        transcript.write("user", content=[{"type": "tool_result", "content": "\n".join(map(str, range(1, 61)))}])
        transcript.write("assistant", turn=2, content=[use("str_replace_based_edit_tool", edit)])
        transcript.write("user", content=[{"type": "tool_result", "content": "no such file", "is_error": True}])
        transcript.write("note", text="a line of a program")
        transcript.write(
            "end", ending="failed", reason="no key", usage={"turns": 2, "input_tokens": 9000, "dollars": 0.1}
        )

    numbers = [*range(1, 21), "[... 20 lines ...]", *range(41, 61)]
    assert render_transcript(tmp_path / "run.jsonl").splitlines() == [
        "acme/shop#7 Too late (claude-opus-5)",
        "",
        "-- turn 1, 1.2 s, 1,100 tokens written",
        "I look.",
        "> $ seq 60",
        *(f"    {number}" for number in numbers),
        "",
        "-- turn 2",
        "> str_replace cart.py",
        "  - >",
        "  + >=",
        "  ! no such file",
        "a line of a program",
        "",
        "== failed: no key (2 turns, 9,000 tokens, $0.10)",
    ]


def use(name: str, asked: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": asked}
