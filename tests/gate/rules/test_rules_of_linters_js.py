"""Rules about linters of JavaScript that find nothing, or cannot fail: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen

TS = {"src/a.ts": "", "src/b.ts": "", "package.json": "{}"}
FLAT, LEGACY, BIOME, OXLINT, STYLELINT = (
    "eslint.config.mjs",
    ".eslintrc.json",
    "biome.json",
    ".oxlintrc.json",
    ".stylelintrc.json",
)
RECOMMENDED = "import js from '@eslint/js'\nexport default [js.configs.recommended{}]\n"


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("eslint .", {FLAT: RECOMMENDED.format("")}, [f"error {FLAT}:1 l: eslint passes over 2 files with .ts and looks at 1 others [src/a.ts, src/b.ts]"]),
        ("eslint src", {FLAT: RECOMMENDED.format(", { files: ['**/*.js'], rules: {} }"), "src/c.js": "", "src/d.vue": ""},
         [f"error {FLAT}:1 l: eslint passes over 2 files with .ts and looks at 1 others [src/a.ts, src/b.ts]",
          f"warning {FLAT}:1 l: eslint passes over the 1 file with .vue and looks at 1 others [src/d.vue]"]),
        ("eslint .", {LEGACY: '{"extends": "eslint:recommended"}', "x.js": ""}, [f"error {LEGACY}:1 l: eslint passes over 2 files with .ts and looks at 1 others [src/a.ts, src/b.ts]"]),
        ("eslint .", {FLAT: RECOMMENDED.format(""), "a.js": "", "b.js": "", "test/a.test-d.ts": ""},
         [f"warning {FLAT}:1 l: eslint passes over 2 files with .ts and looks at 3 others [src/a.ts, src/b.ts]"]),
        ("eslint src", {FLAT: RECOMMENDED.format("")}, []),
        ("eslint .", {FLAT: RECOMMENDED.format(", { files: ['**/*.{ts,tsx}'] }")}, []),
        ("eslint .", {FLAT: RECOMMENDED.format(", { ignores: ['src/'] }")}, []),
        ("eslint .", {FLAT: "import ts from 'typescript-eslint'\nexport default ts.config(ts.configs.recommended)\n"}, []),
        ("eslint 'src/**/*.ts'", {FLAT: RECOMMENDED.format("")}, []),
        ("eslint . --ext .ts", {LEGACY: "{}"}, []),
        ("eslint .", {LEGACY: '{"extends": "plugin:@typescript-eslint/recommended"}', "x.js": ""}, []),
        ("eslint .", {LEGACY: '{"overrides": [{"files": ["*.ts"]}]}', "x.js": ""}, []),
        ("eslint . && biome lint", {FLAT: RECOMMENDED.format("")}, []),
    ],
    ids=["flat", "a folder with both", "eslintrc", "few of many", "ESLint itself fails", "named", "ignored", "a shared configuration", "globs", "--ext", "a shared eslintrc", "overrides", "another linter"],
)  # fmt: skip
def test_files_of_a_kind_that_eslint_passes_over_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("lint_skips_extension", tmp_path, {"gate.toml": policy(l=command), **TS, **files}) == expected


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("eslint .", {FLAT: "export default []\n"}, [f"error {FLAT}:1 l: eslint has no rule that is on"]),
        ("eslint .", {FLAT: "export default [{ files: ['**/*.ts'] }, {\n rules: { 'no-undef': 'off' } }]\n"}, [f"error {FLAT}:2 l: eslint has no rule that is on"]),
        ("eslint .", {LEGACY: '{"root": true, "extends": ["prettier"]}'}, [f"error {LEGACY}:1 l: eslint has no rule that is on"]),
        ("npx biome check", {BIOME: '{"linter": {"rules": {\n"recommended": false, "style": {"noVar": "off"}}}}'}, [f"error {BIOME}:2 l: biome has no rule that is on"]),
        ("oxlint", {OXLINT: '{"categories": {"correctness": "off"}}'}, [f"error {OXLINT}:1 l: oxlint has no rule that is on"]),
        ("oxlint -A all", {}, ["error gate.toml:2 l: oxlint has no rule that is on"]),
        ("stylelint '**/*.css'", {STYLELINT: '{"rules": {}}'}, [f"error {STYLELINT}:1 l: stylelint has no rule that is on"]),
        ("eslint .", {FLAT: RECOMMENDED.format("")}, []),
        ("eslint .", {FLAT: "import x from 'x'\nexport default [...x]\n"}, []),
        ("eslint .", {FLAT: "import { FlatCompat } from 'y'\nexport default [...new FlatCompat().extends('z')]\n"}, []),
        ("eslint .", {LEGACY: '{"extends": "airbnb"}'}, []),
        ("eslint --rule '{eqeqeq: 2}' .", {FLAT: "export default []\n"}, []),
        ("biome check", {BIOME: '{"linter": {"enabled": false}}'}, []),
        ("biome format", {BIOME: '{"linter": {"rules": {"recommended": false}}}'}, []),
        ("stylelint x.css", {STYLELINT: '{"extends": "stylelint-config-standard"}'}, []),
    ],
)  # fmt: skip
def test_a_linter_that_has_no_rule_is_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("lint_no_rules_js", tmp_path, {"gate.toml": policy(l=command), **files}) == expected


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("eslint .", {FLAT: "export default [{\n rules: { 'no-undef': 'warn', eqeqeq: [1, 'smart'], 'no-var': 'off' } }]\n"}, [f"warning {FLAT}:2 l: eslint only warns: no rule is set to fail"]),
        ("eslint .", {FLAT: "import 'eslint-plugin-only-warn'\nimport x from 'x'\nexport default [...x]\n"}, [f"warning {FLAT}:1 l: eslint only warns: eslint-plugin-only-warn makes warnings of all errors"]),
        ("eslint .", {LEGACY: '{"overrides": [{"files": "*.js", "rules": {"no-var": "warn"}}]}'}, [f"warning {LEGACY}:1 l: eslint only warns: no rule is set to fail"]),
        ("oxlint", {}, ["warning gate.toml:2 l: oxlint only warns: what it finds by itself are warnings"]),
        ("oxlint", {OXLINT: '{"rules": {"eqeqeq": "warn"}}'}, [f"warning {OXLINT}:1 l: oxlint only warns: no rule is set to fail"]),
        ("biome lint", {BIOME: '{"linter": {"rules": {"recommended": false, "style": {"noVar": {"level": "warn"}}}}}'}, [f"warning {BIOME}:1 l: biome only warns: no rule is set to fail"]),
        ("stylelint x.css", {STYLELINT: '{"extends": "x", "defaultSeverity": "warning"}'}, [f"warning {STYLELINT}:1 l: stylelint only warns: no rule is set to fail"]),
        ("eslint . --max-warnings 0", {FLAT: "export default [{ rules: { 'no-undef': 'warn' } }]\n"}, []),
        ("eslint .", {FLAT: "export default [{ rules: { 'no-undef': 'warn', eqeqeq: 2 } }]\n"}, []),
        ("eslint .", {FLAT: "const level = process.env.CI ? 'error' : 'warn'\nexport default [{ rules: { 'no-undef': level } }]\n"}, []),
        ("oxlint --deny-warnings", {}, []), ("oxlint -D correctness", {}, []), ("oxlint", {OXLINT: '{"categories": {"correctness": "error"}}'}, []),
        ("biome lint", {}, []), ("eslint .", {}, []),
    ],
)  # fmt: skip
def test_a_linter_that_only_warns_is_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("lint_warn_only", tmp_path, {"gate.toml": policy(l=command), **files}) == expected
