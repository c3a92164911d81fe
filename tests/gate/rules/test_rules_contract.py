"""What every rule of the audit keeps to."""

import functools
import re
from pathlib import Path

import pytest

from gate.explain import explain
from gate.repository.opening import Repository
from gate.rules import RULES, load
from tests.gate.rules.samples import opened


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_an_id_and_says_what_it_means_and_what_comes_next(name: str) -> None:
    rule = load(name)
    assert (re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.ID) is not None, "\nNext: " in rule.SUMMARY) == (True, True)
    assert rule.SUMMARY in explain(rule.ID)


@functools.cache
def _texts() -> str:
    return "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_a_tree_that_trips_it_and_one_that_does_not(name: str) -> None:
    assert f'"{name}"' in _texts(), f"tests/gate/rules: expected tests that name {name!r}"


RUNS = (
    "python3 -m unittest; cargo test; (cd m; cargo test -p); mvn verify -P; ./gradlew check -x; phpunit -c; rspec -P; ctest --test-dir; "
    "bazel test //...; go test -tags; dotnet test --filter; swift test; gofmt -l ."
)


ODD_JAVASCRIPT = {
    "gate.toml": "[steps.a]\nrun = '''npm run a; eslint .; eslint -c; biome lint; oxlint -A; oxlint -c; stylelint; jest --coverage -c; vitest -c; nyc mocha\n"
    "c8 --lines; next build; pnpm --filter; pnpm --filter x test; pnpm -r run; turbo run; turbo --filter=[; nx affected --base=; nx run-many -t; lerna run --scope\n"
    "run-s *; run-p \"!(\"; concurrently npm:; yarn workspace; yarn workspaces foreach; npm test --if-present -w; playwright test -c; node --test --test-only\n"
    "bun test; tsc -p; jest -o; lage --since; moon ci; git diff | xargs'''\n",
    "package.json": '{"name": 3, "scripts": {"a": "npm run ; run-s ; concurrently -n", "b": 7}, "workspaces": ["p/*", 3, "**"], "jest": 3, "nyc": [], "nx": 2}',
    "p/a/package.json": '{"scripts": [], "nx": {"targets": 3}}', "p/b/package.json": "[]", "p/a/project.json": '{"name": 3, "targets": []}',
    "pnpm-workspace.yaml": "packages: {a: 1}\n", "turbo.json": '{"tasks": {"a": 3, "b": {"dependsOn": [1]}}}', "nx.json": '{"plugins": 3, "targetDefaults": []}',
    "lerna.json": '{"packages": [1]}', "biome.json": '{"linter": {"rules": {"a": 3, "recommended": false}}}', ".stylelintrc.json": '{"rules": [], "defaultSeverity": 3}',
    ".oxlintrc.json": '{"categories": [], "rules": {"a": {}}, "overrides": [3], "options": 3}', ".nycrc": "lines: {\n", ".c8rc.json": "[]",
    "eslint.config.mjs": "export default [3, [{ rules: [] }], ...x, { files: 3, extends: {} }]", "next.config.js": "typescript: { ignoreBuildErrors:",
    "jest.config.js": "module.exports = { coverageThreshold: 3, ...x, preset: './nosuch' }", "playwright.config.ts": "export default { projects: 3 }",
    "vitest.config.ts": "export default { test: { coverage: { thresholds: { lines: x } } } }", ".mocharc.json": '{"forbidOnly": {}}',
    "codecov.yml": "coverage: {status: {project: [1], patch: {default: 3}}}\n", "a.test.js": "describe.only.each`\nit.only(", "tsconfig.json": "{}",
}  # fmt: skip

