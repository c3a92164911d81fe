"""Every example in the documentation is a policy that the gate reads."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gate.canaries.canary import Level
from gate.policy import STEP_KEYS, TOP_KEYS, parse_operator, parse_repository
from gate.proof import ProofVerdict
from tests.gate_runs import GATE, TEST, repository

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
EXAMPLES = re.findall(r"```(toml|json)\n(.*?)```", (DOCS / "policy.md").read_text() + README.read_text(), re.DOTALL)


@pytest.mark.parametrize(("language", "text"), EXAMPLES, ids=[str(n) for n in range(len(EXAMPLES))])
def test_an_example_is_a_policy(language: str, text: str) -> None:
    if language == "toml":
        assert parse_repository(text.encode(), "docs").steps
    else:
        assert "default" in parse_operator(text.encode(), "docs.json")


def test_every_key_of_a_step_is_explained() -> None:
    text = (DOCS / "policy.md").read_text()
    assert [key for key in STEP_KEYS if f"| `{key}` |" not in text] == []


def test_every_table_of_a_policy_has_an_example() -> None:
    tables = {key for language, text in EXAMPLES if language == "toml" for key in tomllib.loads(text)}
    assert [key for key in TOP_KEYS if key not in tables] == []


def test_the_page_of_rules_is_what_the_rules_say() -> None:
    written = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "rules")], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs" / "rules.md").read_text() == written.stdout


def test_the_example_of_a_proof_is_what_it_says(tmp_path: Path) -> None:
    policy, text = re.findall(r"```(?:toml|text)\n(.*?)```", (DOCS / "prove.md").read_text(), re.DOTALL)
    core = "def double(value):\n    return 2 * value\n"
    files = {"app/core.py": core, "legacy/old.py": core, "test_core.py": f"from app import core\n{TEST}"}
    repo = repository(tmp_path, policy, files)
    done = subprocess.run([*GATE, "prove", "--repo", str(repo)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.rpartition("broken: ")[0]) == (1, text), done.stderr


def test_the_page_of_proofs_explains_each_level_and_verdict() -> None:
    page = (DOCS / "prove.md").read_text()
    assert [word for word in (*Level, *ProofVerdict) if f"| `{word}` |" not in page] == []
