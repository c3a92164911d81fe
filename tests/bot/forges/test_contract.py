"""The contract itself: it must see what GitHub would refuse."""

import json
from typing import Any

import pytest

from bot.forges.local.front import Exchange
from tests.contract import Contract
from tests.contract_rules import RULES
from tests.examples import load_examples

HEADERS = {"user-agent": "sluice", "x-github-api-version": "2022-11-28", "authorization": "Bearer ghs_1"}
R = "/repos/acme/app"
SHA = "a" * 40
OK = {"title": "t", "summary": "s"}

REFUSED: list[tuple[str, str, str, Any, str]] = [
    ("POST", f"{R}/issues/1/comments", "", {}, 'body: .: "body" is a required property'),
    ("POST", f"{R}/issues/1/comments", "", {"body": 7}, 'body: body: 7 is not of type "string"'),
    ("POST", f"{R}/issues/1/comments", "", {"body": " "}, "body is blank"),
    ("POST", f"{R}/issues/1/comments", "", {"body": "x" * 65_537}, "body: 65537 characters"),
    ("POST", f"{R}/issues/1/comments", "", {"body": "x", "bdy": "y"}, "body: GitHub knows no field bdy"),
    ("PATCH", f"{R}/issues/comments/9", "", {"body": "x" * 65_537}, "body: 65537 characters"),
    ("GET", f"{R}/issues", "per_page=101", None, "per_page=101 is over 100"),
    ("GET", f"{R}/issues", "state=opened", None, 'query state: .: "opened" is not one of'),
    ("GET", f"{R}/issues", "label=bot", None, "GitHub knows no query parameter label"),
    ("POST", f"{R}/issues/1/labels", "", {"labels": []}, "body: .: {"),
    ("POST", f"{R}/issues/1/labels", "", {"labels": ["x" * 51]}, "is over 50 characters"),
    ("POST", f"{R}/pulls", "", {"head": "a", "base": "b"}, "a pull request needs a title"),
    ("POST", f"{R}/pulls", "", {"head": "a", "base": "b", "title": "x" * 257}, "title: 257 characters"),
    ("PUT", f"{R}/pulls/1/merge", "", {"merge_method": "squash"}, "a merge without sha merges whatever"),
    ("PUT", f"{R}/pulls/1/merge", "", {"sha": "abc1234"}, "sha: abc1234 is not the id of a commit"),
    ("PUT", f"{R}/pulls/1/merge", "", {"sha": SHA, "merge_method": "ff"}, 'body: merge_method: "ff" is not one of'),
    ("POST", f"{R}/check-runs", "", {"name": "g", "head_sha": "main"}, "head_sha: main is not the id of a commit"),
    ("POST", f"{R}/check-runs", "", {"name": "g", "head_sha": SHA, "status": "completed"}, "needs a conclusion"),
    ("POST", f"{R}/check-runs", "", {"name": "g", "head_sha": SHA, "conclusion": "red"}, 'conclusion: "red" is not'),
    ("POST", f"{R}/check-runs", "", {"name": "g", "head_sha": SHA, "status": "queued", "conclusion": "success"},
     "only a completed check run has a conclusion"),
    ("POST", f"{R}/check-runs", "", {"name": "g", "head_sha": SHA, "output": {"title": "", "summary": "s"}},
     "output needs title and summary"),
    ("POST", f"{R}/check-runs", "", {"name": "g", "head_sha": SHA, "output": {**OK, "text": "x" * 65_536}},
     "body: output/text"),
    ("POST", f"{R}/check-runs", "", {"name": "g", "head_sha": SHA, "details_url": "/tickets/1"}, "details_url must start"),
    ("PATCH", f"{R}/check-runs/1", "", {"output": {"summary": "s"}}, "output needs title and summary"),
    ("PATCH", f"{R}/check-runs/1", "", {"head_sha": SHA}, "body: GitHub knows no field head_sha"),
    ("POST", f"{R}/statuses/{SHA}", "", {"state": "green"}, 'body: state: "green" is not one of'),
    ("POST", f"{R}/statuses/{SHA}", "", {"state": "success", "description": "x" * 141}, "over 140 characters"),
    ("GET", f"{R}/nowhere", "", None, "GitHub has no such operation"),
    ("GET", f"{R}/installation", "", None, "an App's JWT is for the App's own operations"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "told"), REFUSED, ids=[f"{row[0]}-{row[4][:40]}" for row in REFUSED]
)
def test_a_request_that_github_would_refuse_is_seen(method: str, path: str, query: str, body: Any, told: str) -> None:
    contract = Contract()
    sent = b"" if body is None else json.dumps(body).encode()
    contract.exchange(Exchange(method, path, query, HEADERS, sent, 404, "application/json", b'{"message":"no"}'))
    assert [told in wrong for wrong in contract.wrong].count(True) >= 1, contract.wrong


@pytest.mark.parametrize("missing", ["user-agent", "x-github-api-version"])
def test_a_header_that_is_missing_is_seen(missing: str) -> None:
    contract = Contract()
    headers = {name: value for name, value in HEADERS.items() if name != missing}
    contract.exchange(Exchange("GET", f"{R}/issues", "", headers, b"", 200, "application/json", b"[]"))
    assert len(contract.wrong) == 1


def test_an_answer_that_github_would_not_give_is_seen() -> None:
    contract = Contract()
    contract.exchange(Exchange("GET", f"{R}/issues/1", "", HEADERS, b"", 200, "application/json", b'{"number":1}'))
    contract.exchange(Exchange("GET", f"{R}/issues/1", "", HEADERS, b"", 418, "application/json", b"{}"))
    assert ["answer 200" in contract.wrong[0], contract.wrong[-1]] == [
        True, "GET /repos/acme/app/issues/1: GitHub does not answer 418 here",
    ]  # fmt: skip


def test_every_rule_says_where_it_is_from() -> None:
    assert [rule.__name__ for rule in RULES if not any(w in (rule.__doc__ or "") for w in ("https://", "422"))] == []


def test_the_examples_are_all_there() -> None:
    sets = {source: len(load_examples(source)) for source in ("api.github.com", "ghes-34", "*")}
    assert sets == {"api.github.com": 329, "ghes-34": 124, "*": 726}
