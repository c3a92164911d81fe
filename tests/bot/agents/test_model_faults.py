"""What the model or its server does wrong: each ends in a named way, and what was written stays."""

import asyncio
from typing import Any

import psutil
import pytest

from bot.work.agents.agent import AgentSettings, Ending, Limits
from tests.bot.agents.conftest import Work

KEPT: dict[str, Any] = {"edit": {"command": "create", "path": "kept.txt", "file_text": "kept"}}
IMPATIENT = AgentSettings(retries=0, pause_s=0.01, silence_s=0.2)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"fault": 400}, "the model's server answered (400): invalid_request_error: a scripted 400"),
        ({"fault": 401}, "the model's server refused the API key (401): authentication_error: a scripted 401"),
        (
            {"fault": 429, "retry_after": 0.01},
            "rate limited by the model's server (429): rate_limit_error: a scripted 429",
        ),
        ({"fault": 429}, "rate limited by the model's server (429): rate_limit_error: a scripted 429"),
        ({"fault": 500}, "the model's server answered (500): api_error: a scripted 500"),
        ({"fault": 529}, "the model's server is overloaded (529): overloaded_error: a scripted 529"),
        ({"fault": "overloaded"}, "the model's server is overloaded (200): overloaded_error: Overloaded"),
        ({"fault": "silent", "delay_s": 3}, "the model's server was silent for too long"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_fault_that_stays_fails_the_run_and_keeps_the_work(
    work: Work, fault: dict[str, Any], reason: str
) -> None:
    result = await work.run(KEPT, {**fault, "times": 99}, {"say": "never"}, settings=IMPATIENT)

    kept = (work.box.workdir / "kept.txt").read_text()
    assert (result.ending, result.reason, kept) == (Ending.FAILED, reason, "kept")


async def test_a_stream_that_always_breaks_fails_the_run(work: Work) -> None:
    result = await work.run({"fault": "cut", "times": 99}, {"say": "never"}, settings=IMPATIENT)

    assert (result.ending, result.reason[:46]) == (Ending.FAILED, "the connection to the model's server broke: Re")


@pytest.mark.parametrize(
    "fault",
    [{"fault": 429, "retry_after": 0.05}, {"fault": 429}, {"fault": 500}, {"fault": 529}, {"fault": "overloaded"},
     {"fault": "cut"}, {"fault": "silent", "delay_s": 1}],
    ids=lambda fault: str(fault["fault"]),
)  # fmt: skip
async def test_a_fault_that_passes_is_sat_out(work: Work, fault: dict[str, Any]) -> None:
    result = await work.run(fault, {"say": "Done."}, settings=AgentSettings(retries=1, pause_s=0.01, silence_s=0.5))

    assert (result.ending, result.message) == (Ending.FINISHED, "Done.")


async def test_nobody_listening_is_a_named_failure(work: Work) -> None:
    settings = AgentSettings(retries=0, model_url="http://127.0.0.1:1")
    result = await work.run({"say": "never"}, settings=settings)

    assert (result.ending, result.reason[:43]) == (Ending.FAILED, "the connection to the model's server broke:")


async def test_tool_input_that_is_not_json_is_told_to_the_model(work: Work) -> None:
    await work.run({"bash": "touch never", "malformed": True}, {"say": "Done."})

    assert (work.answers(1), (work.box.workdir / "never").exists()) == (
        ["Not run: the input was not valid JSON. Send it again."],
        False,
    )


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ({"name": "bash", "input": {"cmd": "ls"}}, "command: expected a text without NUL, got 'None'"),
        ({"name": "bash", "input": {"command": 3}}, "command: expected a text without NUL, got '3'"),
        ({"name": "bash", "input": {"restart": True}}, "The shell is new."),
        ({"name": "gate", "input": {}}, "There is no tool 'gate'."),
        ({"name": "python", "input": {}}, "There is no tool 'python'."),
        ({"name": "str_replace_based_edit_tool", "input": {"command": "view"}}, "path: expected a text, got None"),
        ({"name": "bash", "input": ["ls"]}, "The input of the tool is not a JSON object: \"['ls']\". Send it again."),
    ],
)
async def test_a_wrong_call_is_answered_not_raised(work: Work, call: dict[str, Any], answer: str) -> None:
    await work.run({"type": "assistant", "content": [{"type": "tool_use", **call}]}, {"say": "Done."})

    assert work.answers(1) == [answer]


