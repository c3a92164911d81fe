"""Hold requests, answers and events against GitHub's own description, and against rules that it leaves out."""

import json
import lzma
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import jsonschema_rs

from bot.forges.local.front import Exchange
from tests.contract_rules import broken_rules, wrong_mutation

FOLDER = Path(__file__).parent / "data/openapi"
ANYWHERE = {"400", "401", "403", "404", "409", "410", "422", "429", "500", "502", "503"}  # seldom in the description
WIDE = ("path", "ref", "name", "basehead", "branch")  # parts of a path that may hold slashes

# Where the description contradicts GitHub's own answers and its schema of the same thing asked for singly
MISTAKEN = {  # an account that is a user and an enterprise at once; each is one of the two
    ("GET /app/installations", "200"): {"type": "array", "items": {"$ref": "#/$defs/installation"}},
}


class Contract:
    """One description of the API: github.com's or an Enterprise Server's. Keeps what it finds wrong."""

    def __init__(self, name: str = "api.github.com") -> None:
        self._read = read_description(name)
        self.wrong: list[str] = []
        self.seen: set[str] = set()  # operations that were used

    def exchange(self, exchange: Exchange) -> None:
        """Check a request and its answer."""
        if exchange.path == "/graphql":
            self.wrong += wrong_mutation(exchange)
            return
        operation, values = self._find(exchange)
        if not operation:
            self.wrong.append(f"{exchange.method} {exchange.path}: GitHub has no such operation in the extract")
            return
        self.seen.add(operation)
        said = self._read["operations"][operation]
        problems = [*self._request(operation, said, values, exchange), *broken_rules(operation, exchange)]
        if not exchange.is_fault:
            problems += self._answer(operation, said, exchange)
        self.wrong += [f"{exchange.method} {exchange.path}: {problem}" for problem in problems]

    def event(self, name: str, payload: Mapping[str, Any]) -> None:
        """Check the payload of a webhook."""
        webhook = f"{name}-{payload['action']}".replace("_", "-") if "action" in payload else name.replace("_", "-")
        if webhook not in self._read["webhooks"]:
            self.wrong.append(f"{webhook}: GitHub has no such event in the extract")
            return
        self.wrong += self._check("webhooks", webhook, self._read["webhooks"][webhook], dict(payload))

    def _find(self, exchange: Exchange) -> tuple[str, dict[str, str]]:
        path = re.sub(r"^/repositories/\d+/", "/repos/by/number/", exchange.path)  # as links to a next page say it
        for pattern, operation in patterns(self._read["name"]):
            found = pattern.fullmatch(f"{exchange.method} {path}")
            if found:
                return operation, found.groupdict()
        return "", {}

    def _request(
        self, operation: str, said: Mapping[str, Any], values: Mapping[str, str], exchange: Exchange
    ) -> list[str]:
        problems = []
        query = dict(parse_qsl(exchange.query, keep_blank_values=True))
        for kind, given in (("path", values), ("query", query)):
            for name, value in given.items():
                if name not in said[kind]:
                    problems.append(f"GitHub knows no {kind} parameter {name}")
                    continue
                schema = said[kind][name]
                typed = _typed(unquote(value) if kind == "path" else value, schema)
                problems += self._check(operation, f"{kind} {name}", schema, typed)
        if exchange.body:
            body = json.loads(exchange.body)
            if said["body"] is None:
                problems.append("GitHub takes no body here")
            else:
                problems += self._check(operation, "body", said["body"], body)
                problems += [f"body: GitHub knows no field {name}" for name in _unknown(said["body"], body)]
        elif said["body_required"] and not exchange.is_fault:
            problems.append("the body is missing")
        return problems

    def _answer(self, operation: str, said: Mapping[str, Any], exchange: Exchange) -> list[str]:
        status = str(exchange.status)
        if status == "304" or "json" not in exchange.answer_type or "raw" in exchange.answer_type:
            return [] if status in {*said["answers"], *ANYWHERE, "304"} else [f"GitHub does not answer {status} here"]
        answer = json.loads(exchange.answer)
        if status not in said["answers"]:
            is_known = status in ANYWHERE and isinstance(answer.get("message"), str)
            return [] if is_known else [f"GitHub does not answer {status} here"]
        schema = MISTAKEN.get((operation, status), said["answers"][status])
        return [] if schema is None else self._check(operation, f"answer {status}", schema, answer)

    def _check(self, operation: str, part: str, schema: Any, value: Any) -> list[str]:
        validator = validator_of(self._read["name"], operation, part, json.dumps(schema, sort_keys=True))
        return [f"{part}: {_place(error)}: {error.message[:300]}" for error in validator.iter_errors(value)][:5]


def _place(error: jsonschema_rs.ValidationError) -> str:
    return "/".join(str(step) for step in error.instance_path) or "."


def _typed(value: str, schema: Mapping[str, Any]) -> Any:
    """Return a parameter's value as the schema's type."""
    kinds = schema.get("type", "string")
    if "integer" in kinds and re.fullmatch(r"-?\d+", value):
        return int(value)
    if "boolean" in kinds and value in ("true", "false"):
        return value == "true"
    return value


def _unknown(schema: Mapping[str, Any], body: Any) -> list[str]:
    """Return the fields of a body that the schema does not name: misspelt ones, most likely."""
    choices = [schema, *schema.get("oneOf", []), *schema.get("anyOf", [])]
    known = {name for choice in choices for name in choice.get("properties", {})}
    return [name for name in body if name not in known] if isinstance(body, dict) and known else []


@cache
def read_description(name: str) -> dict[str, Any]:
    """Return one extract."""
    return {**json.loads(lzma.decompress((FOLDER / f"{name}.json.xz").read_bytes())), "name": name}


@cache
def patterns(name: str) -> list[tuple[re.Pattern[str], str]]:
    """Return a pattern for each operation, those with the most literal text first."""
    found = []
    for operation in read_description(name)["operations"]:
        parts = re.split(r"\{(\w+)\}", operation)
        text = "".join(
            re.escape(part) if i % 2 == 0 else f"(?P<{part}>{'.+' if part in WIDE else '[^/]+'})"
            for i, part in enumerate(parts)
        )
        found.append((sum(len(part) for part in parts[::2]), re.compile(text), operation))
    return [(pattern, operation) for _, pattern, operation in sorted(found, key=lambda row: -row[0])]


def _is_address(text: str) -> bool:
    """Some of GitHub's own addresses are templates, which its "uri" does not mean to refuse."""
    return re.match(r"(https?|git)://", text) is not None


@cache
def validator_of(name: str, operation: str, part: str, schema: str) -> jsonschema_rs.Draft202012Validator:
    """Return a validator, made once."""
    whole = {"allOf": [json.loads(schema)], "$defs": read_description(name)["schemas"]}
    formats = {"uri": _is_address, "repo.nwo": lambda text: re.fullmatch(r"[\w.-]+/[\w.-]+", text) is not None}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True, formats=formats)
