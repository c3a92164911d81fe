"""Odd data in a repository is nothing that can be said, never a fault of the gate."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.audit import audit
from gate.init import propose
from gate.policy import Policy
from gate.strangers import json_of, toml_of, yaml_of
from tests.gate.rules.samples import TODAY, write

BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
ODD = {
    "json, deep": (json_of, "[" * 100_000),
    "json, cut off": (json_of, '{"a":'),
    "toml, deep": (toml_of, "a = " + "[" * 50_000),
    "toml, a line": (toml_of, "a"),
    "yaml, deep": (yaml_of, "[" * 5_000),
    "yaml, a bomb": (yaml_of, BOMB),
    "yaml, a circle": (yaml_of, "a: &a [*a]"),
    "yaml, a key that is a list": (yaml_of, "? [a]\n: b"),
    "yaml, no time": (yaml_of, "a: !!timestamp x"),
    "yaml, no truth": (yaml_of, "a: !!bool x"),
    "yaml, no number": (yaml_of, 'a: !!int ""'),
    "yaml, no day": (yaml_of, "a: 2026-99-99"),
    "yaml, a program": (yaml_of, "a: !!python/object/apply:os.getcwd []"),
}


@pytest.mark.parametrize(("read", "text"), ODD.values(), ids=ODD)
def test_what_cannot_be_read_is_nothing(read: Callable[[str], Any], text: str) -> None:
    assert read(text) is None


def test_aliases_that_stay_small_are_read() -> None:
    assert yaml_of("a: &a [1, 2]\nb: [*a, *a]\n") == {"a": [1, 2], "b": [[1, 2], [1, 2]]}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", "[" * 100_000),
        ("pyproject.toml", "tool = 5\nproject = []"),
        ("pyproject.toml", "a = " + "[" * 50_000),
        (".github/workflows/ci.yml", "on: push\njobs: {a: {needs: [5, [a], {x: y}], steps: [{run: pytest}]}}"),
        (".github/workflows/ci.yml", "a: !!timestamp x"),
        (".github/workflows/ci.yml", BOMB),
    ],
    ids=["json, deep", "toml, other types", "toml, deep", "needs, other types", "yaml, no time", "yaml, a bomb"],
)
def test_odd_files_stop_neither_the_audit_nor_the_proposal(tmp_path: Path, path: str, text: str) -> None:
    root = write(tmp_path, {path: text})
    found = audit(root, Policy(), today=TODAY)
    assert (propose(root).render() != "", [f.rule for f in found.findings][:1]) == (True, ["no-policy"])
