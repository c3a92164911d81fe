"""Renew the extract of GitHub's own OpenAPI description in tests/data/openapi: the operations and webhooks that we use.

Run `.venv/bin/python scripts/refresh_openapi.py [VERSION]`; needs npm. The same version gives the same bytes.
"""

import json
import lzma
import sys
from pathlib import Path
from typing import Any

from npm_package import unpacked

PACKAGE = "@octokit/openapi"
VERSION = "23.0.2"
TARGET = Path(__file__).parent.parent / "tests/data/openapi"
DESCRIPTIONS = ("api.github.com", "ghes-3.19")
TEXTS = ("description", "example", "examples", "title", "externalDocs", "deprecated", "x-github-breaking-changes")

R = "/repos/{owner}/{repo}"
OPERATIONS = f"""
GET /app
GET /app/hook/config
PATCH /app/hook/config
GET /app/hook/deliveries
GET /app/hook/deliveries/{{delivery_id}}
POST /app/hook/deliveries/{{delivery_id}}/attempts
GET /app/installations
GET /app/installations/{{installation_id}}
POST /app/installations/{{installation_id}}/access_tokens
POST /app-manifests/{{code}}/conversions
GET /installation/repositories
GET /meta
GET /rate_limit
GET /user
GET /users/{{username}}
GET {R}
GET {R}/installation
GET {R}/branches/{{branch}}
GET {R}/check-runs/{{check_run_id}}
POST {R}/check-runs
PATCH {R}/check-runs/{{check_run_id}}
GET {R}/collaborators/{{username}}/permission
GET {R}/commits/{{ref}}/check-runs
GET {R}/commits/{{ref}}/check-suites
GET {R}/commits/{{ref}}/status
GET {R}/compare/{{basehead}}
GET {R}/contents/{{path}}
GET {R}/git/ref/{{ref}}
DELETE {R}/git/refs/{{ref}}
GET {R}/hooks
POST {R}/hooks
PATCH {R}/hooks/{{hook_id}}
GET {R}/hooks/{{hook_id}}/deliveries
GET {R}/hooks/{{hook_id}}/deliveries/{{delivery_id}}
POST {R}/hooks/{{hook_id}}/deliveries/{{delivery_id}}/attempts
POST {R}/hooks/{{hook_id}}/pings
GET {R}/issues
POST {R}/issues
GET {R}/issues/{{issue_number}}
PATCH {R}/issues/{{issue_number}}
GET {R}/issues/{{issue_number}}/comments
POST {R}/issues/{{issue_number}}/comments
GET {R}/issues/{{issue_number}}/dependencies/blocked_by
GET {R}/issues/{{issue_number}}/events
GET {R}/issues/{{issue_number}}/labels
POST {R}/issues/{{issue_number}}/labels
DELETE {R}/issues/{{issue_number}}/labels/{{name}}
POST {R}/issues/{{issue_number}}/reactions
GET {R}/issues/{{issue_number}}/sub_issues
GET {R}/issues/comments/{{comment_id}}
PATCH {R}/issues/comments/{{comment_id}}
DELETE {R}/issues/comments/{{comment_id}}
POST {R}/issues/comments/{{comment_id}}/reactions
GET {R}/labels
POST {R}/labels
GET {R}/pulls
POST {R}/pulls
GET {R}/pulls/{{pull_number}}
PATCH {R}/pulls/{{pull_number}}
GET {R}/pulls/{{pull_number}}/files
PUT {R}/pulls/{{pull_number}}/merge
GET {R}/pulls/{{pull_number}}/reviews
POST {R}/pulls/{{pull_number}}/reviews
GET {R}/pulls/{{pull_number}}/comments
POST {R}/pulls/comments/{{comment_id}}/reactions
POST {R}/statuses/{{sha}}
""".split("\n")
WEBHOOKS = [
    "check-run-completed",
    "check-run-created",
    "check-run-rerequested",
    "check-suite-completed",
    "check-suite-rerequested",
    "installation-created",
    "installation-deleted",
    "installation-repositories-added",
    "issue-comment-created",
    "issue-comment-edited",
    "issue-comment-deleted",
    "issue-dependencies-blocked-by-added",
    "issue-dependencies-blocked-by-removed",
    "issues-closed",
    "issues-deleted",
    "issues-edited",
    "issues-labeled",
    "issues-opened",
    "issues-reopened",
    "issues-unlabeled",
    "ping",
    "pull-request-closed",
    "pull-request-edited",
    "pull-request-labeled",
    "pull-request-opened",
    "pull-request-reopened",
    "pull-request-synchronize",
    "pull-request-review-submitted",
    "pull-request-review-comment-created",
    "sub-issues-sub-issue-added",
    "sub-issues-sub-issue-removed",
]


