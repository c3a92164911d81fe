"""Rules about runs of JavaScript that leave tests or files out: what changed, what is singled out. Each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

CI, NIGHT = ".github/workflows/ci.yml", ".github/workflows/night.yml"
WORKSPACE = {
    "package.json": '{"name": "root", "workspaces": ["p/*"]}',
    "p/a/package.json": '{"name": "a", "scripts": {"test": "jest"}}',
}
NX = {"nx.json": "{}", **WORKSPACE}


def nightly(line: str) -> dict[str, str]:
    return {NIGHT: workflow(line, on="{schedule: [{cron: '0 4 * * *'}]}")}


@pytest.mark.parametrize(
    ("command", "more", "expected"),
    [
        ("nx affected -t test lint", NX, ["warning gate.toml:2 t: `nx affected` runs test, lint for what changed, and nothing runs it for everything"]),
        ("nx affected -t test --base=HEAD", {**NX, **nightly("nx run-many -t test")}, ["error gate.toml:2 t: `nx affected` compares with HEAD, so test never runs in a checkout"]),
        ("nx affected -t test lint", {**NX, **nightly("npx nx run-many -t test")}, ["warning gate.toml:2 t: `nx affected` runs lint for what changed, and nothing runs it for everything"]),
        ("turbo run test --affected", WORKSPACE, ["warning gate.toml:2 t: `turbo --affected` runs test for what changed, and nothing runs it for everything"]),
        ("turbo run test --filter='...[origin/main]'", WORKSPACE, ["warning gate.toml:2 t: `turbo ...[origin/main]` runs test for what changed, and nothing runs it for everything"]),
        ("pnpm --filter '...[origin/main]' test", WORKSPACE, ["warning gate.toml:2 t: `pnpm ...[origin/main]` runs test for what changed, and nothing runs it for everything"]),
        ("lerna run test --since main", WORKSPACE, ["warning gate.toml:2 t: `lerna --since` runs test for what changed, and nothing runs it for everything"]),
        ("jest --changedSince=origin/main", WORKSPACE, ["warning gate.toml:2 t: `jest --changedSince` runs jest for what changed, and nothing runs it for everything"]),
        ("lage test --since origin/main", WORKSPACE, ["warning gate.toml:2 t: `lage --since` runs test for what changed, and nothing runs it for everything"]),
        ("rush test --impacted-by git:main && rush test", WORKSPACE, []),
        ("turbo run test --affected", {**WORKSPACE, CI: workflow("turbo run test", on="push")}, []),
        ("pnpm --filter '...[origin/main]' test", {**WORKSPACE, CI: workflow("pnpm -r test", on="push")}, []),
        ("vitest run --changed origin/main", {**WORKSPACE, **nightly("vitest run")}, []),
        ("turbo run test --filter=a", WORKSPACE, []), ("nx run-many -t test", NX, []), ("jest", WORKSPACE, []),
    ],
)  # fmt: skip
def test_runs_of_what_changed_with_no_whole_run_are_named(
    tmp_path: Path, command: str, more: dict[str, str], expected: list[str]
) -> None:
    assert seen("affected_only_gate", tmp_path, {"gate.toml": policy(t=command), **more}) == expected


NOT_COMMITTED, STAGED = (
    "files that are not committed: none in a fresh checkout",
    "staged files: none in a fresh checkout",
)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npx jest --onlyChanged", f"error gate.toml:2 t: `jest --onlyChanged` looks at {NOT_COMMITTED}"),
        ("jest -o --ci", f"error gate.toml:2 t: `jest -o` looks at {NOT_COMMITTED}"),
        ("vitest run --changed", f"error gate.toml:2 t: `vitest --changed` looks at {NOT_COMMITTED}"),
        ("npx lint-staged", f"error gate.toml:2 t: `lint-staged` looks at {STAGED}"),
        ("pretty-quick --check", f"error gate.toml:2 t: `pretty-quick` looks at {NOT_COMMITTED}"),
        ("biome check --staged --no-errors-on-unmatched", f"error gate.toml:2 t: `biome --staged` looks at {STAGED}"),
        ("git diff --name-only HEAD | xargs -r eslint", f"error gate.toml:2 t: `git diff --name-only HEAD | xargs -r eslint` looks at {NOT_COMMITTED}"),
        ("eslint $(git diff --name-only --cached)", f"warning gate.toml:2 t: `eslint $(git diff --name-only --cached)` looks at {NOT_COMMITTED}"),
        ("npm run l", f"error package.json:3 t: `prettier -c $(git diff --name-only --diff-filter=d)` looks at {NOT_COMMITTED}"),
        ("jest --changedSince=main -o", ""), ("vitest run --changed origin/main", ""), ("vitest run --changed=HEAD~1", ""), ("lint-staged --diff=origin/main...HEAD", ""),
        ("pretty-quick --since main", ""), ("git diff --name-only origin/main...HEAD | xargs eslint", ""), ("eslint $(git ls-files '*.js')", ""),
        ("git diff --name-only --exit-code", ""), ("git diff --name-only | grep snap; eslint .", ""), ("eslint . && git status --porcelain", ""),
    ],
)  # fmt: skip
def test_checks_of_what_is_not_committed_are_named(tmp_path: Path, command: str, expected: str) -> None:
    package = '{"scripts": {\n"a": "x",\n"l": "prettier -c $(git diff --name-only --diff-filter=d)"}}'
    found = seen("changed_only_on_clean_checkout", tmp_path, {"gate.toml": policy(t=command), "package.json": package})
    assert found == [expected] * bool(expected)


def test_recipes_of_make_are_read(tmp_path: Path) -> None:
    files = {"gate.toml": policy(t="make lint"), "Makefile": "all:\nlint:\n\t@prettier -c $$(git diff --name-only)\n"}
    assert seen("changed_only_on_clean_checkout", tmp_path, files) == [
        f"error Makefile:3 t: `prettier -c $(git diff --name-only)` looks at {NOT_COMMITTED}"
    ]


def test_a_variable_with_what_git_says_of_the_checkout_is_followed(tmp_path: Path) -> None:
    files = {"gate.toml": policy(t="sh l.sh"), "l.sh": "F=$(git diff --name-only)\necho $F\nprettier -c ${F}\n"}
    assert seen("changed_only_on_clean_checkout", tmp_path, files) == [
        f"error l.sh:3 t: `prettier -c ${{F}}` looks at {NOT_COMMITTED}"
    ]


ONLY = "describe.only('a', () => {\n  it('b', () => { expect(1) })\n})\nfit('c', () => {})\n"
WORDS = "describe.only in line 1, fit in line 4"
PLAYWRIGHT = "import { test, expect } from '@playwright/test'\ntest.describe.only('a', () => {})\n"


@pytest.mark.parametrize(
    ("command", "more", "expected"),
    [
        ("jest", {"a.test.js": ONLY}, [f"error a.test.js:1 t: tests are singled out, so the others of the file do not run: {WORDS}"]),
        ("mocha", {"test/a.js": ONLY.replace("fit", "it")}, ["error test/a.js:1 t: tests are singled out, so the others of the file do not run: describe.only in line 1"]),
        ("mocha --forbid-only", {"test/a.js": ONLY}, [f"warning test/a.js:1 t: tests are singled out, which its runner refuses in CI: {WORDS}"]),
        ("mocha", {"test/a.js": ONLY, ".mocharc.yml": "forbidOnly: true"}, [f"warning test/a.js:1 t: tests are singled out, which its runner refuses in CI: {WORDS}"]),
        ("vitest run", {"a.test.ts": "import { it } from 'vitest'\nit.only.each([1])('a', () => {})\n"}, ["warning a.test.ts:2 t: tests are singled out, which its runner refuses in CI: it.only in line 2"]),
        ("playwright test", {"a.spec.ts": PLAYWRIGHT, "playwright.config.ts": "export default {}"}, ["error a.spec.ts:2 t: tests are singled out, so the others of the file do not run: test.describe.only in line 2"]),
        ("playwright test", {"a.spec.ts": PLAYWRIGHT, "playwright.config.ts": "export default { forbidOnly: !!process.env.CI }"}, ["warning a.spec.ts:2 t: tests are singled out, which its runner refuses in CI: test.describe.only in line 2"]),
        ("node --test --test-only", {"a.test.js": "import test from 'node:test'\ntest('a', { only: true }, () => {})\n"}, ["error a.test.js:2 t: tests are singled out, so the others of the file do not run: only: true in line 2"]),
        ("deno test", {"a_test.ts": "Deno.test.only('a', () => {})\n"}, ["warning a_test.ts:1 t: tests are singled out, so deno fails: Deno.test.only in line 1"]),
        ("node --test", {"a.test.js": "import test from 'node:test'\ntest.only('a', () => {})\n"}, []),
        ("jest", {"a.test.js": "// it.only\nit('a', () => { expect(x.only('it.only(')); model.fit(1); select.only(1) })\nfunction fit(a) {}\n"}, []),
        ("jest src", {"fixtures/a.test.js": ONLY, "b.test.js": ONLY}, []),
        ("echo jest", {"a.test.js": ONLY}, []),
    ],
    ids=["jest", "mocha", "forbidden by an option", "forbidden by a setting", "vitest", "Playwright", "forbidden by Playwright", "node", "Deno", "node runs all", "words",
         "files that do not run", "no run"],
)  # fmt: skip
def test_tests_that_are_singled_out_are_named(
    tmp_path: Path, command: str, more: dict[str, str], expected: list[str]
) -> None:
    assert (
        seen("focused_test_committed", tmp_path, {"gate.toml": policy(t=command), "package.json": "{}", **more})
        == expected
    )


@pytest.mark.parametrize(
    ("command", "more", "expected"),
    [
        ("playwright test", {"playwright.config.ts": "export default {\n testDir: 'e2e' }"}, ["warning playwright.config.ts:2 t: playwright is green when a test is singled out: forbidOnly is not set"]),
        ("mocha", {"test/a.js": ONLY}, ["warning gate.toml:2 t: mocha is green when a test is singled out: --forbid-only is not set"]),
        ("mocha", {"test/a.js": ONLY.replace(".only", "").replace("fit", "it")}, []),
        ("playwright test --forbid-only; mocha --forbid-only; jest", {}, []),
        ("playwright test", {"playwright.config.ts": "export default { forbidOnly: isCI }"}, []),
    ],
)  # fmt: skip
def test_runners_that_would_refuse_singled_out_tests_and_are_not_told_to_are_named(
    tmp_path: Path, command: str, more: dict[str, str], expected: list[str]
) -> None:
    assert (
        seen("forbid_only_missing", tmp_path, {"gate.toml": policy(t=command), "package.json": "{}", **more})
        == expected
    )
