"""What a step runs in the end, before and after: scripts and recipes that run less, and those that only look different."""

import subprocess
from pathlib import Path

import pytest

from gate.integrity import compare
from gate.policy import parse_repository
from tests.evidence import write_tree

POLICY = '[steps.test]\nrun = "npm test"\n[steps.make]\nrun = "make check"\n[steps.ci]\nrun = "./ci.sh"\n'
BASE = {
    "gate.toml": POLICY,
    "package.json": '{"scripts": {"test": "npm run lint && vitest run", "lint": "eslint ."}}\n',
    "Makefile": "check:\n\tpytest -q\n",
    "ci.sh": "#!/bin/sh\ncargo test\n",
    "src/a.py": "",
}
TEST = BASE["package.json"]

CASES = {
    "a script that only talks": (
        {"package.json": TEST.replace("npm run lint && vitest run", "echo 41 passed")},
        ["step-runs-less"],
    ),
    "a test that is left out": ({"package.json": TEST.replace(" && vitest run", "")}, ["step-runs-less"]),
    "a linter that is left out": ({"package.json": TEST.replace("npm run lint && ", "")}, ["step-runs-less"]),
    "a test that runs sometimes": (
        {"package.json": TEST.replace("&& vitest run", "&& (test -e x || vitest run)")},
        ["step-runs-less"],
    ),
    "a narrower test": ({"package.json": TEST.replace("vitest run", "vitest run -t smoke")}, ["step-narrowed"]),
    "a narrower recipe": ({"Makefile": "check:\n\tpytest -q --ignore=tests/slow\n"}, ["step-narrowed"]),
    "a recipe that is empty": ({"Makefile": "check:\n\t@touch $@\n"}, ["step-runs-less"]),
    "a shell file that leaves early": ({"ci.sh": "#!/bin/sh\n# cargo test\n"}, ["step-runs-less"]),
    "another runner": ({"package.json": TEST.replace("vitest run", "jest --ci")}, []),
    "another name": (
        {"package.json": '{"scripts": {"test": "run-s check:*", "check:a": "eslint .", "check:b": "vitest run"}}\n'},
        [],
    ),
    "a linter that another step runs": (
        {"package.json": TEST.replace("npm run lint && ", ""), "Makefile": "check:\n\teslint .\n\tpytest -q\n"},
        [],
    ),
    "more": ({"Makefile": "check: types\n\tpytest -q -x\ntypes:\n\tmypy .\n"}, []),
    "other files": ({"src/a.py": "x = 1\n"}, []),
}


@pytest.mark.parametrize(("changes", "rules"), CASES.values(), ids=CASES)
def test_a_step_that_runs_less_is_found(tmp_path: Path, changes: dict[str, str], rules: list[str]) -> None:
    repo = write_tree(tmp_path / "repo", BASE)
    (repo / "ci.sh").chmod(0o755)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *command], cwd=repo, check=True)
    write_tree(repo, changes)
    base = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True)
    found = compare(repo, base.stdout.strip(), parse_repository(POLICY.encode(), "gate.toml"))
    assert [f.rule for f in found] == rules