NEW = frozenset(  # what older Enterprise Servers do not have
    name for name in (*OPERATIONS, *WEBHOOKS) if any(word in name for word in ("dependencies", "sub_issues", "sub-iss"))
)


class Extract:
    """Collects what a description says about some operations, with all that it refers to, as JSON Schema."""

    def __init__(self, whole: dict[str, Any]) -> None:
        self._whole = whole
        self.schemas: dict[str, Any] = {}

    def has(self, name: str) -> bool:
        """Return whether the description knows an operation, or a webhook."""
        return name.partition(" ")[2] in self._whole["paths"] or name in self._whole["x-webhooks"]

    def operation(self, method: str, path: str) -> dict[str, Any]:
        """Return one operation's parameters, body and answers."""
        found = self._whole["paths"][path][method.lower()]
        parameters = [self._follow(p) for p in found.get("parameters", [])]
        body = found.get("requestBody", {})
        return {
            "path": {p["name"]: self._schema(p["schema"]) for p in parameters if p["in"] == "path"},
            "query": {p["name"]: self._schema(p["schema"]) for p in parameters if p["in"] == "query"},
            "body": self._content(body),
            "body_required": bool(body.get("required")),
            "answers": {status: self._content(self._follow(a)) for status, a in found["responses"].items()},
        }

    def webhook(self, name: str) -> Any:
        """Return the schema of a webhook's payload."""
        return self._content(self._whole["x-webhooks"][name]["post"]["requestBody"])

    def _content(self, holder: dict[str, Any]) -> Any:
        content = holder.get("content", {}).get("application/json")
        return None if content is None else self._schema(content.get("schema", {}))

    def _follow(self, thing: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in thing:
            return thing
        _, _, kind, name = thing["$ref"].split("/")
        followed: dict[str, Any] = self._whole["components"][kind][name]
        return followed

    def _schema(self, given: Any) -> Any:
        """Turn a schema of OpenAPI 3.0 into one of JSON Schema."""
        if isinstance(given, list):
            return [self._schema(item) for item in given]
        if not isinstance(given, dict):
            return given
        if "$ref" in given:
            return self._reference(given["$ref"].rsplit("/", 1)[1])
        made = {key: self._keyword(key, value) for key, value in given.items() if key not in (*TEXTS, "nullable")}
        if not given.get("nullable"):
            return made
        if isinstance(made.get("type"), str):
            return {
                **made,
                "type": [made["type"], "null"],
                **({"enum": [*made["enum"], None]} if "enum" in made else {}),
            }
        return {"anyOf": [{"type": "null"}, made]}

    def _keyword(self, key: str, value: Any) -> Any:
        if key == "properties":
            return {name: self._schema(schema) for name, schema in value.items()}
        return value if key in ("enum", "default", "required") else self._schema(value)

    def _reference(self, name: str) -> dict[str, str]:
        if name not in self.schemas:
            self.schemas[name] = {}  # so that a circle ends
            self.schemas[name] = self._schema(self._whole["components"]["schemas"][name])
        return {"$ref": f"#/$defs/{name}"}


def refresh(version: str) -> None:
    """Write one compressed file a description."""
    with unpacked(PACKAGE, version) as package:
        for name in DESCRIPTIONS:
            extract = Extract(json.loads((package / f"generated/{name}.json").read_text()))
            pairs = [line.split(" ", 1) for line in OPERATIONS if line and (line not in NEW or extract.has(line))]
            webhooks = [name for name in WEBHOOKS if name not in NEW or extract.has(name)]
            kept = {
                "source": {"package": PACKAGE, "version": version, "license": "MIT, github.com/octokit/openapi"},
                "operations": {f"{method} {path}": extract.operation(method, path) for method, path in pairs},
                "webhooks": {webhook: extract.webhook(webhook) for webhook in webhooks},
                "schemas": extract.schemas,
            }
            text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
            packed = lzma.compress(text.encode(), preset=9)
            (TARGET / f"{name}.json.xz").write_bytes(packed)
            print(
                f"{name}: {len(pairs)} operations, {len(extract.schemas)} schemas, {len(text)} -> {len(packed)} bytes"
            )


if __name__ == "__main__":
    refresh(sys.argv[1] if len(sys.argv) > 1 else VERSION)
