"""make, npm, pnpm, turbo and shells that start the tools: what ran in the end, and why nothing did."""

from pathlib import Path

import pytest

from gate.report import Evidence
from tests.evidence import run_step, write_tree
from tests.needs import needs

pytestmark = needs("npm", package="npm")

TEST = "import test from 'node:test'\ntest('a', () => {}); test('b', () => {})\n"
WORKSPACE = {
    "package.json": '{"name": "top", "private": true, "workspaces": ["packages/*"], "packageManager": "npm@11.0.0",'
    ' "scripts": {"test": "npm test --workspaces --if-present", "verify": "npm run gone"}}',
    ".npmrc": "package-manager-strict=false\nmanage-package-manager-versions=false\n",
    "pnpm-workspace.yaml": "packages: ['packages/*']\n",
    "package-lock.json": '{"lockfileVersion": 3, "packages": {}}',
    "turbo.json": '{"tasks": {"test": {}, "lint": {}}}',
    "packages/a/package.json": '{"name": "@x/a", "scripts": {"test": "node --test"}}',
    "packages/a/a.test.mjs": TEST,
    "packages/b/package.json": '{"name": "@x/b", "scripts": {"test": "node --test --test-reporter=spec"}}',
    "packages/b/b.test.mjs": TEST.split(";")[0] + "\n",
}
MAKE = {
    "Makefile": "PY ?= python3\nall: check\ncheck: unit ; @echo checked\nunit:\n\tcd sub && $(PY) -m unittest -v\n"
    "tests:\n\t$(PY) -m unittest\n",
    "tests/keep": "",
    "sub/test_a.py": "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n",
    "ci.sh": "#!/usr/bin/env bash\nset -e\n"
    "run_tests() {\n  python3 -m unittest discover -s sub\n  echo done\n}\nrun_tests || exit 1\n",
}
TWO, THREE = Evidence("node --test", 2, None, 0, 0), Evidence("node --test", 3, None, 0, 0)
ONE = Evidence("unittest", 1, None, 0, 0)

RUNS = {
    "npm workspaces": ("npm test", WORKSPACE, 0, THREE),
    "npm workspace": ("npm test -w @x/a", WORKSPACE, 0, TWO),
    "npm, script gone": (
        "npm run gone --if-present",
        WORKSPACE,
        0,
        Evidence(hollow="`npm run gone --if-present` ran nothing that is known: is there such a script?"),
    ),
    "npm, inner script gone": (
        "npm run verify --if-present",
        WORKSPACE,
        1,
        Evidence(hollow='npm ran nothing: Missing script: "gone"'),
    ),
    "pnpm filter": ("pnpm --filter @x/a test", WORKSPACE, 0, TWO),
    "pnpm everywhere": ("pnpm -r test", WORKSPACE, 0, THREE),
    "pnpm filter, typing error": (
        "pnpm --filter @x/typo test",
        WORKSPACE,
        0,
        Evidence(hollow="pnpm ran nothing: No projects matched the filters"),
    ),
    "turbo": ("turbo run test", WORKSPACE, 0, THREE),
    "turbo, task nowhere": (
        "turbo run lint",
        WORKSPACE,
        0,
        Evidence(hollow="turbo executed no task: no package defines it"),
    ),
    "make": ("make", MAKE, 0, ONE),
    "make, a folder in the way": (
        "make tests",
        MAKE,
        0,
        Evidence("unittest", hollow="make ran nothing: 'tests' is up to date"),
    ),
    "a shell file": ("./ci.sh", MAKE, 0, ONE),
    "a shell in a shell": ("bash -eo pipefail -c 'bash ci.sh | tee log'", MAKE, 0, ONE),
    "a branch not taken": ("if [ -e gone ]; then python3 -m unittest; fi", MAKE, 0, Evidence("unittest")),
    "a loop": (
        "for d in sub sub; do (cd $d && python3 -m unittest); done",
        MAKE,
        0,
        Evidence("unittest", 2, None, 0, 0),
    ),
    "something else": ("echo 41 passed", MAKE, 0, Evidence()),
}


@pytest.mark.parametrize(("step", "files", "code", "expected"), RUNS.values(), ids=RUNS)
def test_what_a_runner_started_is_found(
    js_tools: Path, js_project: Path, step: str, files: dict[str, str], code: int, expected: Evidence
) -> None:
    folder = write_tree(js_project, files)
    if "ci.sh" in files:
        (folder / "ci.sh").chmod(0o755)
    environment = {"TURBO_TELEMETRY_DISABLED": "1"}
    assert run_step(step, folder, first=js_tools / "node_modules/.bin", **environment) == (code, expected)
