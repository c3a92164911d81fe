"""The JavaScript tools, run for real: once with work done, once and more with nothing done."""

import shutil
from pathlib import Path

import pytest

from gate.report import Evidence
from tests.evidence import run_step, write_tree
from tests.needs import needs

pytestmark = [needs("npm", package="npm"), pytest.mark.slow(seconds=2)]

VITEST = {
    "a.test.mjs": "import {test, expect} from 'vitest'\n"
    "test('a', () => { console.log('\\n      Tests  41 passed (41)\\n') })\ntest('b', () => {})\n"
    "test.skip('c', () => {}); test.todo('d'); test.fails('e', () => { expect(1).toBe(2) })\n"
}
JEST = {
    "package.json": '{"scripts": {"test": "jest --verbose"}}',
    "a.test.js": "test('a', () => { console.log('Tests:       41 passed, 41 total') })\n"
    "test.skip('b', () => {}); test.todo('c')\n",
}
MOCHA = {
    "package.json": '{"scripts": {"test": "mocha", "ci": "npm run lint --if-present && npm test --silent"}}',
    "test/a.js": "it('a', () => { console.log('\\n  41 passing (1ms)\\n') }); it('b', () => {})\n"
    "it.skip('c', () => {})\n",
    "other/none.js": "",
}
NODE = {
    "a.test.mjs": "import test from 'node:test'\n"
    "test('a', () => { console.log('# tests 41\\n# suites 0\\n# pass 41\\n# fail 0') })\n"
    "test('s', async t => { await t.test('inner', () => {}) })\n"
    "test.skip('b', () => {}); test('c', {todo: true}, () => { throw 1 })\n",
    "empty/none.test.mjs": "export const a = 1\n",
    "skipped/all.test.mjs": "import test from 'node:test'\n"
    "test.skip('b', () => {}); test('c', {todo: true}, () => { throw 1 })\n",
}
PLAYWRIGHT = {
    "playwright.config.js": "module.exports = {use: {launchOptions: {executablePath: process.env.CHROMIUM,"
    " args: ['--no-sandbox']}}}\n",
    "page/p.spec.js": "const {test, expect} = require('@playwright/test')\n"
    "test('p', async ({page}) => { await page.setContent('<h1>x</h1>'); await expect(page.locator('h1')).toHaveText('x') })\n",
    "tests/a.spec.js": "const {test} = require('@playwright/test')\n"
    "test('a', async () => { console.log('  41 passed (1s)') }); test('b', async () => {})\n"
    "test.skip('c', async () => {})\n",
    "idle/b.spec.js": "const {test} = require('@playwright/test')\n"
    "test.describe.skip('x', () => { test('a', async () => {}) })\n",
}


def hollow(tool: str, reason: str, *, skipped: int | None = 0, failed: int | None = 0) -> Evidence:
    return Evidence(tool, 0, None, skipped, failed, reason)


TEST_RUNS = {
    "vitest": ("vitest run", VITEST, Evidence("vitest", 2, None, 2, 0)),
    "vitest, dots": ("npx vitest run --reporter=dot", VITEST, Evidence("vitest", 2, None, 2, 0)),
    "vitest, no match": (
        "vitest run -t smoke",
        VITEST,
        hollow("vitest", "vitest executed no test: 5 skipped", skipped=5),
    ),
    "vitest, no files": (
        "vitest run --passWithNoTests gone",
        VITEST,
        Evidence("vitest", 0, hollow="vitest found no test files"),
    ),
    "jest": ("npm test", JEST, Evidence("jest", 1, None, 2, 0)),
    "jest, no match": ("npm test -- -t smoke", JEST, hollow("jest", "jest executed no test: 3 skipped", skipped=3)),
    "jest, no files": ("jest --passWithNoTests gone", JEST, Evidence("jest", 0, hollow="jest found no tests")),
    "mocha": ("npm run ci", MOCHA, Evidence("mocha", 2, None, 1, 0)),
    "mocha, tap": ("mocha -R tap", MOCHA, Evidence("mocha", 2, None, 1, 0)),
    "mocha, no match": ("mocha -g smoke", MOCHA, hollow("mocha", "mocha executed no test")),
    "mocha, none": ("mocha other", MOCHA, hollow("mocha", "mocha executed no test")),
    "node": ("node --test a.test.mjs", NODE, Evidence("node --test", 3, None, 2, 0)),
    "node, spec": ("node --test --test-reporter=spec a.test.mjs", NODE, Evidence("node --test", 3, None, 2, 0)),
    "node, junit in a file": (
        "node --test --test-reporter=junit --test-reporter-destination=x.xml a.test.mjs",
        NODE,
        Evidence("node --test", 3, None, 2, 0),
    ),
    "vitest, json in a file": (
        "vitest run --reporter=json --outputFile=o.json -t '^[abc]$'",
        VITEST,
        Evidence("vitest", 2, None, 3, 0),
    ),
    "mocha, a stream": ("mocha -R json-stream", MOCHA, Evidence("mocha", 2, None, 1, 0)),
    "node, empty file": (
        "node --test empty/none.test.mjs",
        NODE,
        hollow("node --test", "node --test executed no test: 1 files without one"),
    ),
    "node, all skipped": (
        "node --test skipped/all.test.mjs",
        NODE,
        hollow("node --test", "node --test executed no test: 2 skipped", skipped=2),
    ),
    "playwright": ("playwright test a.spec", PLAYWRIGHT, Evidence("playwright", 2, None, 1, 0)),
    "playwright, a page": ("playwright test p.spec", PLAYWRIGHT, Evidence("playwright", 1, None, 0, 0)),
    "playwright, all skipped": (
        "playwright test idle",
        PLAYWRIGHT,
        hollow("playwright", "playwright executed no test: 1 skipped", skipped=1),
    ),
    "playwright, no match": (
        "playwright test -g smoke --pass-with-no-tests",
        PLAYWRIGHT,
        Evidence("playwright", 0, hollow="playwright found no tests"),
    ),
}


