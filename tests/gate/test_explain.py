"""Every verdict and every rule can be asked for."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.canaries.canary import Level
from gate.errors import UsageError
from gate.explain import explain
from gate.report import Verdict

FOLDER = Path(__file__).parents[2] / "gate"
RULE = re.compile(r"\"((?:[a-z0-9]+-)+(?:added|broken|changed|count-dropped|dropped|emptied|error|errors|excluded|expired|false|fewer|flag"
                  r"|focused|hook|large|less|loosened|lowered|missing|moved|narrowed|off|outside|path|removed|shadowed|silenced|skipped"
                  r"|swallowed|tests|unreadable|workflow|zero))\"")  # fmt: skip
ERROR = re.compile(r'UsageError\(\s*f?"([a-z]+(?:-[a-z]+)+): ')


def printed() -> Iterator[str]:
    """Yield each id that the code gives to a finding, or that an error begins with."""
    for path in FOLDER.rglob("*.py"):
        text = path.read_text()
        yield from ERROR.findall(text)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Finding", "error", "_finding"):
                given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "rule")]
                chosen = [part for g in given for part in ([g.body, g.orelse] if isinstance(g, ast.IfExp) else [g])]
                yield from (c.value for c in chosen if isinstance(c, ast.Constant) and isinstance(c.value, str))


RULES = sorted(
    {
        rule
        for path in (*FOLDER.glob("integrity/*.py"), FOLDER / "judge.py", FOLDER / "movement.py")
        for rule in RULE.findall(path.read_text())
        if not path.name.startswith(("config_values", "options")) or rule in ("rule-off", "source-excluded")
    }
    | set(printed())
)


WORDS = ["seen", "unseen", "unsettled", "untried", "canary", "control", "level", *Level]


@pytest.mark.parametrize("word", [*Verdict, *RULES, *WORDS])
def test_a_verdict_or_rule_is_explained(word: str) -> None:
    assert explain(word).startswith(f"{word} (") or explain(word).startswith(f"{word}:")


def test_a_misspelt_rule_gets_a_hint() -> None:
    with pytest.raises(UsageError, match="did you mean tests-removed"):
        explain("test-removed-x")
