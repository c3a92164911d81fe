"""The scripted model: which session answers, and what it says."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.errors import ConfigError
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions, read_session

FIRST = "<issue>\nacme/shop#2\nToo late\n\nbody\n</issue>"
AGAIN = FIRST + "\n<feedback>\ntest failed\n</feedback>"


def ask(*sessions: list[dict[str, Any]], text: str = FIRST, turns: int = 0, **fields: Any) -> httpx.Response:
    model = ScriptedModel([read_session(f"s{at}", records) for at, records in enumerate(sessions)])
    messages = [{"role": "user", "content": text}]
    for _ in range(turns):
        messages += [{"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]
    with model.serve() as served:
        return httpx.post(f"{served.url}/v1/messages", json={"model": "m", "messages": messages, **fields})


def said(response: httpx.Response) -> str:
    return " ".join(block.get("text", "") for block in response.json()["content"])


ANY = [{"say": "any"}]
ISSUE = [{"type": "start", "repository": "acme/shop", "issue": 2}, {"say": "issue"}]
TITLE = [{"type": "start", "repository": "acme/shop", "issue": 2, "title": "Too late"}, {"say": "title"}]
SECOND = [{"type": "start", "repository": "acme/shop", "issue": 2, "feedback": True}, {"say": "second"}]
WHEN = [{"type": "start", "when": "test failed"}, {"say": "when"}]
OTHER = [{"type": "start", "repository": "acme/shop", "issue": 22}, {"say": "other"}]


@pytest.mark.parametrize(
    ("sessions", "text", "answer"),
    [
        ([ANY, ISSUE, OTHER], FIRST, "issue"),
        ([ISSUE, TITLE, SECOND], FIRST, "title"),
        ([ISSUE, SECOND], FIRST, "issue"),
        ([ISSUE, SECOND], AGAIN, "second"),
        ([ISSUE, WHEN], FIRST, "issue"),
        ([ANY, WHEN], AGAIN, "when"),
        ([OTHER, ANY], FIRST, "any"),
        ([OTHER], FIRST, "No session was written for this conversation."),
    ],
)
def test_the_session_that_asks_for_most_answers(sessions: list[Any], text: str, answer: str) -> None:
    assert said(ask(*sessions, text=text)) == answer


@pytest.mark.parametrize(("turns", "answer"), [(0, "one"), (1, "two"), (2, "Done."), (7, "Done.")])
def test_the_turn_is_told_by_what_the_model_said_before(turns: int, answer: str) -> None:
    assert said(ask([{"say": "one"}, {"say": "two"}], turns=turns)) == answer


def test_a_session_may_start_again() -> None:
    assert said(ask([{"type": "start", "loop": True}, {"say": "one"}, {"say": "two"}], turns=4)) == "one"


def test_a_fault_is_served_as_often_as_it_says_then_the_turn() -> None:
    model = ScriptedModel(
        [read_session("s", [{"fault": 529, "times": 2}, {"fault": 429, "retry_after": 3}, {"say": "x"}])]
    )
    asked = {"model": "m", "messages": [{"role": "user", "content": ""}]}
    with model.serve() as served:
        found = [httpx.post(f"{served.url}/v1/messages", json=asked) for _ in range(4)]

    assert [(answer.status_code, answer.headers.get("retry-after")) for answer in found] == [
        (529, None), (529, None), (429, "3"), (200, None),
    ]  # fmt: skip


def test_tools_get_the_names_that_the_conversation_has() -> None:
    response = ask([{"bash": "ls"}], tools=[{"name": "Bash", "input_schema": {}}])

    assert response.json()["content"] == [
        {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}, "id": "toolu_0001_000"}
    ]


def test_a_streamed_answer_comes_in_pieces() -> None:
    response = ask([{"say": "x" * 1000}], stream=True)

    events = [json.loads(line[6:])["type"] for line in response.text.splitlines() if line.startswith("data: ")]
    assert events == [
        "message_start", "content_block_start", "content_block_delta", "content_block_delta", "content_block_delta",
        "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip


def test_other_requests_are_answered() -> None:
    with ScriptedModel([]).serve() as served:
        found = [
            httpx.head(served.url).status_code,
            httpx.get(f"{served.url}/v1/models").json(),
            httpx.post(f"{served.url}/v1/messages/count_tokens", json={"messages": "x" * 100}).json(),
        ]

    assert found == [200, {"data": [], "has_more": False}, {"input_tokens": 30}]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            '{"sya": "x"}',
            "a.jsonl: line 1: expected say, bash, edit, gate, fault or an assistant's content, got {'sya': 'x'}",
        ),
        ('{"bash": 3}', "a.jsonl: line 1: bash: expected a text or an object, got 3"),
        ("say: x\n{}", "a.jsonl: line 1: expected JSON, got 'say: x'"),
    ],
)  # fmt: skip
def test_a_session_that_cannot_be_read_is_named(tmp_path: Path, line: str, error: str) -> None:
    (tmp_path / "a.jsonl").write_text(line)
    with pytest.raises(ConfigError) as raised:
        load_sessions(tmp_path)

    assert str(raised.value) == error