@pytest.mark.parametrize(("step", "files", "expected"), TEST_RUNS.values(), ids=TEST_RUNS)
def test_a_runner_tells_what_it_executed(
    js_tools: Path, js_project: Path, step: str, files: dict[str, str], expected: Evidence
) -> None:
    folder = write_tree(js_project, files)
    found = run_step(step, folder, first=js_tools / "node_modules/.bin", CHROMIUM=shutil.which("chromium") or "")
    assert found == (0, expected)


ESLINT = {
    "eslint.config.mjs": "export default [{files: ['src/**/*.js'], rules: {'no-undef': 1}},"
    " {ignores: ['src/old/**']}]\n",
    "src/a.js": "export const a = 1\n",
    "src/b.js": "export const b = 1\n",
    "src/old/c.js": "export const c = 1\n",
    "ts/d.ts": "export const d: number = 1\n",
    "none.config.mjs": "export default []\n",
    "package.json": '{"scripts": {"lint": "eslint --max-warnings 0 src"}}',
}
BIOME = {"a.js": "export const a = 1;\n"}
TSC = {
    "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
    "tsconfig.app.json": '{"include": ["src"], "compilerOptions": {"composite": true, "outDir": "out", "lib": ["es5"], "types": []}}',
    "src/a.ts": "export const a: number = 1\n",
    "src/b.ts": "export const b: number = 1\n",
}
PYRIGHT = {"a.py": "a: int = 1\n", "none.json": '{"include": ["gone"]}'}
VITE = {"index.html": "<script type=module src=/m.js></script>", "m.js": "console.log(1)\n"}
NEXT = {
    "package.json": "{}",
    "app/page.jsx": "export default function Page() { return 'x' }\n",
    "app/layout.jsx": "export default function L(p) { return <html><body>{p.children}</body></html> }\n",
}

OTHER_RUNS = {
    "eslint": ("npm run lint", ESLINT, Evidence("eslint", None, 2)),
    "eslint, glob": ("npx eslint 'src/*.js'", ESLINT, Evidence("eslint", None, 2)),
    "eslint, everything": ("eslint .", ESLINT, Evidence("eslint", None, 3)),
    "eslint, other files": ("eslint ts/d.ts", ESLINT, Evidence("eslint", None, 0, hollow="eslint looked at no file")),
    "eslint, no rules": (
        "eslint -c none.config.mjs .",
        ESLINT,
        Evidence("eslint", None, 0, hollow="eslint ran with an empty configuration: no rule looked at any file"),
    ),
    "biome": ("biome lint .", BIOME, Evidence("biome", None, 1)),
    "tsc, a project": ("tsc --noEmit -p tsconfig.app.json", TSC, Evidence("tsc", None, 2)),
    "tsc, build": ("tsc -b", TSC, Evidence("tsc", None, 2)),
    "tsc, references only": (
        "tsc --noEmit",
        TSC,
        Evidence("tsc", None, 0, hollow="tsc checked no file: its list is empty, and only tsc -b follows references"),
    ),
    "pyright": ("pyright --stats", PYRIGHT, Evidence("pyright", None, 1)),
    "pyright, none": (
        "pyright -p none.json",
        PYRIGHT,
        Evidence("pyright", None, 0, hollow="pyright found no source files"),
    ),
    "vite": ("vite build", VITE, Evidence("vite build", None, 4)),
    "next": ("next build", NEXT, Evidence("next build", None, 1)),
}


@pytest.mark.parametrize(("step", "files", "expected"), OTHER_RUNS.values(), ids=OTHER_RUNS)
def test_a_linter_or_compiler_tells_what_it_looked_at(
    js_tools: Path, js_project: Path, step: str, files: dict[str, str], expected: Evidence
) -> None:
    environment = {"NEXT_TELEMETRY_DISABLED": "1"}
    folder = write_tree(js_project, files)
    code, evidence = run_step(step, folder, first=js_tools / "node_modules/.bin", **environment)
    assert (code, evidence) == (0, expected)
