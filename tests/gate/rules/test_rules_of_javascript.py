"""Rules about checks of JavaScript and TypeScript: each with its near miss."""

import json
from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen

JEST_TEST = "test('a', () => { expect(1).toBe(1) })\n"
VITEST_TEST = "import { test, expect } from 'vitest'\ntest('a', () => { expect(1).toBe(1) })\n"
NODE_TEST = "import test from 'node:test'\ntest('a', () => {})\n"


def package(folder: str = "", **found: object) -> dict[str, str]:
    return {
        f"{folder}package.json": json.dumps({"name": folder.strip("/").rpartition("/")[2] or "root", **found}, indent=1)
    }


def scripts(folder: str = "", **texts: str) -> dict[str, str]:
    return package(folder, scripts=texts)


COLLECTED = {
    "jest's testMatch": (
        {"gate.toml": policy(test="npm test"), **scripts(test="jest --passWithNoTests"), "jest.config.js": "module.exports = {\n  testMatch: ['**/*.test.js'],\n}", "spec/a.spec.ts": JEST_TEST, "a.test.js": JEST_TEST},
        ["error jest.config.js:2 test: jest collects only `**/*.test.js`, so the tests in 1 file never run [spec/a.spec.ts]"],
    ),
    "jest's roots in package.json": (
        {"gate.toml": policy(test="npx jest"), "package.json": '{\n"jest": {\n"roots": ["<rootDir>/src"]}}', "test/a.test.js": JEST_TEST},
        ["error package.json:3 test: jest collects only `**/__tests__/**/*.?([mc])[jt]s?(x)`, `**/?(*.)+(spec|test).?([mc])[jt]s?(x)`, so the tests in 1 file never run [test/a.test.js]"],
    ),
    "jest's defaults": (
        {"gate.toml": policy(test="jest"), **package(), "tests/a.js": JEST_TEST, "b-test.js": JEST_TEST, "__tests__/c.js": JEST_TEST, "test.js": JEST_TEST},
        ["error gate.toml:2 test: jest collects only `**/__tests__/**/*.?([mc])[jt]s?(x)`, `**/?(*.)+(spec|test).?([mc])[jt]s?(x)`, so the tests in 2 files never run [b-test.js, tests/a.js]"],
    ),
    "jest's projects": (
        {"gate.toml": policy(test="jest"), **package(), "jest.config.js": "module.exports = { projects: ['<rootDir>/p/*'] }", **package("p/a/"), "p/a/x.test.js": JEST_TEST, **package("p/b/"), "p/b/jest.config.js": "module.exports = {\n testRegex: 'unit\\\\.js$' }", "p/b/x.test.js": JEST_TEST, "p/b/x.unit.js": JEST_TEST},
        ["error p/b/jest.config.js:2 test: jest collects only `unit\\.js$`, so the tests in 1 file never run [p/b/x.test.js]"],
    ),
    "jest's setting in a base that is spread": (
        {"gate.toml": policy(test="jest"), **package(), "jest.config.js": "const base = require('./base')\nmodule.exports = { ...base }", "base.js": "module.exports = { testMatch: ['**/*.test.js'] }", "a.spec.js": JEST_TEST},
        ["error jest.config.js:None test: jest collects only `**/*.test.js`, so the tests in 1 file never run [a.spec.js]"],
    ),
    "what jest leaves out by name": (
        {"gate.toml": policy(test="jest"), **package(jest={"testPathIgnorePatterns": ["/old/"]}), "old/a.test.js": JEST_TEST},
        ["warning gate.toml:2 test: jest is told to leave out 1 file with tests [old/a.test.js]"],
    ),
    "vitest's include": (
        {"gate.toml": policy(test="npx vitest run"), **package(), "vitest.config.ts": "export default defineConfig({\n test: {\n  include: ['src/**/*.test.ts'] } })", "tests/a.test.ts": VITEST_TEST, "src/b.spec.ts": VITEST_TEST, "src/c.test.ts": VITEST_TEST},
        ["error vitest.config.ts:3 test: vitest collects only `src/**/*.test.ts`, so the tests in 2 files never run [src/b.spec.ts, tests/a.test.ts]"],
    ),
    "a test behind its import on one line": (
        {"gate.toml": policy(test="npx vitest run"), **package(), "vitest.config.ts": "export default { test: { include: ['src/**/*.test.ts'] } }", "tests/a.spec.ts": VITEST_TEST.replace("\n", "; ", 1)},
        ["error vitest.config.ts:1 test: vitest collects only `src/**/*.test.ts`, so the tests in 1 file never run [tests/a.spec.ts]"],
    ),
    "mocha's folder": (
        {"gate.toml": policy(test="mocha"), **package(), "test/a.js": JEST_TEST, "test/deep/b.js": JEST_TEST},
        ["error gate.toml:2 test: mocha collects only `./test`, so the tests in 1 file never run [test/deep/b.js]"],
    ),
    "mocha's spec": (
        {"gate.toml": policy(test="mocha"), **package(), ".mocharc.json": '{"spec": "test/**/*.spec.js"}', "test/a.js": JEST_TEST, "test/a.spec.js": JEST_TEST},
        ["error .mocharc.json:1 test: mocha collects only `test/**/*.spec.js`, so the tests in 1 file never run [test/a.js]"],
    ),
    "node's names": (
        {"gate.toml": policy(test="node --test"), **package(), "a.test.js": NODE_TEST, "spec/b.js": NODE_TEST},
        ["error gate.toml:2 test: node --test collects only `*.test.js`, `*-test.js`, `test-*.js`, `test.js`, …, so the tests in 1 file never run [spec/b.js]"],
    ),
    "Playwright's testDir": (
        {"gate.toml": policy(test="npx playwright test"), **package(), "playwright.config.ts": "export default defineConfig({ testDir: './e2e' })", "tests/a.spec.ts": "import { test } from '@playwright/test'\ntest('a', async () => {})\n"},
        ["error playwright.config.ts:1 test: playwright collects only `./e2e/`, `**/*.@(spec|test).?(c|m)[jt]s?(x)`, so the tests in 1 file never run [tests/a.spec.ts]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), COLLECTED.values(), ids=COLLECTED.keys())
def test_files_with_tests_that_no_pattern_collects_are_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("test_glob_misses_js", tmp_path, files) == expected


QUIET = {
    "all are collected": {"gate.toml": policy(test="jest"), **package(), "a.test.js": JEST_TEST, "__tests__/b.js": JEST_TEST},
    "a second project collects them": {"gate.toml": policy(test="vitest run"), **package(), "vitest.config.ts": "export default defineConfig({ test: { projects: [{ test: { include: ['src/**/*.test.ts'] } }, { test: { include: ['tests/**/*.spec.ts'] } }] } })", "tests/a.spec.ts": VITEST_TEST, "src/b.test.ts": VITEST_TEST},
    "a workspace collects them": {"gate.toml": policy(test="vitest run"), **package(), "vitest.workspace.ts": "export default ['packages/*']", **package("packages/a/"), "packages/a/a.test.ts": VITEST_TEST},
    "a second step collects them": {"gate.toml": policy(unit="mocha", more="mocha 'spec/**/*.js'"), **package(), "spec/a.js": JEST_TEST},
    "a script would collect them": {"gate.toml": policy(test="jest"), **scripts(e2e="jest --config e2e.json"), "e2e.json": '{"testRegex": ".e2e.js$"}', "a.e2e.js": JEST_TEST},
    "a computed configuration": {"gate.toml": policy(test="jest"), **package(), "jest.config.js": "module.exports = make()", "a.x.js": JEST_TEST},
    "a spread of a package": {"gate.toml": policy(test="jest"), **package(), "jest.config.js": "module.exports = { ...require('@x/jest') }", "a.x.js": JEST_TEST},
    "an unknown preset": {"gate.toml": policy(test="jest"), **package(jest={"preset": "@x/y"}), "a.x.js": JEST_TEST},
    "a helper without tests": {"gate.toml": policy(test="jest"), **package(), "a.js": "export function shared() {\n  describe('a', () => { expect(1) })\n}\n"},
    "tests of another runner": {"gate.toml": policy(test="jest"), **package(), "a.js": VITEST_TEST, "b.js": "import test from 'ava'\ntest('a', t => { expect(1) })\n"},
    "another package": {"gate.toml": policy(test="jest"), **package(), **scripts("other/", test="mocha spec"), "other/spec/a.js": JEST_TEST},
    "jest's patterns from its root": {"gate.toml": policy(test="jest"), **package(), "jest.config.js": "module.exports = { testMatch: ['<rootDir>/tests/unit/**/*.js', '<rootDir>/tests/*/run.js'] }", "tests/unit/a.js": JEST_TEST, "tests/data/run.js": JEST_TEST, "tests/data/sample.js": JEST_TEST},
    "a file that is collected imports them": {"gate.toml": policy(test="mocha test/all.js"), **package(), "test/all.js": "describe('all', () => {\n  require('./parts/a')\n})\n", "test/parts/a.js": JEST_TEST},
    "they are compiled first": {"gate.toml": policy(test="mocha 'out/**/*.test.js'"), **package(), "src/a.test.ts": JEST_TEST},
    "a runner that is not known": {"gate.toml": policy(test="jest", more="karma start"), **package(), "a.js": JEST_TEST},
    "no runner": {"gate.toml": policy(lint="eslint ."), **package(), "a.js": JEST_TEST},
}  # fmt: skip


@pytest.mark.parametrize("files", QUIET.values(), ids=QUIET.keys())
def test_files_that_are_collected_or_nobodys_stay_quiet(tmp_path: Path, files: dict[str, str]) -> None:
    assert seen("test_glob_misses_js", tmp_path, files) == []


ALL = {"lint": "eslint .", "test": "vitest run", "build": "next build", "typecheck": "tsc --noEmit"}
NPM = {name: f"npm run {name}" for name in ALL}


@pytest.mark.parametrize(
    ("steps", "texts", "expected"),
    [
        ({"test": "npm test"}, {"test": "jest", "build:test": "tsc -p tsconfig.test.json"}, ["error package.json:5 the script 'build:test' checks types, and nothing in the gate runs it: tsc -p tsconfig.test.json"]),
        ({"build": "npm run build"}, {"build": "vite build", "test": "jest"}, ["error package.json:5 the script 'test' tests, and nothing in the gate runs it: jest"]),
        ({"test": "npm test"}, {"test": "jest", "test:e2e": "playwright test"}, ["warning package.json:5 the script 'test:e2e' tests, and nothing in the gate runs it: playwright test"]),
        ({"unit": "jest unit/"}, {"test:int": "jest int/"}, ["error package.json:4 the script 'test:int' tests, and nothing in the gate runs it: jest int/"]),
        (NPM, ALL, []),
        ({"a": "npx vitest run", "b": "npx tsc --noEmit", "l": "npm run lint", "c": "npm run build"}, ALL, []),
        ({"all": "npm run all"}, {"all": "run-s test types", "test": "jest", "types": "tsc --noEmit"}, []),
        ({"test": "npm test"}, {"test": "jest", "esm": "node esm.mjs", "_jest": "jest --ci", "test-all": "jest && npm test && npm run test:esm", "test:esm": "node esm-test.mjs"}, ["warning package.json:8 the script 'test:esm' tests, and nothing in the gate runs it: node esm-test.mjs"]),
        ({"a": "node Make.js lint", "b": "mocha test/a.js", "c": "yarn unit"}, {"test": "node Make test", "test:quick": "mocha -b test/a.js", "unit": "jest"}, []),
        ({"a": "mocha 'spec/**/*.js'", "b": "vitest run", "c": "vitest run --project y"}, {"test:part": "mocha spec/deep/a.js", "test:x": "vitest --project x"}, []),
        ({"ts": "yarn ts --selectProjects a"}, {"ts": "node cli.js --config b", "test-types": "yarn ts --selectProjects a"}, []),
        ({"lint": "npm run lint"}, {"lint": "eslint .", "test": "echo 'no test specified' && exit 1", "test:watch": "jest --watch"}, []),
    ],
    ids=["types of tests", "the tests", "end-to-end", "another folder", "all run", "run without scripts", "through another", "parts of what runs many", "programs of its own", "parts of what runs", "the same line", "for people"],
)  # fmt: skip
def test_a_script_that_verifies_and_never_runs_is_named(
    tmp_path: Path, steps: dict[str, str], texts: dict[str, str], expected: list[str]
) -> None:
    assert seen("script_not_wired", tmp_path, {"gate.toml": policy(**steps), **scripts(**texts)}) == expected


@pytest.mark.parametrize(
    ("steps", "texts", "expected"),
    [
        ({"lint": "npm run lint", "test": "npm test"}, ALL, ["error package.json:6 the gate checks this package and never builds it: build = 'next build'"]),
        ({"lint": "npm run lint", "test": "npm test", "build": "npm run build"}, ALL, []),
        ({"lint": "npm run lint", "build": "npx next build"}, ALL, []),
        ({"install": "npm ci", "test": "npm test"}, {**ALL, "prepare": "npm run build"}, []),
        ({"test": "npm test"}, {"test": "vitest run"}, []),
        ({"docs": "mkdocs build"}, {"build": "next build"}, []),
    ],
    ids=["not built", "built", "built without the script", "built by installing", "a library without a build", "a package that is not checked"],
)  # fmt: skip
def test_a_build_that_never_runs_is_named(
    tmp_path: Path, steps: dict[str, str], texts: dict[str, str], expected: list[str]
) -> None:
    assert seen("build_step_missing", tmp_path, {"gate.toml": policy(**steps), **scripts(**texts)}) == expected


SOLUTION = {
    "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
    "tsconfig.app.json": '{"include": ["src"]}',
    "src/a.ts": "",
}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("tsc --noEmit", ["error gate.toml:2 t: `tsc --noEmit` checks nothing: tsconfig.json only refers to other projects [tsconfig.app.json]"]),
        ("npx tsc --noEmit -p .", ["error gate.toml:2 t: `tsc --noEmit -p .` checks nothing: tsconfig.json only refers to other projects [tsconfig.app.json]"]),
        ("tsc -b", []), ("tsc -p tsconfig.app.json", []), ("tsc --build --noEmit", []), ("echo tsc", []),
    ],
)  # fmt: skip
def test_a_root_file_that_only_refers_to_others_checks_nothing(
    tmp_path: Path, command: str, expected: list[str]
) -> None:
    files = {"gate.toml": policy(t=command), **package(), **SOLUTION}
    assert seen("tsc_solution_file_checks_nothing", tmp_path, files) == expected


def test_a_line_that_checks_nothing_in_many_packages_is_told_once(tmp_path: Path) -> None:
    files = {"gate.toml": policy(t="npm run types --workspaces"), **package(workspaces=["p/*"])}
    for name in ("a", "b", "c"):
        files |= {f"p/{name}/{path}": text for path, text in SOLUTION.items()} | scripts(f"p/{name}/", types="tsc -p .")
    assert seen("tsc_solution_file_checks_nothing", tmp_path, files) == [
        "error p/a/package.json:4 `tsc -p .` checks nothing in 3 packages: their tsconfig.json only refers to other projects [p/a/package.json, p/b/package.json, p/c/package.json]"
    ]


TS = {
    "src/a.ts": "import './b'\n",
    "src/b.ts": "",
    "tests/a.test.ts": "import '../src/a'\n",
    "vite.config.ts": "",
    "src/env.d.ts": "",
}


def test_packages_that_leave_the_same_folders_out_are_told_of_together(tmp_path: Path) -> None:
    files = {"gate.toml": policy(t="tsc -p p/a && tsc -p p/b && tsc -p p/c")}
    for name in ("a", "b", "c"):
        files |= {
            **package(f"p/{name}/"),
            f"p/{name}/tsconfig.json": '{"include": ["src"]}',
            f"p/{name}/test/x.test.ts": "",
        }
    assert seen("typecheck_excludes_source_js", tmp_path, files) == [
        "error p/a/tsconfig.json:1 no type check of the gate looks at test/ in 3 packages (3 files) [p/a/test/x.test.ts, p/b/test/x.test.ts, p/c/test/x.test.ts]"
    ]


@pytest.mark.parametrize(
    ("command", "configs", "expected"),
    [
        ("tsc --noEmit", {"tsconfig.json": '{\n"exclude": ["tests"]}'}, ["error tsconfig.json:2 no type check of the gate looks at 1 file: tests/ (1) [tests/a.test.ts]"]),
        ("tsc --noEmit", {"tsconfig.json": '{"include": ["src"]}'}, ["error tsconfig.json:1 no type check of the gate looks at 1 file: tests/ (1) [tests/a.test.ts]"]),
        ("tsc --noEmit", {"tsconfig.json": '{"extends": "./base/tsconfig.json"}', "base/tsconfig.json": '{"files": ["../src/b.ts"]}'}, ["error tsconfig.json:1 no type check of the gate looks at 2 files: src/ (1), tests/ (1) [src/a.ts, tests/a.test.ts]"]),
        ("tsc -p scripts.json", {"scripts.json": '{"exclude": ["tools"]}', "tools/a.ts": ""}, ["warning scripts.json:1 no type check of the gate looks at 1 file: tools/ (1) [tools/a.ts]"]),
        ("tsc --noEmit && tsc -p tests", {"tsconfig.json": '{"include": ["src"]}', "tests/tsconfig.json": '{"extends": "../tsconfig.json", "include": ["."]}'}, []),
        ("tsc -b", {"tsconfig.json": '{"files": [], "references": [{"path": "src"}, {"path": "tests"}]}', "src/tsconfig.json": "{}", "tests/tsconfig.json": "{}"}, []),
        ("tsc --noEmit", {"tsconfig.json": '{"files": ["tests/a.test.ts"]}'}, []),
        ("tsc --noEmit", {"tsconfig.json": "{ /* all */ }"}, []),
        ("tsc --noEmit; svelte-check", {"tsconfig.json": '{"include": ["src"]}'}, []),
        ("eslint .", {"tsconfig.json": '{"include": ["src"]}'}, []),
    ],
    ids=["excluded", "not included", "inherited", "tools", "a second project", "references", "imported", "everything", "another checker", "no type check"],
)  # fmt: skip
def test_files_that_no_type_check_looks_at_are_named(
    tmp_path: Path, command: str, configs: dict[str, str], expected: list[str]
) -> None:
    files = {"gate.toml": policy(t=command), **package(), **TS, **configs}
    assert seen("typecheck_excludes_source_js", tmp_path, files) == expected


TYPED = {"tsconfig.json": "{}", "src/a.ts": "", "src/b.ts": "", "src/c.tsx": ""}
UNCHECKED = [
    "warning tsconfig.json:1 nothing in the gate checks the types of this package (3 files) [src/a.ts, src/b.ts, src/c.tsx]"
]


@pytest.mark.parametrize(
    ("command", "found", "files", "expected"),
    [
        ("vite build && vitest run", {}, TYPED, UNCHECKED),
        ("eslint .", {}, TYPED, UNCHECKED),
        ("vite build && vue-tsc --noEmit", {}, TYPED, []),
        ("jest", {"devDependencies": {"ts-jest": "1"}}, TYPED, []),
        ("vitest run --typecheck", {}, TYPED, []),
        ("vite build", {}, {"tsconfig.json": "{}", "src/a.ts": "", "src/env.d.ts": "", "vite.config.ts": ""}, []),
        ("vite build", {}, {k: v for k, v in TYPED.items() if k != "tsconfig.json"}, []),
        ("$RUN", {}, TYPED, []),
        ("cd docs && make", {}, TYPED, []),
    ],
    ids=["bundled", "linted", "checked", "compiled with types", "vitest's own", "too few", "no project", "a variable", "another folder"],
)  # fmt: skip
def test_a_package_whose_types_nothing_checks_is_named(
    tmp_path: Path, command: str, found: dict[str, object], files: dict[str, str], expected: list[str]
) -> None:
    assert (
        seen("types_never_checked", tmp_path, {"gate.toml": policy(t=command), **package(**found), **files}) == expected
    )
