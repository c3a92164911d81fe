"""Every example in the documentation is a policy that the gate reads."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gate.policy import STEP_KEYS, TOP_KEYS, parse_operator, parse_repository

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
