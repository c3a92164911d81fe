"""What GitHub refuses and its description does not say; each rule with where GitHub says it."""

import json
import re
from collections.abc import Callable
from typing import Any

from bot.forges.local.front import Exchange

SHA = re.compile(r"[0-9a-f]{40}")
TEXT_LENGTH = 65_536
Rule = Callable[[str, Exchange, dict[str, Any]], str | None]


def says_who_it_is(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent"""
    return None if exchange.headers.get("user-agent") else "GitHub refuses requests without a User-Agent"


def names_a_version_of_the_api(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """https://docs.github.com/rest/about-the-rest-api/api-versions"""
    version = exchange.headers.get("x-github-api-version")
    return None if version == "2022-11-28" else f"x-github-api-version: {version}"


def signs_in(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """https://docs.github.com/rest/authentication/authenticating-to-the-rest-api"""
    if operation.endswith("/conversions"):
        return None  # there is no App yet
    is_jwt = exchange.headers.get("authorization", "").count(".") == 2
    wants_jwt = operation.split(" ")[1].startswith("/app/") or operation.endswith("/installation")
    return None if is_jwt == wants_jwt or operation == "GET /app" else "an App's JWT is for the App's own operations"


def pages_are_small(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api"""
    found = re.search(r"per_page=(\d+)", exchange.query)
    return f"per_page={found[1]} is over 100" if found and int(found[1]) > 100 else None


def texts_have_an_end(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """The answer to a longer one is: 422 "body is too long (maximum is 65536 characters)"."""
    text = body.get("body")
    return f"body: {len(text)} characters" if isinstance(text, str) and len(text) > TEXT_LENGTH else None


def comments_say_something(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """The answer to an empty one is: 422 "Body cannot be blank"."""
    is_comment = operation.endswith(("issue_number}/comments", "comments/{comment_id}")) and exchange.body
    return "body is blank" if is_comment and not str(body.get("body", "")).strip() else None


def titles_are_short(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """The answer to a longer one is: 422 "title is too long (maximum is 256 characters)"."""
    title = body.get("title")
    if operation.startswith("POST") and operation.endswith("/pulls") and not title and "issue" not in body:
        return "a pull request needs a title"
    return f"title: {len(title)} characters" if isinstance(title, str) and len(title) > 256 else None


def labels_are_short(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """The answer to a longer one is: 422 "name is too long (maximum is 50 characters)"."""
    long = [name for name in body.get("labels", []) if isinstance(name, str) and len(name) > 50]
    return f"labels: {long[0]} is over 50 characters" if long else None


def a_check_is_whole(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """https://docs.github.com/rest/checks/runs: conclusion with completed, title and summary with output."""
    if "/check-runs" not in operation or not body:
        return None
    output = body.get("output")
    if body.get("status") == "completed" and "conclusion" not in body:
        return "a completed check run needs a conclusion"
    if "conclusion" in body and body.get("status", "completed") != "completed":
        return "only a completed check run has a conclusion"
    if output is not None and not (output.get("title") and output.get("summary")):
        return "output needs title and summary"
    if "details_url" in body and not re.match(r"https?://", body["details_url"]):
        return "details_url must start with http:// or https://"
    return None


def commits_are_named_in_full(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """A short one answers 422, or merges something else."""
    for name in ("head_sha", "sha"):
        if name in body and not SHA.fullmatch(str(body[name])):
            return f"{name}: {body[name]} is not the id of a commit"
    is_blind = operation.endswith("/merge") and "sha" not in body
    return "a merge without sha merges whatever is there by then" if is_blind else None


def a_status_is_short(operation: str, exchange: Exchange, body: dict[str, Any]) -> str | None:
    """The answer to a longer one is: 422 "description is too long (maximum is 140 characters)"."""
    long = "/statuses/" in operation and len(body.get("description") or "") > 140
    return "description: over 140 characters" if long else None


RULES: tuple[Rule, ...] = (
    says_who_it_is, names_a_version_of_the_api, signs_in, pages_are_small, texts_have_an_end, comments_say_something,
    titles_are_short, labels_are_short, a_check_is_whole, commits_are_named_in_full, a_status_is_short,
)  # fmt: skip


def broken_rules(operation: str, exchange: Exchange) -> list[str]:
    """Return what is wrong with a request."""
    body = json.loads(exchange.body) if exchange.body else {}
    given = body if isinstance(body, dict) else {}
    return [problem for rule in RULES if (problem := rule(operation, exchange, given))]


def wrong_mutation(exchange: Exchange) -> list[str]:
    """https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge, #disablepullrequestautomerge"""
    asked = json.loads(exchange.body)
    given, query = asked.get("variables", {}), str(asked.get("query"))
    typed = str(given.get("pull")).startswith("PR_")
    if "enablePullRequestAutoMerge(input: {" in query:  # without expectedHeadOid it merges whatever is there by then
        typed = typed and "expectedHeadOid: $head" in query and set(given) == {"pull", "head", "method"}
        typed = typed and bool(SHA.fullmatch(given["head"])) and given["method"] in ("MERGE", "SQUASH", "REBASE")
    else:
        typed = typed and "disablePullRequestAutoMerge(input: {" in query and set(given) == {"pull"}
    return [] if set(asked) == {"query", "variables"} and typed else [f"GitHub would not understand {asked}"]
