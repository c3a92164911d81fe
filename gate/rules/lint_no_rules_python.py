"""A linter of Python is configured to look for nothing."""

from collections.abc import Iterator
from typing import Any

from gate.integrity.configs import PYTHON
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import runs, settings

ID = "lint-no-rules"
SUMMARY = (
    "ruff with `select = []`, or with `ALL` among what it ignores, reads every file and can find nothing.\n"
    'Next: select rules; `["E4", "E7", "E9", "F"]` is what ruff does when it is told nothing.'
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield the settings of each `ruff check` that leave no rule, or none for a pattern that fits every file."""
    told = set[str]()
    for at, run, folder in runs(repo, "ruff"):
        own = settings(repo.tree, PYTHON["ruff"], folder)
        if (
            "check" not in run.argv
            or own is None
            or own.path in told
            or any(w.startswith(("--select", "--extend-select")) for w in run.argv)
        ):
            continue
        lint = own.table.get("lint")
        key = _nothing(dict(own.table) | (lint if isinstance(lint, dict) else {}))
        if key:
            told.add(own.path)
            yield Finding(
                ID, Level.ERROR, f"{at.name}: ruff looks for nothing ({key})", own.path, repo.tree.line_of(own.path, key.split(" ")[0]),
                fix="select rules", reproduce="ruff check --show-settings | grep -A1 linter.rules.enabled",
            )  # fmt: skip


def _nothing(table: dict[str, Any]) -> str:
    if table.get("select") == [] and not table.get("extend-select"):
        return "select = []"
    for key in ("ignore", "extend-ignore"):
        value = table.get(key)
        if isinstance(value, list) and "ALL" in value:
            return f'{key} = ["ALL"]'
    files = table.get("per-file-ignores")
    for pattern, rules in files.items() if isinstance(files, dict) else ():
        if pattern in ("*", "**", "*.py", "**/*.py", "**/*") and isinstance(rules, list) and "ALL" in rules:
            return "per-file-ignores of every file"
    return ""
