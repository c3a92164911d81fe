"""Any program as the agent: what it is given, what is read from it, and how it may end."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from bot.errors import ConfigError
from bot.sandbox.out import way_out
from bot.work.agents.agent import AgentResult, AgentSettings, Ending, Limits, Usage
from bot.work.agents.open import open_agent
from bot.work.agents.transcript import read_records
from tests.bot.agents.conftest import Work
from tests.needs import needs

ASK = """
import json, os, sys, urllib.request as r
def ask(key=os.environ["ANTHROPIC_API_KEY"], n=1):
    body = json.dumps({"model": "claude-opus-5", "messages": [{"role": "user", "content": "hi"}]}).encode()
    for _ in range(n):
        q = r.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, {"x-api-key": key})
        try:
            print(json.loads(r.urlopen(q).read())["content"][0]["text"])
        except r.HTTPError as error:
            print(error.code, json.loads(error.read())["error"]["message"])
"""


def python(code: str) -> AgentSettings:
    return AgentSettings(command=(sys.executable, "-c", ASK + code), api_key="sk-real-key")


async def test_the_task_comes_on_stdin_and_the_change_is_in_the_worktree(work: Work) -> None:
    result = await work.run(settings=python("open('got', 'w').write(sys.stdin.read()); print('Done.')"))

    got = (work.box.workdir / "got").read_text()
    assert (result.ending, result.message, got.endswith("A cart of exactly 100 should get it.\n</issue>")) == (
        Ending.FINISHED, "Done.", True,
    )  # fmt: skip


async def test_the_task_comes_in_a_file_where_the_command_wants_one(work: Work) -> None:
    command = ("sh", "-c", "cat; tail -n 2 {prompt_file}; echo {model} {turns}")
    await work.run(settings=AgentSettings(command=command, model="m"), limits=Limits(turns=7))

    assert work.lines == ["A cart of exactly 100 should get it.", "</issue>", "m 7"]


async def test_the_program_never_holds_the_key_but_reaches_the_model(work: Work) -> None:
    await work.run({"say": "Hello."}, settings=python("ask(); print(sorted(k for k in os.environ if 'KEY' in k))"))

    assert (work.lines, work.model.headers[0]["x-api-key"], "sk-real-key" in str(work.lines)) == (
        ["Hello.", "['ANTHROPIC_API_KEY']"], "sk-real-key", False,
    )  # fmt: skip


@needs("bwrap", package="bubblewrap")
async def test_a_boxed_program_with_an_open_network_reaches_the_model_all_the_same(work: Work) -> None:
    readable = (Path(sys.executable).resolve().parent.parent,)
    box = replace(work.box, mode="bubblewrap", network="open", readable=readable)
    program = (str(Path(sys.executable).resolve()), "-I", "-c", f"{ASK}ask()")
    async with way_out(box) as work.box:
        await work.run({"say": "Hello."}, settings=AgentSettings(command=program, api_key="sk-real-key"))

    assert work.lines == ["Hello."]


async def test_the_proxy_serves_only_who_knows_the_runs_token(work: Work) -> None:
    await work.run({"say": "Hello."}, settings=python("ask(key='guess')"))

    assert (work.lines, work.model.requests) == (["401 this proxy serves one run only"], [])


async def test_a_key_that_is_refused_ends_the_run_at_once(work: Work) -> None:
    settings = python("ask(); import time; time.sleep(60)")
    result = await work.run({"fault": 401, "times": 9}, {"say": "never"}, settings=settings)

    assert (result.ending, result.reason) == (Ending.FAILED, "the model's server refused the API key (401)")


async def test_use_is_counted_by_the_proxy_where_the_program_tells_nothing(work: Work) -> None:
    turn = {"say": "Hello.", "usage": {"input_tokens": 1000, "output_tokens": 200}}
    result = await work.run({"type": "start", "loop": True}, turn, settings=python("ask(n=2)"))

    assert result.usage == Usage(turns=2, input_tokens=2000, output_tokens=400, dollars=pytest.approx(0.02))


async def test_a_program_over_its_budget_is_stopped(work: Work) -> None:
    turn = {"say": "Hello.", "usage": {"input_tokens": 600, "output_tokens": 0}}
    settings = python("ask(n=9); import time; time.sleep(60)")
    result = await work.run({"type": "start", "loop": True}, turn, settings=settings, limits=Limits(tokens=1000))

    assert (result.ending, result.reason, result.usage.tokens()) == (
        Ending.OVER_BUDGET, "the budget of 1,000 tokens is used up", 1200,
    )  # fmt: skip


async def test_at_80_percent_the_model_is_told_to_finish_whatever_the_program_asks(work: Work) -> None:
    turn = {"say": "Hello.", "usage": {"input_tokens": 450, "output_tokens": 0}}
    await work.run({"type": "start", "loop": True}, turn, settings=python("ask(n=3)"), limits=Limits(tokens=1000))

    told = "You have used 80 % of your tokens. Finish now: bring the change into a state that passes, and close."
    assert (work.lines, [request["messages"][-1]["content"] for request in work.model.requests]) == (
        ["80 % of the tokens used; told the agent to finish", "Hello.", "Hello.", "Hello."],
        ["hi", "hi", [{"type": "text", "text": "hi"}, {"type": "text", "text": told}]],
    )


async def test_a_program_that_keeps_to_no_turns_of_its_own_is_stopped_at_ours(work: Work) -> None:
    settings = python("ask(n=5); import time; time.sleep(60)")
    result = await work.run({"type": "start", "loop": True}, {"say": "x"}, settings=settings, limits=Limits(turns=3))

    assert (result.ending, result.reason, result.usage.turns) == (Ending.TURN_LIMIT, "not finished after 3 turns", 3)


STREAM: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init", "model": "claude-sonnet-5-5"},
    {"type": "assistant", "message": {"id": "1", "content": [{"type": "text", "text": "I look."}]}},
    {"type": "assistant", "message": {
        "id": "1", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "cart.py"}]}},
    {"type": "assistant", "message": {"id": "2", "content": [{"type": "text", "text": "Fixed."}]}},
]  # fmt: skip
RESULT = {
    "type": "result", "subtype": "success", "is_error": False, "num_turns": 2, "result": "Fixed.",
    "total_cost_usd": 0.25, "usage": {"input_tokens": 1, "output_tokens": 2},
    "modelUsage": {
        "a": {"inputTokens": 10, "outputTokens": 20, "cacheReadInputTokens": 30, "cacheCreationInputTokens": 40},
        "b": {"inputTokens": 1},
    },
}  # fmt: skip


def streaming(*lines: dict[str, Any], then: str = "") -> AgentSettings:
    return python(f"for line in {lines!r}: print(json.dumps(line), flush=True)\n{then}")


async def test_what_claude_code_streams_is_read(work: Work) -> None:
    result = await work.run(settings=streaming(*STREAM, RESULT))

    assert (result, work.lines) == (
        AgentResult(
            Ending.FINISHED, message="Fixed.", model="claude-sonnet-5-5",
            usage=Usage(2, 11, 20, 30, 40, dollars=0.25),
        ),
        ["I look.", "$ ls", "Fixed."],
    )  # fmt: skip


async def test_what_claude_code_streams_becomes_a_transcript(work: Work) -> None:
    await work.run(settings=streaming(*STREAM, RESULT))

    assert [(record["type"], record.get("turn")) for record in read_records(work.transcript)] == [
        ("start", None), ("assistant", 1), ("assistant", 1), ("user", None), ("assistant", 2), ("end", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("told", "ending", "reason"),
    [
        ({"subtype": "error_max_turns", "result": None}, Ending.TURN_LIMIT, "it is not finished at its limit of turns"),
        ({"subtype": "error_max_budget_usd", "result": None}, Ending.OVER_BUDGET, "its budget is used up"),
        ({"subtype": "error_during_execution", "result": "broken"}, Ending.FAILED, "broken"),
        ({"is_error": True, "result": "API Error: 401"}, Ending.FAILED, "API Error: 401"),
    ],
)
async def test_the_endings_of_claude_code_are_ours(
    work: Work, told: dict[str, Any], ending: Ending, reason: str
) -> None:
    result = await work.run(settings=streaming({**RESULT, **told}, then="sys.exit(1)"))

    assert (result.ending, result.reason) == (ending, reason)


@pytest.mark.parametrize(
    ("code", "ending", "reason"),
    [
        ("open('kept', 'w'); sys.exit('no disk')", Ending.FAILED, "exit code 1: no disk"),
        ("open('kept', 'w'); os.kill(os.getpid(), 11)", Ending.FAILED, "exit code -11: it said nothing"),
        ("open('kept', 'w'); print('{\"type\": 3} not json')", Ending.FINISHED, ""),
        ("open('kept', 'w'); import time; print('x', flush=True); time.sleep(60)", Ending.TIMED_OUT,
         "not finished after 1 s"),
    ],
    ids=["fails", "crashes", "writes no JSON", "hangs"],
)  # fmt: skip
async def test_however_a_program_ends_the_work_is_kept(work: Work, code: str, ending: Ending, reason: str) -> None:
    result = await work.run(settings=python(code), limits=Limits(wall_s=1))

    assert (result.ending, result.reason, (work.box.workdir / "kept").exists()) == (ending, reason, True)


async def test_a_program_of_which_nothing_is_heard_is_stopped(work: Work) -> None:
    settings = AgentSettings(command=("sleep", "60"), silence_s=0.3)
    result = await work.run(settings=settings, limits=Limits(command_s=0.2))

    assert (result.ending, result.reason) == (Ending.TIMED_OUT, "nothing was heard of the program for 0.3 s")


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_cancelled_program_is_stopped_with_its_children(work: Work) -> None:
    cancelled = asyncio.Event()
    asyncio.get_running_loop().call_later(0.5, cancelled.set)
    command = ("sh", "-c", "(sleep 60 & echo $! > pid; wait) & wait")
    result = await work.run(settings=AgentSettings(command=command), cancelled=cancelled)

    child = int((work.box.workdir / "pid").read_text())
    assert (result.ending, is_running(child)) == (Ending.CANCELLED, False)


async def test_a_program_that_leaves_children_leaves_none(work: Work) -> None:
    command = ("sh", "-c", "setsid sleep 60 > /dev/null 2>&1 < /dev/null & echo $! > pid; echo Done.")
    result = await work.run(settings=AgentSettings(command=command))

    child = int((work.box.workdir / "pid").read_text())
    assert (result.ending, is_running(child)) == (Ending.FINISHED, False)


async def test_a_flood_is_held_in_bounds(work: Work) -> None:
    before = psutil.Process().memory_info().rss
    command = ("sh", "-c", "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo Done.")
    result = await work.run(settings=AgentSettings(command=command))

    grown = psutil.Process().memory_info().rss - before
    assert (result.ending, grown < 20_000_000, work.transcript.stat().st_size < 1_000_000) == (
        Ending.FINISHED, True, True,
    )  # fmt: skip


async def test_a_program_that_is_not_there_is_named(work: Work) -> None:
    result = await work.run(settings=AgentSettings(command=("no-such-agent", "--go")))

    assert (result.ending, result.reason) == (Ending.FAILED, "there is no program 'no-such-agent'")


def test_a_command_is_needed() -> None:
    with pytest.raises(ConfigError) as raised:
        open_agent("command", AgentSettings())

    assert str(raised.value) == "agent: command: expected a program and its arguments, got nothing"
