"""What weakens a gate and what does not: each weakening beside the honest change that looks like it."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.integrity import compare
from gate.policy import Policy, parse_repository
from gate.report import Finding, Level

POLICY = """
[steps.lint]
run = "ruff check ."
[steps.test]
run = "pytest -q"
evidence = 5
[protect]
paths = ["golden/**"]
"""
BASE = {
    "gate.toml": POLICY,
    "golden/a.txt": "a\n",
    "src/app.py": "def f():\n    return 1\n",
    "tests/test_app.py": "from src.app import f\n\n\ndef test_one():\n    assert f() == 1\n\n\ndef test_two():\n    assert f() != 2\n",
    "web/app.test.ts": "it('adds', () => { expect(1).toBe(1) })\ntest('subs', () => { expect(2).toBe(2) })\n",
    "app_test.go": "package a\n\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
    "package.json": '{"scripts": {"test": "vitest run", "lint": "eslint ."}}\n',
    "tsconfig.json": '{\n  // all of it\n  "compilerOptions": {"strict": true},\n  "include": ["src", "web"],\n}\n',
    "pyproject.toml": '[tool.coverage.report]\nfail_under = 90\n[tool.ruff]\nexclude = ["build"]\n[tool.mypy]\nstrict = true\n',
    "vitest.config.ts": "export default { test: { coverage: { thresholds: { lines: 80 } }, include: ['web/**'] } }\n",
    ".github/workflows/gate.yml": "jobs:\n  gate:\n    steps:\n      - uses: acme/sluice@0123\n",
    ".github/workflows/other.yml": "jobs:\n  other:\n    steps:\n      - run: npm test\n",
    "Makefile": "test:\n\tpytest -q\n",
}


def repository(folder: Path) -> tuple[Path, str, Policy]:
    folder.mkdir(parents=True)
    for name, text in BASE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    base = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return folder, base.stdout.strip(), parse_repository(POLICY.encode(), "gate.toml")


@pytest.fixture
def found(tmp_path: Path):
    repo, base, policy = repository(tmp_path / "repo")

    def judge(**changes: str | None) -> list[Finding]:
        for name, text in changes.items():
            path = repo / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return [finding for finding in compare(repo, base, policy) if finding.level is not Level.NOTE]

    return judge


def edit(name: str, old: str, new: str) -> dict[str, str | None]:
    assert old in BASE[name]
    return {name: BASE[name].replace(old, new)}


TEST = "tests/test_app.py"
WEAKENED = [
    pytest.param(edit("gate.toml", '[steps.lint]\nrun = "ruff check ."\n', ""), ["step-removed"], id="a step removed"),
    pytest.param(edit("gate.toml", "pytest -q", "pytest -q || true"), ["step-changed"], id="a command changed"),
    pytest.param(edit("gate.toml", "evidence = 5", "evidence = 1"), ["evidence-lowered"], id="evidence lowered"),
    pytest.param(edit("gate.toml", "evidence = 5", ""), ["evidence-lowered"], id="evidence left out"),
    pytest.param(edit("gate.toml", '"golden/**"', ""), ["protection-removed"], id="protection removed"),
    pytest.param({"gate.toml": POLICY + "[notes]\nallow_missing = 3\n"}, ["check-loosened"], id="missing notes allowed"),
    pytest.param({"gate.toml": None}, ["policy-removed"], id="the policy removed"),
    pytest.param({"gate.toml": "steps ="}, ["policy-broken"], id="the policy broken"),
    pytest.param(
        {"gate.toml": POLICY + '[[waivers]]\nstep = "test"\nreason = "later"\nexpires = 2099-01-01\n'},
        ["waiver-added"], id="a waiver added",
    ),
    pytest.param({"golden/a.txt": "b\n"}, ["protected-path"], id="a protected file edited"),
    pytest.param({"golden/b.txt": "b\n"}, ["protected-path"], id="a file added to a protected folder"),
    pytest.param(edit(".github/workflows/gate.yml", "acme/sluice@0123", "acme/other@1"), ["gate-workflow"], id="the workflow that calls the gate"),
    pytest.param({TEST: None}, ["tests-removed"], id="a test file deleted"),
    pytest.param(edit(TEST, "\n\ndef test_two():\n    assert f() != 2\n", ""), ["tests-removed"], id="a test deleted"),
    pytest.param(edit(TEST, "assert f() == 1", "f()"), ["test-emptied"], id="an assertion removed"),
    pytest.param(edit(TEST, "assert f() == 1", "assert True"), ["test-emptied"], id="an assertion that always holds"),
    pytest.param(edit(TEST, "def test_one", "@pytest.mark.skip\ndef test_one"), ["test-skipped"], id="a Python test skipped"),
    pytest.param(edit(TEST, "def test_one", "@pytest.mark.xfail\ndef test_one"), ["test-skipped"], id="a test expected to fail"),
    pytest.param(edit("web/app.test.ts", "it('adds'", "it.skip('adds'"), ["tests-removed", "test-skipped"], id="a JavaScript test skipped"),
    pytest.param(edit("web/app.test.ts", "it('adds'", "it.only('adds'"), ["tests-removed", "test-focused"], id="one test alone"),
    pytest.param(edit("app_test.go", "\tif f() != 1", '\tt.Skip("later")\n\tif f() != 1'), ["test-skipped"], id="a Go test skipped"),
    pytest.param({"tests/conftest.py": "collect_ignore = ['test_app.py']\n"}, ["test-hook"], id="a file not collected"),
    pytest.param(edit("package.json", "vitest run", "vitest run --passWithNoTests"), ["pass-with-no-tests"], id="no tests is success"),
    pytest.param(edit("package.json", "vitest run", "vitest run || true"), ["exit-swallowed"], id="a script swallows"),
    pytest.param(edit("Makefile", "\tpytest -q", "\tpytest -q || true"), ["exit-swallowed"], id="a Makefile swallows"),
    pytest.param(edit(".github/workflows/other.yml", "- run: npm test", "- run: npm test\n        continue-on-error: true"), ["continue-on-error"], id="continue-on-error"),
    pytest.param(edit("tsconfig.json", '["src", "web"]', '["src"]'), ["source-excluded"], id="sources left out of tsc"),
    pytest.param(edit("tsconfig.json", '"include"', '"exclude": ["web"],\n  "include"'), ["source-excluded"], id="sources excluded from tsc"),
    pytest.param(edit("tsconfig.json", '"strict": true', '"strict": false'), ["check-loosened"], id="strict off"),
    pytest.param(edit("pyproject.toml", "fail_under = 90", "fail_under = 10"), ["threshold-lowered"], id="coverage lowered"),
    pytest.param(edit("pyproject.toml", '["build"]', '["build", "src"]'), ["source-excluded"], id="sources excluded from ruff"),
    pytest.param(edit("pyproject.toml", "strict = true", "ignore_errors = true"), ["check-loosened", "check-loosened"], id="mypy ignores errors"),
    pytest.param(edit("vitest.config.ts", "lines: 80", "lines: 8"), ["threshold-lowered"], id="a threshold in a script lowered"),
    pytest.param({".eslintignore": "src\n"}, ["source-excluded"], id="an ignore file added"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "rules"), WEAKENED)
def test_what_weakens_the_gate_is_found(found, changes: dict[str, str | None], rules: list[str]) -> None:
    assert sorted(f.rule for f in found(**changes)) == sorted(rules)


HONEST = [
    pytest.param({}, id="nothing"),
    pytest.param(edit("src/app.py", "return 1", "return 3 - 2"), id="a fix"),
    pytest.param(edit("gate.toml", "[steps.lint]", "[steps.style]"), id="a step renamed"),
    pytest.param({"gate.toml": POLICY + '[steps.types]\nrun = "mypy ."\n'}, id="a step added"),
    pytest.param(edit("gate.toml", "evidence = 5", "evidence = 9"), id="evidence raised"),
    pytest.param(edit("gate.toml", '[steps.test]\nrun = "pytest -q"\nevidence = 5', '[steps.test]\nevidence = 5\nrun = "pytest  -q"'), id="keys reordered"),
    pytest.param({TEST: BASE[TEST] + "\n\ndef test_three():\n    assert f()\n"}, id="a test added"),
    pytest.param({TEST: None, "tests/unit/test_app.py": BASE[TEST]}, id="a test file moved"),
    pytest.param(edit(TEST, "test_two", "test_it_is_not_two"), id="a test renamed"),
    pytest.param(edit(TEST, "assert f() != 2", "assert f() == 1"), id="an assertion changed"),
    pytest.param(edit("web/app.test.ts", "adds", "adds numbers"), id="a JavaScript test renamed"),
    pytest.param(edit("package.json", '"lint": "eslint ."', '"lint": "eslint .", "dev": "vite"'), id="a script added"),
    pytest.param(edit("tsconfig.json", '["src", "web"]', '["src", "web", "tools"]'), id="more sources checked"),
    pytest.param(edit("pyproject.toml", "fail_under = 90", "fail_under = 95"), id="coverage raised"),
    pytest.param(edit("pyproject.toml", '["build"]', "[]"), id="an exclusion removed"),
    pytest.param(edit(".github/workflows/other.yml", "npm test", "npm run test"), id="another workflow"),
    pytest.param(edit("Makefile", "\tpytest -q", "\t@echo testing || echo\n\tpytest -q").copy() and {"Makefile": "test:\n\tpytest -q\n\nclean:\n\trm -rf build\n"}, id="a target added"),
    pytest.param({"README.md": "Never write `|| true` in a check, nor @pytest.mark.skip.\n"}, id="prose about shortcuts"),
    pytest.param({"src/only.py": "# it.only('x')\n"}, id="a word in a source"),
]  # fmt: skip


@pytest.mark.parametrize("changes", HONEST)
def test_a_change_that_keeps_the_strength_is_no_tampering(found, changes: dict[str, str | None]) -> None:
    assert found(**changes) == []


def test_a_finding_says_where_what_it_was_and_what_it_became(found) -> None:
    [finding] = found(**edit("gate.toml", "evidence = 5", "evidence = 1"))
    assert (finding.path, finding.line, finding.message) == (
        "gate.toml", 4, "step test: evidence was 5, now it is 1",
    )  # fmt: skip


def test_a_link_out_of_the_repository_is_not_followed(found, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("@pytest.mark.skip\n")
    (tmp_path / "repo" / "tests" / "test_link.py").symlink_to(tmp_path / "outside")
    assert [f.rule for f in found()] == ["link-outside"]


def test_a_link_inside_the_repository_is_fine(found, tmp_path: Path) -> None:
    (tmp_path / "repo" / "web" / "app.py").symlink_to("../src/app.py")
    assert found() == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["one", "two", "three", "four"]), unique=True, min_size=1))
def test_adding_tests_never_tampers(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    repo, base, policy = repository(tmp_path_factory.mktemp("r") / "repo")
    extra = "".join(f"\n\ndef test_more_{name}():\n    assert f() == 1\n" for name in names)
    (repo / TEST).write_text(BASE[TEST] + extra)
    assert [finding.rule for finding in compare(repo, base, policy)] == ["tests-moved"]
