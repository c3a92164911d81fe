"""What holds for every agent, boxed and not: one task, one change, one transcript, and no key in reach."""

import asyncio
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.work.agents.agent import AgentResult, AgentSettings, Ending, Limits
from bot.work.agents.open import KINDS, open_agent
from bot.work.agents.transcript import read_records
from tests.bot.agents.conftest import TASK, Work
from tests.needs import needs

KEY = "sk-ant-the-real-key-0123456789"
PROGRAM = """
import json, os, subprocess, sys, urllib.request as r
task = sys.stdin.read()
body = json.dumps({"model": "claude-opus-5", "messages": [{"role": "user", "content": task}]}).encode()
q = r.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
for block in json.loads(r.urlopen(q).read())["content"]:
    if block["type"] == "tool_use":
        subprocess.run(["bash", "-c", block["input"]["command"]])
print("Done.")
"""


@dataclass
class Subject:
    """One kind of agent, ready to be told what its model says."""

    kind: str
    work: Work

    async def run(self, command: str, *, limits: Limits | None = None, cancel_s: float = 60) -> AgentResult:
        """Let the agent run one command and close with `Done.`."""
        turns: list[dict[str, Any]] = [{"bash": command}, {"say": "Done."}]
        cancelled = asyncio.Event()
        asyncio.get_running_loop().call_later(cancel_s, cancelled.set)
        program = (str(Path(sys.executable).resolve()), "-I", "-c", PROGRAM)
        match self.kind:
            case "replay":
                session = self.work.transcript.with_name("session.jsonl")
                session.write_text("\n".join(json.dumps(turn) for turn in turns))
                return await open_agent("replay", AgentSettings(session=session, api_key=KEY)).run(
                    TASK, box=self.work.box, limits=limits or Limits(), transcript=self.work.transcript,
                    cancelled=cancelled, on_line=self.work.lines.append,
                )  # fmt: skip
            case "command":
                settings = AgentSettings(command=program, api_key=KEY)
            case _:
                settings = AgentSettings(api_key=KEY, retries=1)
        return await self.work.run(*turns, settings=settings, limits=limits, cancelled=cancelled)


@pytest.fixture(
    params=[(kind, mode) for kind in KINDS for mode in ("off", "bubblewrap")], ids=lambda param: "-".join(param)
)
def subject(request: pytest.FixtureRequest, work: Work) -> Subject:
    """Return each kind of agent, without a box and in one."""
    kind, mode = request.param
    readable = (Path(sys.executable).resolve().parent.parent,)
    work.box = replace(work.box, mode=mode, readable=readable)
    return Subject(kind, work)


pytestmark = needs("bwrap", package="bubblewrap")


async def test_the_change_is_in_the_worktree_and_the_last_words_are_the_message(subject: Subject) -> None:
    result = await subject.run("sed -i 's/>/>=/' cart.py")

    assert (result.ending, result.message, (subject.work.box.workdir / "cart.py").read_text()) == (
        Ending.FINISHED, "Done.", "def discount(total):\n    return total >= 100\n",
    )  # fmt: skip


async def test_the_transcript_begins_with_the_task_and_ends_with_the_ending(subject: Subject) -> None:
    await subject.run("true")

    first, *_, last = read_records(subject.work.transcript)
    assert (first["type"], first["repository"], first["issue"], first["title"], last["type"], last["ending"]) == (
        "start", "acme/shop", 7, "Discount counts too late", "end", "finished",
    )  # fmt: skip


async def test_the_key_is_nowhere_within_reach(subject: Subject) -> None:
    await subject.run("env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; grep -rs sk-ant ~ .")

    transcript = subject.work.transcript.read_text()
    assert (KEY in transcript, KEY in str(subject.work.lines), "HOME=" in transcript) == (False, False, True)


async def test_tokens_are_counted_and_what_they_cost_is_known(subject: Subject) -> None:
    result = await subject.run("true")

    assert (result.usage.tokens() > 0, (result.usage.dollars or 0) > 0) == (True, True)


async def test_a_cancel_ends_it_and_the_work_stays(subject: Subject) -> None:
    result = await subject.run("echo kept > kept; sleep 60", cancel_s=1)

    kept = (subject.work.box.workdir / "kept").read_text()
    assert (result.ending, result.reason, kept) == (Ending.CANCELLED, "cancelled", "kept\n")


async def test_its_time_ends_it_and_the_work_stays(subject: Subject) -> None:
    result = await subject.run("echo kept > kept; sleep 60", limits=Limits(wall_s=1))

    kept = (subject.work.box.workdir / "kept").read_text()
    assert (result.ending, result.reason, kept) == (Ending.TIMED_OUT, "not finished after 1 s", "kept\n")
