"""What an attacker would try, each in a real repository, and what an honest change looks like beside it.

Each row edits one file of the same project: file, what stood there, what stands there now; or it gives whole files.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.integrity import compare
from gate.policy import parse_repository
from gate.report import Level
from tests.evidence import write_tree

Edit = tuple[str, str, str] | dict[str, str | None]

BASE = {
    'gate.toml': '[steps.lint]\nrun = "npm run lint"\n[steps.js]\nrun = "npm test"\n[steps.py]\nrun = "make check"\n[steps.go]\nrun = "./ci.sh"\n[steps.ruff]\nrun = "ruff check ."\n[steps.types]\nrun = "mypy src"\n[steps.pytest]\nrun = "pytest -q"\nlimit = "10m"\n[steps.cov]\nrun = "pytest --cov --cov-fail-under=90"\nneeds = ["ruff"]\nevidence = 5\n[protect]\npaths = ["golden/**"]\nallow = "review"\n',
    'golden/a.txt': 'a\n',
    'package.json': '{\n  "scripts": {\n    "test": "vitest run",\n    "lint": "eslint . --max-warnings 0",\n    "jest": "jest --ci"\n  },\n  "jest": {"coverageThreshold": {"global": {"branches": 80, "lines": 90}}}\n}\n',
    'Makefile': 'PYTEST ?= pytest\ncheck: lint\n\tpytest -q tests\n\tcoverage report --fail-under=90\nlint:\n\truff check .\n.PHONY: check lint\n',
    'ci.sh': '#!/bin/bash\nset -euo pipefail\ngo vet ./...\ngo test ./...\n',
    'pyproject.toml': '[tool.pytest.ini_options]\naddopts = "-ra --strict-markers"\ntestpaths = ["tests"]\nxfail_strict = true\nfilterwarnings = ["error"]\n[tool.coverage.report]\nfail_under = 90\n[tool.coverage.run]\nsource = ["src"]\nbranch = true\n[tool.ruff]\nline-length = 100\nexclude = ["build"]\n[tool.ruff.lint]\nselect = ["E", "F", "S"]\nignore = ["E501"]\n[tool.ruff.lint.per-file-ignores]\n"tests/*" = ["S101"]\n[tool.mypy]\nstrict = true\nfiles = ["src"]\n',
    'pytest.ini.off': '',
    'setup.cfg': '[flake8]\nmax-line-length = 100\nexclude = build\n',
    'mypy.ini': '[mypy]\nstrict = True\nwarn_unused_ignores = True\n',
    'tox.ini': '[tox]\nenv_list = py311\n[testenv]\ncommands = pytest -q\n',
    '.coveragerc': '[report]\nfail_under = 85\n[run]\nsource = src\n',
    'src/app.py': 'def f(x: int) -> int:\n    return x + 1\n',
    'src/app.ts': 'export const add = (a: number, b: number) => a + b\n',
    'tests/test_app.py': "import pytest\nfrom src.app import f\n\n\ndef test_one():\n    assert f(1) == 2\n\n\n@pytest.mark.parametrize('x', [1, 2, 3])\ndef test_two(x):\n    assert f(x) == x + 1\n\n\nclass TestMore:\n    def test_three(self):\n        with pytest.raises(TypeError):\n            f('a')\n",
    'tests/test_unit.py': 'import unittest\n\n\nclass UnitTest(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 1)\n\n    def test_b(self):\n        self.assertTrue(f(1))\n',
    'tests/conftest.py': 'import pytest\n\n\n@pytest.fixture\ndef x():\n    return 1\n',
    'web/app.test.ts': "import { describe, it, test, expect } from 'vitest'\ndescribe('math', () => {\n  it('adds', () => {\n    expect(1 + 1).toBe(2)\n  })\n  test('subs', () => { expect(2 - 1).toBe(1) })\n  it.each([[1, 2], [2, 3]])('inc %s', (a, b) => { expect(a + 1).toBe(b) })\n})\n",
    'app_test.go': 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal("no")\n\t}\n}\n\nfunc TestB(t *testing.T) {\n\tif f() == 2 {\n\t\tt.Errorf("no")\n\t}\n}\n',
    'src/lib.rs': 'pub fn f() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {\n        assert_eq!(super::f(), 1);\n    }\n\n    #[test]\n    fn two() {\n        assert!(super::f() > 0);\n    }\n}\n',
    'src/test/java/ATest.java': 'import org.junit.jupiter.api.*;\nclass ATest {\n  @Test void one() { assertEquals(1, 1); }\n  @Test void two() { assertTrue(f()); }\n}\n',
    'spec/a_spec.rb': "describe 'x' do\n  it 'works' do\n    expect(1).to eq(1)\n  end\n  it 'more' do\n    expect(2).to eq(2)\n  end\nend\n",
    'tests/ATest.php': '<?php\nclass ATest extends TestCase {\n  public function testOne() { $this->assertSame(1, 1); }\n  public function testTwo() { $this->assertTrue(f()); }\n}\n',
    'Tests/UnitTests.cs': 'public class UnitTests {\n  [Fact]\n  public void One() { Assert.Equal(1, F()); }\n  [Fact]\n  public void Two() { Assert.True(F() > 0); }\n}\n',
    'tsconfig.json': '{\n  // all\n  "compilerOptions": {"strict": true, "noImplicitAny": true, "noUnusedLocals": true},\n  "include": ["src", "web"]\n}\n',
    'eslint.config.mjs': "import js from '@eslint/js'\nexport default [\n  js.configs.recommended,\n  { files: ['**/*.ts', '**/*.js'], rules: { 'no-undef': 'error', 'no-console': 'warn' } },\n]\n",
    '.eslintrc.json': '{"extends": ["eslint:recommended"], "rules": {"no-undef": "error", "eqeqeq": 2}}\n',
    'vitest.config.ts': "import { defineConfig } from 'vitest/config'\nexport default defineConfig({\n  test: {\n    include: ['web/**/*.test.ts'],\n    coverage: { thresholds: { lines: 80, branches: 70 } },\n  },\n})\n",
    'jest.config.js': "module.exports = {\n  testMatch: ['**/*.test.ts'],\n  coverageThreshold: { global: { branches: 80, functions: 80 } },\n}\n",
    'playwright.config.ts': "export default { testDir: 'e2e', forbidOnly: !!process.env.CI, retries: 0 }\n",
    '.mocharc.json': '{"spec": ["test/**/*.js"], "forbidOnly": true}\n',
    'Cargo.toml': '[package]\nname = "x"\nversion = "0.1.0"\n[lints.clippy]\nunwrap_used = "deny"\n',
    'pom.xml': '<project>\n  <build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId></plugin></plugins></build>\n</project>\n',
    'build.gradle': "plugins { id 'java' }\ntest { useJUnitPlatform() }\n",
    '.golangci.yml': 'linters:\n  enable:\n    - errcheck\n    - govet\n',
    '.rubocop.yml': 'AllCops:\n  NewCops: enable\nStyle/Foo:\n  Enabled: true\n',
    'phpunit.xml': '<phpunit failOnWarning="true"><testsuites><testsuite name="a"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
    '.pre-commit-config.yaml': 'repos:\n  - repo: local\n    hooks:\n      - id: ruff\n        name: ruff\n        entry: ruff check\n        language: system\n        types: [python]\n      - id: mypy\n        name: mypy\n        entry: mypy src\n        language: system\n',
    '.github/workflows/gate.yml': 'on: [push, pull_request]\njobs:\n  gate:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - uses: acme/sluice@0123\n',
    '.github/workflows/ci.yml': 'on: [push, pull_request]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: npm test\n      - run: pytest -q\n',
    'noxfile.py': "import nox\n\n@nox.session\ndef tests(session):\n    session.run('pytest', '-q')\n",
    'CMakeLists.txt': 'cmake_minimum_required(VERSION 3.20)\nproject(x)\nenable_testing()\nadd_test(NAME a COMMAND a)\nadd_test(NAME b COMMAND b)\n',
    'turbo.json': '{"tasks": {"test": {}, "lint": {}}}\n',
    'README.md': '# x\n',
    'biome.json': '{"linter": {"enabled": true, "rules": {"recommended": true}}}\n',
    'codecov.yml': 'coverage:\n  status:\n    project:\n      default:\n        target: 90%\n',
}  # fmt: skip
WEAKER: dict[str, tuple[Edit, str]] = {
    'make ; true': (('Makefile', '\tpytest -q tests', '\tpytest -q tests ; true'), 'exit-swallowed'),
    'make || :': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || :'), 'exit-swallowed'),
    'sh || :': (('ci.sh', 'go test ./...', 'go test ./... || :'), 'exit-swallowed'),
    'make || exit 0': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || exit 0'), 'exit-swallowed'),
    'npm || exit 0': (('package.json', 'vitest run', 'vitest run || exit 0'), 'exit-swallowed'),
    'make || true': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || true'), 'exit-swallowed'),
    'make || /bin/true': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || /bin/true'), 'exit-swallowed'),
    'sh || /bin/true': (('ci.sh', 'go test ./...', 'go test ./... || /bin/true'), 'exit-swallowed'),
    'make ; exit 0': (('Makefile', '\tpytest -q tests', '\tpytest -q tests ; exit 0'), 'exit-swallowed'),
    'npm ; exit 0': (('package.json', 'vitest run', 'vitest run ; exit 0'), 'exit-swallowed'),
    'make || echo failed': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || echo failed'), 'exit-swallowed'),
    'make || printf x': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || printf x'), 'exit-swallowed'),
    'sh || printf x': (('ci.sh', 'go test ./...', 'go test ./... || printf x'), 'exit-swallowed'),
    'make || return 0': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || return 0'), 'exit-swallowed'),
    'npm || return 0': (('package.json', 'vitest run', 'vitest run || return 0'), 'exit-swallowed'),
    'make || cd .': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || cd .'), 'exit-swallowed'),
    'make | cat': (('Makefile', '\tpytest -q tests', '\tpytest -q tests | cat'), 'exit-swallowed'),
    'make & wait': (('Makefile', '\tpytest -q tests', '\tpytest -q tests & wait'), 'exit-swallowed'),
    'npm & wait': (('package.json', 'vitest run', 'vitest run & wait'), 'exit-swallowed'),
    'make || [ 1 ]': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || [ 1 ]'), 'exit-swallowed'),
    'make || test 1': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || test 1'), 'exit-swallowed'),
    'sh || test 1': (('ci.sh', 'go test ./...', 'go test ./... || test 1'), 'exit-swallowed'),
    'make || (exit 0)': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || (exit 0)'), 'exit-swallowed'),
    'npm || (exit 0)': (('package.json', 'vitest run', 'vitest run || (exit 0)'), 'exit-swallowed'),
    'make || { echo; }': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || { echo; }'), 'exit-swallowed'),
    'make || sleep 0': (('Makefile', '\tpytest -q tests', '\tpytest -q tests || sleep 0'), 'exit-swallowed'),
    'sh || sleep 0': (('ci.sh', 'go test ./...', 'go test ./... || sleep 0'), 'exit-swallowed'),
    'make 2>/dev/null || true': (('Makefile', '\tpytest -q tests', '\tpytest -q tests 2>/dev/null || true'), 'exit-swallowed'),
    'npm 2>/dev/null || true': (('package.json', 'vitest run', 'vitest run 2>/dev/null || true'), 'exit-swallowed'),
    'make -prefix': (('Makefile', '\tpytest', '\t-pytest'), 'exit-swallowed'),
    'make @-prefix': (('Makefile', '\tpytest', '\t@-pytest'), 'exit-swallowed'),
    'make .IGNORE': (('Makefile', '.PHONY', '.IGNORE: check\n.PHONY'), 'exit-swallowed'),
    'make SHELL': (('Makefile', 'check: lint', 'SHELL := /bin/true\ncheck: lint'), 'step-runs-less'),
    'make PYTEST=true': (('Makefile', 'pytest -q tests', 'true'), 'step-runs-less'),
    'sh set +e': (('ci.sh', 'go vet', 'set +e\ngo vet'), 'exit-swallowed'),
    'sh no set -e': (('ci.sh', 'set -euo pipefail\n', ''), 'exit-swallowed'),
    'sh trap': (('ci.sh', 'go vet', "trap 'exit 0' EXIT\ngo vet"), 'exit-swallowed'),
    'sh exit early': (('ci.sh', 'go vet', 'exit 0\ngo vet'), 'step-runs-less'),
    'sh if': (('ci.sh', 'go test ./...', 'if go test ./...; then echo ok; fi'), 'exit-swallowed'),
    'sh bang': (('ci.sh', 'go test ./...', '! go test ./...'), 'exit-swallowed'),
    'sh background': (('ci.sh', 'go test ./...', 'go test ./... &'), 'exit-swallowed'),
    'sh function': (('ci.sh', 'go vet', 'go() { true; }\ngo vet'), 'tool-shadowed'),
    'sh alias': (('ci.sh', 'go vet', 'alias go=true\ngo vet'), 'tool-shadowed'),
    'sh removed': ({'ci.sh': None}, 'step-runs-less'),
    'exit-zero ruff': (('Makefile', 'ruff check .', 'ruff check --exit-zero .'), 'exit-zero'),
    '-k': (('Makefile', 'pytest -q tests', 'pytest -q tests -k nothing'), 'step-narrowed'),
    '--ignore': (('Makefile', 'pytest -q tests', 'pytest -q --ignore=tests/test_app.py'), 'step-narrowed'),
    '--deselect': (('Makefile', 'pytest -q tests', 'pytest -q tests --deselect tests/test_app.py::test_one'), 'step-narrowed'),
    'collect-only': (('Makefile', 'pytest -q tests', 'pytest -q tests --collect-only'), 'step-narrowed'),
    '--co': (('Makefile', 'pytest -q tests', 'pytest -q tests --co'), 'step-narrowed'),
    '-p no': (('Makefile', 'pytest -q tests', 'pytest -q tests -p no:assertion -O'), 'step-narrowed'),
    'fewer paths': (('Makefile', 'pytest -q tests', 'pytest -q tests/test_unit.py'), 'step-narrowed'),
    '--version': (('Makefile', 'pytest -q tests', 'pytest --version'), 'step-runs-less'),
    'python -O': (('Makefile', 'pytest -q tests', 'PYTHONOPTIMIZE=1 pytest -q tests'), 'step-narrowed'),
    'env': (('Makefile', 'pytest -q tests', 'PYTEST_ADDOPTS=-knone pytest -q tests'), 'step-narrowed'),
    'cov-fail-under': (('Makefile', '--fail-under=90', '--fail-under=9'), 'step-narrowed'),
    'cov gone': (('Makefile', '\tcoverage report --fail-under=90\n', ''), 'step-runs-less'),
    'max-warnings': (('package.json', ' --max-warnings 0', ''), 'step-narrowed'),
    'max-warnings up': (('package.json', '--max-warnings 0', '--max-warnings 999'), 'step-narrowed'),
    'eslint narrower': (('package.json', 'eslint . --max', 'eslint src --max'), 'step-narrowed'),
    'eslint quiet': (('package.json', 'eslint .', 'eslint --quiet .'), 'step-narrowed'),
    'eslint no-config': (('package.json', 'eslint .', 'eslint --no-eslintrc --no-config-lookup .'), 'step-narrowed'),
    'eslint rule off': (('package.json', 'eslint .', "eslint --rule 'no-undef: off' ."), 'step-narrowed'),
    'vitest watch->list': (('package.json', 'vitest run', 'vitest list'), 'step-narrowed'),
    'vitest changed': (('package.json', 'vitest run', 'vitest run --changed'), 'step-narrowed'),
    'vitest -t': (('package.json', 'vitest run', 'vitest run -t adds'), 'step-narrowed'),
    'vitest file': (('package.json', 'vitest run', 'vitest run web/other'), 'step-narrowed'),
    'vitest config': (('package.json', 'vitest run', 'vitest run --config other.ts'), 'step-narrowed'),
    'pass no tests': (('package.json', 'vitest run', 'vitest run --passWithNoTests'), 'pass-with-no-tests step-narrowed'),
    'vitest bail/retry': (('package.json', 'vitest run', 'vitest run --retry=10 --dangerouslyIgnoreUnhandledErrors'), 'step-narrowed'),
    'go -run': (('ci.sh', 'go test ./...', 'go test -run TestA ./...'), 'step-narrowed'),
    'go narrower': (('ci.sh', 'go test ./...', 'go test ./cmd'), 'step-narrowed'),
    'go -short': (('ci.sh', 'go test ./...', 'go test -short ./...'), 'step-narrowed'),
    'go vet gone': (('ci.sh', 'go vet ./...\n', ''), 'step-runs-less'),
    'go list': (('ci.sh', 'go test ./...', 'go test -list . ./...'), 'step-runs-less'),
    'go compile only': (('ci.sh', 'go test ./...', 'go test -c ./...'), 'step-runs-less'),
    'npm script pre exit': (('package.json', '"test": "vitest run"', '"test": "exit 0; vitest run"'), 'step-runs-less'),
    'npm test removed': (('package.json', '    "test": "vitest run",\n', ''), 'step-runs-less'),
    'npm comment': (('package.json', 'vitest run', 'true # vitest run'), 'step-runs-less'),
    'npm exec node -e': (('package.json', 'vitest run', "node -e 'process.exit(0)'"), 'step-runs-less'),
    'jest threshold in package.json': (('package.json', '"branches": 80', '"branches": 8'), 'threshold-lowered'),
    'jest threshold removed': (('package.json', ', "lines": 90', ''), 'threshold-lowered'),
    'npmrc script-shell': ({'.npmrc': 'script-shell=/bin/true\n'}, 'tool-shadowed'),
    'npmrc ignore-scripts': ({'.npmrc': 'ignore-scripts=true\n'}, 'tool-shadowed'),
    'gate needs removed?': (('gate.toml', 'limit = "10m"', 'limit = "1s"\nenv = {PYTEST_ADDOPTS="-k x"}'), 'step-changed'),
    'gate shell': (('gate.toml', 'limit = "10m"', 'shell = "sh -c"'), 'shell-loosened'),
    'gate paths': (('gate.toml', 'limit = "10m"', 'paths = ["nothing/**"]'), 'step-narrowed'),
    'gate evidence exit': (('gate.toml', 'evidence = 5', 'evidence = "exit"'), 'evidence-lowered'),
    'gate cov narrowed': (('gate.toml', '--cov-fail-under=90', '--cov-fail-under=10'), 'step-changed'),
    'gate allow label': (('gate.toml', 'allow = "review"', 'allow = "label:x"'), 'protection-loosened'),
    'gate renamed+changed': (('gate.toml', '[steps.types]\nrun = "mypy src"', '[steps.typing]\nrun = "true"\nevidence = "exit"'), 'step-removed'),
    'gate gates empty': ({'gate.toml': 'gates = []\n'}, 'protection-removed step-removed'),
    'gate symlink gone': ({'gate.toml': ''}, 'protection-removed step-removed'),
    'gate two steps same command merged': (('gate.toml', '[steps.types]\nrun = "mypy src"\n', ''), 'step-removed'),
    'wf': (('.github/workflows/gate.yml', '[push, pull_request]', '[push]'), 'gate-workflow'),
    'wf deleted': ({'.github/workflows/gate.yml': None}, 'gate-workflow'),
    'wf other continue': (('.github/workflows/ci.yml', '- run: npm test', '- run: npm test\n        continue-on-error: true'), 'continue-on-error'),
    'wf other || true': (('.github/workflows/ci.yml', 'npm test', 'npm test || true'), 'exit-swallowed'),
    'wf other if false': (('.github/workflows/ci.yml', '- run: npm test', '- run: npm test\n        if: false'), 'condition-always-false'),
    'wf twin same job name': ({'.github/workflows/fake.yml': 'on: pull_request\njobs:\n  gate:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ok\n'}, 'gate-workflow'),
    'protected rename': ({'golden/a.txt': None, 'golden2/a.txt': 'a\n'}, 'protected-path'),
}  # fmt: skip
HONEST: dict[str, Edit] = {
    'more_tests': ('Makefile', '\tpytest -q tests', '\tpytest -q -x tests'),
    'wider': ('Makefile', '\tpytest -q tests', '\tpytest -q'),
    'verbose': ('Makefile', 'pytest -q tests', 'pytest -vv tests --tb=short -n 4 --durations 10'),
    'added': ('Makefile', '\tpytest -q tests\n', '\tpytest -q tests\n\tmypy src\n'),
    'reordered': ('Makefile', '\tpytest -q tests\n\tcoverage report --fail-under=90\n', '\tcoverage report --fail-under=95\n\tpytest -q tests\n'),
    'var': ('Makefile', '\tpytest -q tests', '\t$(PYTEST) -q tests'),
    'npm_script_split': ('package.json', '"test": "vitest run"', '"test": "npm run unit", "unit": "vitest run"'),
    'npm_lint_more': ('package.json', 'eslint . --max-warnings 0', 'eslint . --max-warnings 0 && prettier --check .'),
    'npm_jest': ('package.json', 'vitest run', 'jest --ci'),
    'npm_pm': ('package.json', 'vitest run', 'vitest run --coverage --reporter=dot'),
    'sh_guard': ('ci.sh', 'go test ./...', 'if ! go test ./...; then echo failed; exit 1; fi'),
    'sh_rc': ('ci.sh', 'go test ./...', 'rc=0\ngo test ./... || rc=$?\necho done\nexit $rc'),
    'sh_or': ('ci.sh', 'go test ./...', 'go test ./... || { echo failed; exit 1; }'),
    'sh_func': ('ci.sh', 'go vet ./...\ngo test ./...\n', 'run() {\n  go vet ./...\n  go test -race ./...\n}\nrun\n'),
    'sh_tee': ('ci.sh', 'go test ./...', 'go test ./... | tee log'),
    'sh_prep': ('ci.sh', 'go vet', '[ -d out ] || mkdir out\ncommand -v go || exit 1\ngo vet'),
    'sh_cleanup': ('ci.sh', 'go vet', "trap 'rm -rf out' EXIT\ngo vet"),
    'sh_exit': ('ci.sh', 'go test ./...\n', 'go test ./...\nexit 0\n'),
    'dev_script': ('package.json', '"jest": "jest --ci"', '"jest": "jest --ci", "watch": "vitest", "clean": "rm -rf dist || true"'),
    'make_help': ('Makefile', '.PHONY', 'clean:\n\t-rm -rf build\n.PHONY'),
    'make_dep': {'Makefile': 'PYTEST ?= pytest\ncheck: lint types\n\tpytest -q tests\n\tcoverage report --fail-under=90\nlint:\n\truff check .\n.PHONY: check lint\n'},
    'ci_job': ('.github/workflows/ci.yml', '- run: npm test', '- run: npm ci\n      - run: npm test'),
    'ci_cond': ('.github/workflows/ci.yml', '- run: npm test', "- run: npm test\n        if: github.event_name == 'push' || github.event_name == 'pull_request'"),
}  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return one repository for all rows, and its commit."""
    repo = write_tree(tmp_path_factory.mktemp("variants") / "repo", BASE)
    (repo / "ci.sh").chmod(0o755)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *command], cwd=repo, check=True)
    base = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True)
    return repo, base.stdout.strip()