ODD = {
    "gate.toml": f"[steps.a]\nrun = '{RUNS}'", "package.json": '{"scripts": 7, "workspaces": {"packages": 3}}',
    "tsconfig.json": '{"files": 3, "include": {"a": 1}, "references": [1, null]}', "pyproject.toml": "[tool]\npytest = 1\nmypy = 2\nruff = 3\n",
    "Cargo.toml": "workspace = 4\n", "turbo.json": '{"tasks": []}', "setup.cfg": "[mypy]\n", "tox.ini": "[tox]\nenv_list\n",
    ".pre-commit-config.yaml": "- 1\n", "Makefile": "\ttest\n", "pom.xml": "<project", "nx.json": "{}", "go.mod": "", "docker-compose.yml": "services: 1",
    ".github/workflows/a.yml": "on: push\njobs:\n  a:\n    uses: ./.github/workflows/b.yml\n    needs: [a, 3]\n    strategy: 5\n",
    "jest.config.js": "module.exports = [{ testMatch: 3, projects: { a", "vitest.config.ts": "export default defineConfig(3)",
    "eslint.config.js": "export default 3", ".eslintrc.json": '{"rules": 3, "ignorePatterns": {}}', "lerna.json": "{}",
    "build.gradle": "test { ignoreFailures = {", "phpunit.xml": "<phpunit><testsuites><testsuite/></testsuites></phpunit>", "CMakeLists.txt": "add_test((\n",
    ".bazelrc": "test --test_tag_filters\n'", ".rspec": "--pattern {{{", "a_test.go": "//go:build !(\npackage a\nfunc TestA(t *testing.T) {}\n",
    "m/Cargo.toml": '[package]\nname = "m"\nautotests = 3\n[lib]\ntest = false\n[features]\na = 3\n', "m/src/lib.rs": "#![cfg(feature =)]\n#[test]\n",
    "BUILD": "a_test(name = 1, tags = 2)\n", "Package.swift": ".testTarget(", "a.sln": "Project(", "spec/a.rb": "describe do\n", "x.csproj": "<Project",
    "test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\n",
}  # fmt: skip

# what is opened and never closed, or goes on for ever; each piece is repeated
PIECES = {
    "a.test.js": "/* ", "b.test.js": "`a ", "c.test.js": "import{test ", "jest.config.js": '"\\', "vitest.config.js": "/*[", "a_test.go": "\n\n",
    "build.gradle": '\\"', "settings.gradle": "/*", "CMakeLists.txt": '\\"', "m/CMakeLists.txt": "#[[", "tests/ATest.php": "final\n",
    "tests/BTest.php": "\n\n", "spec/a_test.rb": "\n\n", "test/b_test.rb": "class A", "src/test/java/AT.java": "\n\n", "Sources/ATests.swift": "\n\n",
    "src/lib.rs": "#[cfg(", "tests/a.rs": "use ", "tests/test.py": "\n\n", "run.sh": "cat <<A\n", "Makefile": "a: b ",
}  # fmt: skip
FIRST = {
    "tests/ATest.php": "<?php\nclass ATest extends TestCase {\n function testA() {}\n}\n", "src/lib.rs": "#[test]\nfn a() {}\n", "tests/a.rs": "#[test]\nfn a() {}\n",
    "a_test.go": "//go:build x\n\npackage a\n", "tests/test.py": "import a\n", "c.test.js": "it('a', () => {})\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository of 150 kB files; where a reader looks through the rest of a text at each piece, it takes minutes."""
    files = {path: FIRST.get(path, "") + piece * (150_000 // len(piece)) for path, piece in PIECES.items()}
    runs = ["bash run.sh", "jest", "vitest run", "pytest", *(run.strip(" ()") for run in RUNS.split(";"))]
    files["gate.toml"] = "".join(f"[steps.s{n}]\nrun = '{run}'\n" for n, run in enumerate(runs))
    files |= {
        "Cargo.toml": '[package]\nname = "a"\n',
        "package.json": "{}",
        "go.mod": "module a\n",
        "phpunit.xml": "<phpunit/>",
    }
    return opened(tmp_path_factory.mktemp("long"), files)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_ends_in_a_repository_of_what_is_never_closed(long: Repository, name: str) -> None:
    assert {f.rule for f in load(name).check(long)} <= {load(name).ID}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> list[Repository]:
    """Odd repositories, opened once: an audit opens one for all of its rules, too."""
    trees = (ODD, ODD_JAVASCRIPT, {"gate.toml": "[steps.a]\nrun = 'make'"})
    return [opened(tmp_path_factory.mktemp("odd"), files) for files in trees]


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_quiet_and_whole_in_odd_repositories(odd: list[Repository], name: str) -> None:
    found = [list(load(name).check(repo)) for repo in odd]
    assert ({f.rule for f in [*found[0], *found[1]]} <= {load(name).ID}, found[2]) == (True, [])
