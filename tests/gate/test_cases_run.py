"""Ways in which checks were green and nothing had run, and their near misses, as whole runs in real projects."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence import write_tree
from tests.needs import needs

pytestmark = [needs("npm", package="npm"), pytest.mark.slow(seconds=0.8)]

GATE = [sys.executable, "-I", str(Path(__file__).parents[2] / "gate" / "__main__.py"), "run", "--format", "json"]
PASSED_ON = ("PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME")

UNIT = "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n"
JEST = {"a.test.js": "test('a', () => {})\n", "package.json": "{}"}
VITEST = {"a.test.mjs": "import {test} from 'vitest'; test('a', () => {})\n"}
MOCHA = {"test/a.js": "it('a', () => {})\n", "test/none/b.js": "", "package.json": "{}"}
NODE = {
    "a.test.mjs": "import test from 'node:test'; test('a', () => {})\n",
    "todo.mjs": "import test from 'node:test'; test('a', {todo: true}, () => { throw 1 })\n",
    "none.test.mjs": "",
}
TSC = {
    "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
    "tsconfig.app.json": '{"include": ["src"], "compilerOptions": {"composite": true, "outDir": "out", "lib": ["es5"], "types": []}}',
    "src/a.ts": "export const a: number = 1\n",
}
WORKSPACE = {
    "package.json": '{"name": "top", "private": true, "workspaces": ["a"], "packageManager": "npm@11.0.0",'
    ' "scripts": {"verify": "npm run gone"}}',
    ".npmrc": "package-manager-strict=false\nmanage-package-manager-versions=false\n",
    "pnpm-workspace.yaml": "packages: ['a']\n",
    "package-lock.json": '{"lockfileVersion": 3, "packages": {}}',
    "turbo.json": '{"tasks": {"test": {}, "lint": {}}}',
    "a/package.json": '{"name": "@x/a", "scripts": {"test": "node --test"}}',
    "a/a.test.mjs": NODE["a.test.mjs"],
}
ESLINT_TS = {"eslint.config.mjs": "export default [{rules: {'no-undef': 2}}]\n", "a.ts": "export const a = 1\n"}
PYTEST = {
    "test_a.py": "def test_a(): pass\n",
    "idle/test_b.py": "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n"
    "@pytest.mark.xfail\ndef test_b(): assert 0\n@pytest.mark.xfail\ndef test_c(): pass\n",
    "later/test_c.py": "async def test_a(): assert 0\n",
    "empty/a.py": "",
}
GO = {
    "go.mod": "module x\n\ngo 1.19\n",
    "a_test.go": 'package x\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
    "tagged/b_test.go": '//go:build integration\n\npackage b\n\nimport "testing"\n\nfunc TestB(t *testing.T) {}\n',
    "tagged/b.go": "package b\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n[lib]\ndoctest = false\n'
    '[[test]]\nname = "own"\nharness = false\n',
    "src/lib.rs": "#[test]\n#[ignore]\nfn a() {}\n#[test]\nfn b() {}\n",
    "tests/own.rs": "fn main() {}\n#[test]\nfn never() {}\n",
}
MAKE = {"Makefile": "test:\n\tpython3 -m unittest\nunit:\n\tpython3 -m unittest\n", "test/x": "", "test_a.py": UNIT}
HOOKS = {
    ".pre-commit-config.yaml": "repos: [{repo: local, hooks: [{id: a, name: a, entry: 'true', language: system}]}]"
}
CI = "set -e\nrun_tests() {\n  python3 -m unittest\n  echo done\n}\nrun_tests || exit 1\n"
LINTED = {"a.py": "import os\nx: int = 'a'\n", "a.ts": "export const a: number = 'a'\n", "b.js": "b()\n"}
LINTED |= {"eslint.config.mjs": "export default [{rules: {'no-undef': 2}}]\n"}
DROPPED = "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.fail()\n"
DROPPED += (
    "if __name__ == '__main__':\n  unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))\n"
)
WRAPPER = "import os, signal, subprocess as s\nprint('task a: exited (%d)' % s.call(['sh', '-c', 'kill -9 $$']))\n"
NOTES = {"Foo.md": "---\naliases: [Foozle]\n---\n# Head\ntext ^block\n", "img.png": "", "Templates/T.md": "t\n"}
QUIET = "[[Foo.md]] [[Foo|alias]] [[Foo#Head]] [[Foo#^block]] ![[img.png]] [[Foozle]] `[[Gone]]` [[T]] [[fOO]] [x](Foo.md)\n"
QUIET += "```\n[[Gone]]\n```\n| a |\n|---|\n| [[Foo\\|a]] |\n"
# Nx 24.0.6: `nx affected -t test --base=HEAD`; Gradle 8, plain console; .NET 8; Swift 6
RECORDED = {
    "bin/nx": "\n NX   No tasks were run\n\n",
    "gradlew": "> Task :compileTestJava NO-SOURCE\n> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n",
    "bin/dotnet": "No test is available in /src/bin/A.dll. Make sure that test discoverer & executors are registered\n",
    "bin/swift": "Test Suite 'All tests' passed\n\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.001) seconds\n"
    "✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.\n",
    "package.json": '{"workspaces": ["a"]}',
    "a/package.json": '{"name": "a", "scripts": {"test": "node --test"}}',
}
RECORDED = {
    name: f"#!/usr/bin/env python3\nprint({text!r})\n" if "json" not in name else text
    for name, text in RECORDED.items()
}
STAND_IN = "chmod +x gradlew bin/*; PATH=$PWD/bin:$PATH; "
# diff-cover 11.0.1, over a report that knows no line of the change
DIFF_COVER = (
    "c() { git -c user.name=a -c user.email=a@b commit -qm x --allow-empty; }; c; git add *.*; c; diff-cover() { printf '%s\\n' ------------- "
    "'Diff Coverage' 'Diff: HEAD~1...HEAD, staged and unstaged changes' ------------- "
    "'No lines with coverage information in this diff.' -------------; }; diff-cover coverage.xml"
)
COMMITTED = "git -c user.name=a -c user.email=a@b commit -qm x && "
TOX = "chmod +x bin/tox; PATH=$PWD/bin:$PATH; tox"


def tox(command: str, files: dict[str, str]) -> dict[str, str]:
    """Return a project whose tox ignores how its one command ends, as with `commands = - ...`; lines of tox 4.67."""
    ignores = "echo 'py: command failed but is marked ignore outcome so handling it as success'"
    ends = "echo '  py: OK (0.10 seconds)'; echo '  congratulations :) (0.11 seconds)'"
    config = f"[tox]\nno_package = true\n[testenv]\n{command and f'commands = - {command}'}\n"
    return files | {"tox.ini": config, "bin/tox": f"#!/bin/sh\n{command or 'true'} || {ignores}\n{ends}\n"}


CASES = {
    "A1 no script": ("npm test --if-present", {"package.json": "{}"}, "HOLLOW"),
    "A3 inner script missing": ("npm run verify --if-present", WORKSPACE, "RED"),
    "A4 filter matches nothing": ("pnpm --filter @x/typo test", WORKSPACE, "HOLLOW"),
    "A4 twin": ("pnpm --filter @x/a --fail-if-no-match test", WORKSPACE, "GREEN"),
    "A4 twin, no match": ("pnpm --filter @x/typo --fail-if-no-match test", WORKSPACE, "RED"),
    "A6 task nowhere": ("turbo run lint", WORKSPACE, "HOLLOW"),
    "A6 twin": ("turbo run test", WORKSPACE, "GREEN"),
    "A7 child killed": ("python3 -m unittest; echo 'task a: exited (-1)'", {"test_a.py": UNIT}, "RED"),
    "A11 no tests allowed": ("jest --passWithNoTests gone", JEST, "HOLLOW"),
    "A11 twin": ("jest --passWithNoTests", JEST, "GREEN"),
    "A15 vitest name": ("vitest run -t smoke", VITEST, "HOLLOW"),
    "A15 jest name": ("jest -t smoke", JEST, "HOLLOW"),
    "A15 twin": ("vitest run -t a", VITEST, "GREEN"),
    "A17 mocha name": ("mocha -g nomatch", MOCHA, "HOLLOW"),
    "A17 mocha file without tests": ("mocha test/none", MOCHA, "HOLLOW"),
    "A17 twin": ("mocha", MOCHA, "GREEN"),
    "A17 twin, fails by itself": ("mocha --fail-zero -g nomatch", MOCHA, "RED"),
    "A19 node todo": ("node --test todo.mjs", NODE, "HOLLOW"),
    "A19 node name": ("node --test --test-name-pattern=zzz a.test.mjs", NODE, "HOLLOW"),
    "A19 twin": ("node --test a.test.mjs", NODE, "GREEN"),
    "A22 spec without tests": ("node --test none.test.mjs", NODE, "HOLLOW"),
    "A23 solution file": ("tsc --noEmit", TSC, "HOLLOW"),
    "A23 twin, project": ("tsc --noEmit -p tsconfig.app.json", TSC, "GREEN"),
    "A30 other extension": ("eslint .", ESLINT_TS, "HOLLOW"),
    "A30 twin": ("eslint .", ESLINT_TS | {"b.js": "export const b = 1\n"}, "GREEN"),
    "B1 exit 5 swallowed": ("pytest empty || [ $? -eq 5 ]", PYTEST, "HOLLOW"),
    "B2 none collected": ("pytest empty", PYTEST, "HOLLOW"),
    "B7 none executed": ("pytest idle", PYTEST, "HOLLOW"),
    "B7 twin": ("pytest test_a.py", PYTEST, "GREEN"),
    "B8 async without plugin": ("pytest later", PYTEST, "RED"),
    "B13 tox without a command": (TOX, tox("", {}), "HOLLOW"),
    "B13 tox ignores a failure": (
        TOX,
        tox("python3 -m unittest", {"test_a.py": UNIT.replace("pass", "self.fail()")}),
        "RED",
    ),
    "B13 tox finds no test": (TOX, tox("pytest empty", PYTEST), "HOLLOW"),
    "B13 twin": (TOX, tox("python3 -m unittest", {"test_a.py": UNIT}), "GREEN"),
    "D18 no workflow": ("", {"a.py": ""}, "UNGATED"),
    "D18 none for pull requests": (
        "",
        {
            ".github/workflows/a.yml": "on: {schedule: [{cron: '0 0 * * *'}]}\njobs: {a: {runs-on: x, steps: [{run: pytest}]}}\n"
        }
        | PYTEST,
        "UNGATED",
    ),
    "C1 behind a tag": ("go test ./tagged", GO, "HOLLOW"),
    "C1 twin": ("go test -tags integration ./tagged", GO, "GREEN"),
    "C2 go name": ("go test -run '^TestGone$' ./...", GO, "HOLLOW"),
    "C2 twin": ("go test ./...", GO, "GREEN"),
    "C8 no harness": ("cargo test --offline --test own", RUST, "HOLLOW"),
    "C8 all ignored": ("cargo test --offline --lib a", RUST, "HOLLOW"),
    "C8 twin": ("cargo test --offline", RUST, "GREEN"),
    "E1 errexit suspended": ("bash ci.sh", {"ci.sh": CI, "test_a.py": UNIT.replace("pass", "self.fail()")}, "RED"),
    "E1 twin": ("bash ci.sh", {"ci.sh": CI, "test_a.py": UNIT}, "GREEN"),
    "E1 branch not taken": ("if [ -e gone ]; then python3 -m unittest; fi", {"test_a.py": UNIT}, "HOLLOW"),
    "E4 make up to date": ("make test", MAKE, "HOLLOW"),
    "E4 twin": ("make unit", MAKE, "GREEN"),
    "E8 hooks without files": ("git add -A && " + COMMITTED + "pre-commit run", HOOKS, "HOLLOW"),
    "E8 twin": ("git add -A && pre-commit run --all-files", HOOKS, "GREEN"),
    "E11 nothing measured": (DIFF_COVER, {"a.py": "x = 1\n"}, "RED"),
    "E11 twin": (DIFF_COVER, {"README.md": "words\n"}, "GREEN"),
    "E16 linter without files": ("ruff check --exclude '*.py'", PYTEST, "HOLLOW"),
    "E16 twin": ("ruff check test_a.py", PYTEST, "GREEN"),
    "A1 no policy": ("", {"package.json": "{}", ".github/workflows/ci.yml": "on: push\n"}, "UNGATED"),
    "A1 twin": ("npm test --if-present", {"package.json": '{"scripts": {"test": "node --test"}}'} | NODE, "GREEN"),
    "A7 child killed, really": ("python3 wrap.py", {"wrap.py": WRAPPER}, "RED"),
    "A8 nothing affected": (STAND_IN + "nx affected -t test --base=HEAD", RECORDED, "HOLLOW"),
    "A10 no script of that name": (
        "npm run check",
        {"package.json": '{"scripts": {"check": "run-s \'lint:*\'"}}'},
        "RED",
    ),
    "A12 no tests allowed in a file": (
        "jest",
        {
            "package.json": "{}",
            "jest.config.js": "module.exports = {...require('./base')}\n",
            "base.js": "module.exports = {passWithNoTests: true, testMatch: ['**/*.test.js']}\n",
            "spec/a.spec.ts": "",
        },
        "HOLLOW",
    ),
    "A16 jest changed": ("git add -A && " + COMMITTED + "jest --onlyChanged", JEST, "HOLLOW"),
    "A16 staged only": (
        "echo '→ lint-staged could not find any staged files.' >o; function lint-staged { cat o; }; lint-staged",
        {},
        "HOLLOW",
    ),
    "A19 node none": ("mkdir e; cd e; node --test", {}, "HOLLOW"),
    "A19 node skipped": (
        "node --test s.mjs",
        {"s.mjs": "import {test} from 'node:test'; test.skip('a', () => {})\n"},
        "HOLLOW",
    ),
    "A32 no rules": ("eslint .", {"eslint.config.mjs": "export default []\n", "a.js": ""}, "HOLLOW"),
    "B1 make": ("make t", {"Makefile": "t:\n\tpytest empty; [ $$? -eq 5 ] || exit 1\n"} | PYTEST, "HOLLOW"),
    "B5 twin": (
        "pytest",
        {"pytest.ini": "[pytest]\ntestpaths = nosuch\n", "test_a.py": "def test_a(): pass\n"},
        "GREEN",
    ),
    "B11 result dropped": ("python3 test_a.py", {"test_a.py": DROPPED}, "RED"),
    "B18 no rules": ("ruff check", {"ruff.toml": "[lint]\nselect = []\n"} | LINTED, "HOLLOW"),
    "B18 exit zero": ("ruff check --exit-zero", LINTED, "RED"),
    "B20 module skipped": (
        "pytest",
        {"test_a.py": "import pytest\npytest.importorskip('gone')\ndef test_a(): pass\n"},
        "HOLLOW",
    ),
    "mypy swallowed": ("mypy a.py || true", LINTED, "RED"),
    "eslint swallowed": ("eslint b.js || true", LINTED, "RED"),
    "C5 lister": ("gofmt -l .", GO, "HOLLOW"),
    "C12 no source": ("chmod +x gradlew; ./gradlew test", RECORDED, "HOLLOW"),
    "C13 no test": (STAND_IN + "dotnet test", RECORDED, "HOLLOW"),
    "C15 no tests": (
        "cmake -S . -B b && ctest --test-dir b",
        {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nadd_test(NAME a COMMAND true)\n"},
        "HOLLOW",
    ),
    "C15 twin": (
        "cmake -S . -B b && ctest --test-dir b",
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nenable_testing()\nadd_test(NAME a COMMAND true)\n"
        },
        "GREEN",
    ),
    "C17 other suffix": ("phpunit tests", {"tests/AT.php": "<?php\n"}, "HOLLOW"),
    "C18 executed none": (STAND_IN + "swift test", RECORDED, "HOLLOW"),
    "E3 checker missing": ("command -v gone-checker && gone-checker . || echo 'not installed'", {}, "HOLLOW"),
    "E17 broken link": ("gate notes .", NOTES | {"a.md": "[[Missing]]\n"}, "RED"),
    "E17 twins": ("gate notes .", NOTES | {"a.md": QUIET}, "GREEN"),
    "E17 ratchet": ("gate notes . --allow-missing 1", NOTES | {"a.md": "[[Missing]]\n"}, "GREEN"),
    "E17 no notes": ("gate notes .", {"a.txt": ""}, "HOLLOW"),
    "E18 frontmatter": ("gate notes .", {"a.md": "---\na: 1\na: 2\n---\n"}, "RED"),
    "a failure swallowed": (
        "pytest test_a.py && python3 -m unittest || true",
        {"test_a.py": UNIT + "  x = y\n"},
        "RED",
    ),
}


@pytest.mark.parametrize(("step", "files", "expected"), CASES.values(), ids=CASES)
def test_a_case_has_its_verdict(
    js_tools: Path, js_project: Path, step: str, files: dict[str, str], expected: str
) -> None:
    policy = {"gate.toml": f"[steps.it]\nrun = {json.dumps(step)}\n"} if step else {}
    repo = write_tree(js_project, files | policy)
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    first = f"{js_tools / 'node_modules/.bin'}:{Path(sys.executable).parent}"
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    env |= {
        "CI": "true",
        "PATH": f"{first}:{env['PATH']}",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "GOFLAGS": "-mod=mod",
    }
    done = subprocess.run([*GATE, "--repo", str(repo)], env=env, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert found["verdict"] == expected, found["reason"]
