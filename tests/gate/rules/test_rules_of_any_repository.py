"""Rules about policies, workflows and commands of any language: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import findings, policy, seen, workflow

CI = ".github/workflows/ci.yml"
NIGHTLY = workflow("pytest", on="{schedule: [{cron: '0 4 * * *'}]}")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.txt": ""}, ["error None:None UNGATED: no step is configured; there is no workflow either"]),
        ({"gate.toml": "gates = []"}, ["error gate.toml:1 UNGATED: no step is configured; there is no workflow either"]),
        ({CI: NIGHTLY}, ["error None:None UNGATED: no step is configured; workflows run for other events only, not for pull requests"]),
        ({CI: workflow("pytest")}, [f"error None:None UNGATED: no step is configured; nothing asks what 1 command verified for pull requests ({CI})"]),
        ({"gate.toml": policy(test="pytest")}, []),
    ],
    ids=["nothing", "an empty list", "nightly only", "a workflow", "a step"],
)  # fmt: skip
def test_a_repository_without_steps_is_ungated(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert seen("no_policy", tmp_path, files) == expected


PACKAGE = '{"scripts": {\n"test": "jest --passWithNoTests"\n}}'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"gate.toml": policy(test="npm test"), "package.json": PACKAGE}, ["error package.json:2 test: jest succeeds without any test (--passWithNoTests)"]),
        ({"gate.toml": policy(test="npx vitest run --passWithNoTests=true")}, ["error gate.toml:2 test: vitest succeeds without any test (--passWithNoTests=true)"]),
        ({"jest.config.base.js": "module.exports = {\n  passWithNoTests: true,\n}"}, ["error jest.config.base.js:2 the runner is configured to succeed without any test"]),
        ({"jest.config.js": "module.exports = { ...require('./config/shared') }", "config/shared.js": "module.exports = {\n passWithNoTests: true }"}, ["error config/shared.js:2 the runner is configured to succeed without any test"]),
        ({"gate.toml": policy(test="jest -c ci.json"), "ci.json": '{"preset": "./preset"}', "preset/jest-preset.js": "module.exports = { passWithNoTests: true }"}, ["error preset/jest-preset.js:1 the runner is configured to succeed without any test"]),
        ({"other.js": "module.exports = { passWithNoTests: true }"}, []),
        ({"jest.config.base.js": "// passWithNoTests: true", "gate.toml": policy(test="jest", other="echo --passWithNoTests")}, []),
    ],
    ids=["in a script", "in a step", "in a configuration", "in what it imports", "in its preset", "in no configuration", "near misses"],
)  # fmt: skip
def test_a_runner_that_succeeds_without_tests_is_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("pass_with_no_tests", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npx eslint --fix .", ["error gate.toml:2 lint: `eslint --fix` mends the checkout and succeeds"]),
        ("prettier --write src", ["error gate.toml:2 lint: `prettier --write` mends the checkout and succeeds"]),
        ("gofmt -w .", ["error gate.toml:2 lint: `gofmt -w` mends the checkout and succeeds"]),
        ("ruff check --fix-only .", ["error gate.toml:2 lint: `ruff --fix-only` mends the checkout and succeeds"]),
        ("black .", ["error gate.toml:2 lint: `black` mends the checkout and succeeds"]),
        ("cargo fmt", ["error gate.toml:2 lint: `cargo fmt` mends the checkout and succeeds"]),
        ("go fmt ./...", ["error gate.toml:2 lint: `go fmt` mends the checkout and succeeds"]),
        ("terraform fmt -recursive", ["error gate.toml:2 lint: `terraform fmt` mends the checkout and succeeds"]),
        ("./gradlew spotlessApply", ["error gate.toml:2 lint: `gradlew spotlessApply` mends the checkout and succeeds"]),
        ("terraform fmt -check && mix format --check-formatted && ./gradlew spotlessCheck && dart format --output=none .", []),
        ("eslint .", []), ("prettier --check .", []), ("gofmt -l .", []), ("ruff format --check .", []), ("black --check .", []),
        ("cargo fmt -- --check", []), ("prettier --write . && git diff --exit-code", []),
        ("black . && git diff", ["error gate.toml:2 lint: `black` mends the checkout and succeeds"]), ('black . && test -z "$(git status --porcelain)"', []), ("echo eslint --fix", []),
    ],
)  # fmt: skip
def test_a_check_that_mends_is_no_check(tmp_path: Path, command: str, expected: list[str]) -> None:
    assert seen("fixer_in_gate", tmp_path, {"gate.toml": policy(lint=command)}) == expected


def test_a_job_that_compares_its_checkout_later_may_mend_first(tmp_path: Path) -> None:
    assert seen("fixer_in_gate", tmp_path, {CI: workflow("go fmt ./...", "git diff --exit-code")}) == []


GOES_ON = """\
on: pull_request
jobs:
  test:
    runs-on: ubuntu-latest
    continue-on-error: {job}
    steps:
      - run: {run}
        id: a
        continue-on-error: {step}
      - run: echo {after}
