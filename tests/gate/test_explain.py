"""Every verdict and every rule can be asked for."""

import re
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.explain import explain
from gate.report import Verdict

FOLDER = Path(__file__).parents[2] / "gate"
RULE = re.compile(r"\"((?:[a-z0-9]+-)+(?:added|broken|changed|count-dropped|dropped|emptied|error|errors|excluded|expired|false|fewer|flag"
                  r"|focused|hook|large|less|loosened|lowered|missing|moved|narrowed|off|outside|path|removed|shadowed|silenced|skipped"
                  r"|swallowed|tests|unreadable|workflow|zero))\"")  # fmt: skip
RULES = sorted(
    {
        rule
        for path in (*FOLDER.glob("integrity/*.py"), FOLDER / "judge.py", FOLDER / "movement.py")
        for rule in RULE.findall(path.read_text())
        if not path.name.startswith(("config_values", "options")) or rule in ("rule-off", "source-excluded")
    }
)


@pytest.mark.parametrize("word", [*Verdict, *RULES])
def test_a_verdict_or_rule_is_explained(word: str) -> None:
    assert explain(word).startswith(f"{word} (") or explain(word).startswith(f"{word}:")


def test_a_misspelt_rule_gets_a_hint() -> None:
    with pytest.raises(UsageError, match="did you mean tests-removed"):
        explain("test-removed-x")