async def test_of_200_calls_in_one_turn_50_are_run_and_all_are_answered(work: Work) -> None:
    await work.run({"bash": ["echo x >> count"] * 200}, {"say": "Done."})

    count = (work.box.workdir / "count").read_text().count("x")
    assert (count, work.answers(1)) == (50, ["(no output)"] * 50 + ["Not run: at most 50 calls in one turn."] * 150)


async def test_an_endless_loop_of_calls_ends_at_the_turn_limit(work: Work) -> None:
    result = await work.run({"type": "start", "loop": True}, {"bash": "true"}, limits=Limits(turns=10))

    assert (result.ending, result.reason, result.usage.turns) == (
        Ending.TURN_LIMIT, "not finished after 10 turns", 10,
    )  # fmt: skip


async def test_a_refusal_is_an_ending(work: Work) -> None:
    said = [{"type": "text", "text": "I will not."}]
    result = await work.run({"type": "assistant", "content": said, "stop_reason": "refusal"})

    assert (result.ending, result.reason, result.message) == (Ending.REFUSED, "the model refused", "I will not.")


async def test_a_call_that_was_cut_off_is_not_run(work: Work) -> None:
    calls = [{"type": "tool_use", "name": "bash", "input": {"command": f"touch {name}"}} for name in ("whole", "cut")]
    await work.run({"type": "assistant", "content": calls, "stop_reason": "max_tokens"}, {"say": "Done."})

    assert ((work.box.workdir / "whole").exists(), (work.box.workdir / "cut").exists()) == (True, False)


async def test_text_that_was_cut_off_is_continued(work: Work) -> None:
    said = [{"type": "text", "text": "I was"}]
    result = await work.run({"type": "assistant", "content": said, "stop_reason": "max_tokens"}, {"say": "saying."})

    assert (result.message, work.answers(1)) == ("saying.", ["Your answer was cut off at its token limit. Go on."])


async def test_a_model_that_never_fits_its_answers_fails(work: Work) -> None:
    said = {"type": "assistant", "content": [{"type": "text", "text": "x"}], "stop_reason": "max_tokens"}
    result = await work.run({"type": "start", "loop": True}, said)

    assert (result.ending, result.reason) == (Ending.FAILED, "answers were cut off at 32,000 tokens, 3 in a row")


async def test_a_paused_turn_goes_on_without_an_answer_of_ours(work: Work) -> None:
    said = [{"type": "text", "text": "Wait."}]
    result = await work.run({"type": "assistant", "content": said, "stop_reason": "pause_turn"}, {"say": "Done."})

    roles = [message["role"] for message in work.model.requests[1]["messages"]]
    assert (result.ending, roles) == (Ending.FINISHED, ["user", "assistant"])


async def test_a_full_context_window_is_a_named_failure(work: Work) -> None:
    said = [{"type": "text", "text": "x"}]
    result = await work.run({"type": "assistant", "content": said, "stop_reason": "model_context_window_exceeded"})

    assert (result.ending, result.reason) == (
        Ending.FAILED, "the conversation no longer fits the model's context window",
    )  # fmt: skip


async def test_a_server_without_context_editing_is_asked_without_it(work: Work) -> None:
    result = await work.run({"bash": "true"}, {"say": "Done."}, unknown=("context_management",))

    told = "model: this server knows no context editing; long conversations end at the model's limit"
    assert (result.ending, work.lines) == (Ending.FINISHED, [told, "$ true", "Done."])


async def test_a_cancelled_run_stops_at_once_and_leaves_no_process(work: Work) -> None:
    cancelled = asyncio.Event()
    asyncio.get_running_loop().call_later(0.5, cancelled.set)
    result = await work.run({"bash": "echo $$ > pid; sleep 60"}, {"say": "never"}, cancelled=cancelled)

    pid = (work.box.workdir / "pid").read_text().strip()
    assert (result.ending, result.reason, psutil.pid_exists(int(pid))) == (Ending.CANCELLED, "cancelled", False)


async def test_a_run_past_its_time_is_timed_out(work: Work) -> None:
    result = await work.run({"bash": "sleep 60"}, {"say": "never"}, limits=Limits(wall_s=0.5))

    assert (result.ending, result.reason) == (Ending.TIMED_OUT, "not finished after 0.5 s")