@pytest.fixture
def rules(project: tuple[Path, str]) -> Iterator:
    """Return what makes the rules of an edit known; the edit is taken back afterwards."""
    repo, base = project
    edited: dict[str, str | None] = {}

    def judge(edit: Edit) -> list[str]:
        if isinstance(edit, tuple):
            path, old, new = edit
            assert old in BASE[path]
            edit = {path: BASE[path].replace(old, new, 1)}
        edited.update(edit)
        for path in (path for path, text in edit.items() if text is None):
            (repo / path).unlink()
        write_tree(repo, {path: text for path, text in edit.items() if text is not None})
        found = compare(repo, base, parse_repository(BASE["gate.toml"].encode(), "gate.toml"))
        return sorted({finding.rule for finding in found if finding.level is Level.ERROR})

    yield judge
    for path in edited:
        (repo / path).unlink(missing_ok=True)
    write_tree(repo, {path: BASE[path] for path in edited if path in BASE})


@pytest.mark.parametrize(("edit", "expected"), WEAKER.values(), ids=WEAKER)
def test_a_variant_that_weakens_the_gate_is_found(rules, edit: Edit, expected: str) -> None:
    assert rules(edit) == expected.split()


@pytest.mark.parametrize("edit", HONEST.values(), ids=HONEST)
def test_an_honest_change_beside_it_is_no_tampering(rules, edit: Edit) -> None:
    assert rules(edit) == []