"""


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("false", "pytest", "true", "x"), [f"error {CI}:9 test / a: a failing check is green"]),
        (("true", "pytest", "false", "x"), [f"error {CI}:5 the job test: a failing check is green"]),
        (("${{ matrix.old }}", "pytest", "false", "x"), [f"note {CI}:5 the job test: a failure is passed over"]),
        (("false", "./upload-report", "true", "x"), [f"note {CI}:9 test / a: a failure is passed over"]),
        (("false", "pytest", "true", "${{ steps.a.outcome }}"), []),
        (("false", "pytest", "false", "x"), []),
    ],
    ids=["a step", "a job", "some of a matrix", "an upload", "its outcome is read", "none"],
)
def test_a_check_whose_failure_is_passed_over_is_named(
    tmp_path: Path, values: tuple[str, str, str, str], expected: list[str]
) -> None:
    job, run, step, after = values
    assert (
        seen("continue_on_error", tmp_path, {CI: GOES_ON.format(job=job, run=run, step=step, after=after)}) == expected
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n", [f"error {CI}:1 expected a mapping with `on` and `jobs`"]),
        ("on: push\n", [f"error {CI}:1 expected `jobs`, found nothing"]),
        ("on: push\njobs:\n  a:\n    runs-on: x\n    needs: b\n    steps:\n      - name: n\n",
         [f"error {CI}:5 jobs.a.needs: expected the id of a job, got 'b'", f"error {CI}:7 jobs.a.steps[0]: expected `run` or `uses`, found neither"]),
        ("on: push\njobs:\n  a:\n    needs: [[b], {c: d}]\n    uses: o/r/.github/workflows/x.yml@main\n",
         [f"error {CI}:4 jobs.a.needs: expected the id of a job, got ['b']", f"error {CI}:4 jobs.a.needs: expected the id of a job, got {{'c': 'd'}}"]),
        ("on: push\njobs:\n  a:\n    uses: o/r/.github/workflows/x.yml@main\n", []),
        (workflow("pytest"), []),
    ],
    ids=["a list", "no jobs", "an empty step", "needs of other types", "a reusable workflow", "a good one"],
)  # fmt: skip
def test_a_workflow_that_github_refuses_is_named(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert seen("workflow_invalid", tmp_path, {CI: text}) == expected


@pytest.mark.parametrize(
    ("rule", "files", "expected"),
    [
        ("pipe_hides_exit", {CI: workflow("pytest | tee notes.md")}, "sh -c 'false | cat'; echo $?"),
        ("exit_swallowed", {CI: workflow("pytest || true")}, "sh -c 'false || true'; echo $?"),
        ("build_step_missing", {"gate.toml": policy(t="npm test --prefix p"), "p/package.json": '{"scripts": {"test": "jest", "build": "tsc"}}'}, "npm run build --prefix p"),
        ("test_glob_misses_js", {"gate.toml": "[steps.t]\nrun = 'node --test'\ncwd = 'p'\n", "p/package.json": "{}", "p/x.js": "import test from 'node:test'\ntest('a', () => {})\n"},
         "cd p && node --test --test-reporter=tap | grep '^# Subtest'"),
    ],
    ids=["a pipe into a file", "a command that is passed over", "a build in a folder", "tests in a folder"],
)  # fmt: skip
def test_what_shows_a_finding_is_right_from_the_root_and_changes_nothing(
    tmp_path: Path, rule: str, files: dict[str, str], expected: str
) -> None:
    assert [found.reproduce for found in findings(rule, tmp_path, files)] == [expected]
