"""Readers on GitHub's own example payloads, and on what no forge would send."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.forges.events import CheckEvent, CommentEvent, Event, IssueEvent, PullEvent, RepositoryEvent, Unread
from bot.forges.github_events import READERS, read_event
from bot.inbox.intent import Nothing, Rules, read_intent
from tests.examples import load_examples

GOLDEN = Path(__file__).parent / "intents.txt"
RULES = Rules(label="bug", name="octocoders-linter", login="octocoders-linter[bot]", app=29310, checks=True)
ASSERTED = ("issues", "issue_comment", "pull_request", "pull_request_review", "check_run", "check_suite", "repository",
            "installation", "installation_repositories")  # fmt: skip


def test_every_example_of_an_event_that_we_read_is_understood() -> None:
    found = {e.id: read_event(e.event, json.dumps(e.payload).encode()) for e in load_examples() if e.event in READERS}
    assert (len(found) > 100, {id_: f for id_, f in found.items() if isinstance(f, Unread)}) == (True, {})


def test_every_other_example_is_ignored_with_a_reason() -> None:
    others = [e for e in load_examples() if e.event not in READERS]
    found = [read_event(e.event, json.dumps(e.payload).encode()) for e in others]
    assert found == [Unread(f"nothing here reads the event {e.event!r}") for e in others]


def test_the_intents_of_the_examples_are_those_that_were_looked_at() -> None:
    lines = [
        _line(name, read_event(name, json.dumps(e.payload).encode()))
        for name in ASSERTED
        for e in load_examples("api.github.com")
        if e.event == name
    ]
    text = "".join(f"{line}\n" for line in lines)
    if not GOLDEN.exists():
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text(), f"look at the difference; if it is meant, delete {GOLDEN} and run again"


def _line(name: str, event: Event) -> str:
    intent = read_intent(event, RULES)
    said = f"ignored: {intent.reason}" if isinstance(intent, Nothing) else repr(intent)
    if isinstance(event, Unread):
        return f"{name}: {said}"
    where = f" {event.origin.repository or '-'}"
    what = ""
    match event:
        case IssueEvent() | CommentEvent() | PullEvent():
            what = f"#{event.number}"
        case CheckEvent():
            what = f"@{event.head_sha[:7]}"
        case RepositoryEvent():
            what = f" was {event.before}" if event.before else ""
        case _:
            what = ""
    label = f" {event.label!r}" if isinstance(event, IssueEvent) and event.label else ""
    return f"{name}.{event.origin.action}{label}{where}{what} by {event.origin.sender.login}: {said}"


def test_a_null_fork_is_read() -> None:
    payload = {"action": "opened", "repository": {"full_name": "a/b"}, "sender": None,
               "pull_request": {"number": 1, "user": None, "head": {"sha": "a" * 40, "repo": None}}}  # fmt: skip
    found = read_event("pull_request", json.dumps(payload).encode())
    assert isinstance(found, PullEvent)
    assert (found.head_repository, found.author.login) == (None, "")


WRONG = {
    "a list for an object": {"issue": []},
    "a text for a number": {"issue": {"number": "x"}},
    "a number of no issue": {"issue": {"number": -1}},
    "a number that no column holds": {"issue": {"number": 10**40}},
    "a repository that is a path": {"repository": {"full_name": "../.."}, "issue": {"number": 1}},
    "no repository": {"repository": None, "issue": {"number": 1}},
}


@pytest.mark.parametrize("fields", WRONG.values(), ids=WRONG)
def test_what_cannot_be_understood_is_unread_with_a_reason(fields: dict[str, Any]) -> None:
    payload = {"action": "labeled", "repository": {"full_name": "a/b"}} | fields
    found = read_event("issues", json.dumps(payload).encode())
    assert isinstance(found, Unread)
    assert found.reason.startswith("issues: ")


_INNER = ("id", "number", "name", "full_name", "login", "type", "body", "title", "state", "labels", "user", "head",
          "base", "sha", "ref", "repo", "from", "repository", "owner", "performed_via_github_app", "updated_at", "app",
          "pull_request", "head_sha", "merged", "path", "line")  # fmt: skip
_OUTER = ("issue", "label", "comment", "pull_request", "review", "check_run", "check_suite", "changes", "installation",
          "repositories", "repositories_added", "sender", "action")  # fmt: skip
_LEAF = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("a" * 40) | st.just([]) | st.just({})
_PART = st.dictionaries(
    st.sampled_from(_INNER), _LEAF | st.dictionaries(st.sampled_from(_INNER), _LEAF, max_size=2), max_size=4
)
_REPOSITORY = st.just({"repository": {"full_name": "a/b"}}) | st.just({})
_PAYLOAD = st.builds(
    lambda repository, parts, action: {"action": action} | parts | repository,
    _REPOSITORY,
    st.dictionaries(st.sampled_from(_OUTER), _PART | _LEAF | st.lists(_PART, max_size=2), max_size=4),
    st.sampled_from(["opened", "labeled", "created", "submitted", "rerequested", "renamed", "edited", "new_word"]),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(event=st.sampled_from([*READERS, "new_event"]), payload=_PAYLOAD)
def test_no_payload_of_the_right_outer_shape_raises(event: str, payload: dict[str, Any]) -> None:
    assert read_intent(read_event(event, json.dumps(payload).encode()), RULES) is not None


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(event=st.sampled_from([*READERS]), body=st.binary(max_size=200))
def test_no_bytes_raise(event: str, body: bytes) -> None:
    assert read_intent(read_event(event, body), RULES) is not None
