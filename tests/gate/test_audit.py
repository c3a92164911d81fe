"""The audit as a whole: its exit codes, waivers, formats, and what it does with files that cannot be read."""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema_rs
import junitparser
import pytest

from gate.audit import audit
from gate.policy import parse_repository
from gate.render.audit import render_audit
from tests.gate.rules.samples import policy, write
from tests.gate.test_render import SCHEMA

GOOD = {"gate.toml": policy(test="python3 -m unittest"), "test_a.py": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self) -> None:\n        self.assertEqual([], list())\n"}  # fmt: skip
FIXER = {**GOOD, "gate.toml": policy(lint="ruff check --fix-only .", test="python3 -m unittest")}
WAIVER = '\n[[waivers]]\nrule = "fixer-in-gate"\nreason = "being moved"\nexpires = {}\n'


def gate(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gate", "audit", "--repo", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_repository_without_blind_spots_is_clean(tmp_path: Path) -> None:
    done = gate(write(tmp_path, GOOD))
    assert (done.returncode, done.stdout.splitlines()[-1].startswith("CLEAN  "), done.stderr) == (0, True, "")


FOUND = """\
error fixer-in-gate: gate.toml:2: lint: `ruff --fix-only` mends the checkout and succeeds
  mend: let ruff report only: without --fix-only
  see it: ruff check --fix-only .; echo $?; git diff --stat

"""


@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("warning", 1), ("never", 0)])
def test_a_finding_says_where_what_and_how_to_mend_it(tmp_path: Path, fail_on: str, code: int) -> None:
    done = gate(write(tmp_path, FIXER), "--fail-on", fail_on)
    assert (done.returncode, done.stdout.startswith(FOUND), "FINDINGS  " in done.stdout) == (code, True, True)


@pytest.mark.parametrize(
    ("expires", "code", "said"),
    [
        ("2999-01-01", 0, "note fixer-in-gate: gate.toml:2: lint: `ruff --fix-only` mends the checkout and succeeds (waived until 2999-01-01: being moved)"),
        ("2020-01-01", 1, "error waiver-expired: gate.toml: the waiver of fixer-in-gate expired on 2020-01-01: being moved"),
    ],
)  # fmt: skip
def test_a_waiver_excuses_until_its_day_and_is_always_told(tmp_path: Path, expires: str, code: int, said: str) -> None:
    done = gate(write(tmp_path, {**FIXER, "gate.toml": FIXER["gate.toml"] + WAIVER.format(expires)}))
    assert (done.returncode, said in done.stdout.splitlines()) == (code, True)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (".github/workflows/a.yml", "on: [\n", ".github/workflows/a.yml: could not be read, so nothing is known of it: expected YAML: "),
        ("gate.toml", "steps = 3", "gate.toml: could not be read, so nothing is known of it: steps: expected a table, got "),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_never_no_problems(tmp_path: Path, name: str, text: str, said: str) -> None:
    done = gate(write(tmp_path, {**GOOD, name: text}), "--fail-on", "never")
    assert (done.returncode, f"error unread: {said}" in done.stdout) == (2, True)


def test_an_operators_policy_that_is_not_there_is_an_error_of_the_command(tmp_path: Path) -> None:
    done = gate(write(tmp_path, GOOD), "--policy", "/nonexistent.json")
    said = "gate: /nonexistent.json: expected a policy file, got: No such file or directory\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_folder_that_is_no_worktree_is_an_error_and_never_no_files(tmp_path: Path) -> None:
    done = gate(tmp_path)
    assert (done.returncode, "not-a-worktree" in done.stderr, done.stdout) == (2, True, "")


@pytest.fixture
def hostile(tmp_path: Path) -> Any:
    files = {**FIXER, ".github/workflows/x\n::error::y\x1b[2J|@z.yml": "on: [\n"}
    root = write(tmp_path, files)
    return audit(root, parse_repository(files["gate.toml"].encode(), "gate.toml"), today=date(2026, 1, 1))


def test_json_keeps_to_its_schema(hostile: Any) -> None:
    found = json.loads(render_audit(hostile, "json"))
    assert (found["schema"], [f["rule"] for f in found["findings"]], len(found["unread"])) == (
        "gate.audit/1", ["fixer-in-gate"], 1,
    )  # fmt: skip
    assert {"rule", "level", "path", "line", "message", "files", "count", "fix"} <= found["findings"][0].keys()


def test_sarif_is_valid(hostile: Any) -> None:
    assert jsonschema_rs.is_valid(SCHEMA, json.loads(render_audit(hostile, "sarif")))


def test_junit_is_read_by_a_reader_of_junit(hostile: Any) -> None:
    suite = junitparser.JUnitXml.fromstring(render_audit(hostile, "junit").encode("utf-8", "backslashreplace"))
    assert (suite.tests, suite.failures) == (3, 2)


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_no_name_of_a_file_speaks_to_a_terminal_or_a_runner(hostile: Any, form: str) -> None:
    text = render_audit(hostile, form)
    commands = [line for line in text.splitlines() if line.startswith("::")]
    assert ("\x1b" in text, len(commands)) == (False, 2 if form == "github" else 0)
