"""Rules about policies, workflows and commands of any language: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

CI = ".github/workflows/ci.yml"
NIGHTLY = workflow("pytest", on="{schedule: [{cron: '0 4 * * *'}]}")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.txt": ""}, ["error None:None UNGATED: no step is configured; and there is no workflow"]),
        ({"gate.toml": "gates = []"}, ["error gate.toml:1 UNGATED: no step is configured; and there is no workflow"]),
        ({CI: NIGHTLY}, ["error None:None UNGATED: no step is configured; and no workflow runs for pull requests, only for other events"]),
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
        ("on: push\njobs:\n  a:\n    uses: o/r/.github/workflows/x.yml@main\n", []),
        (workflow("pytest"), []),
    ],
    ids=["a list", "no jobs", "an empty step", "a reusable workflow", "a good one"],
)  # fmt: skip
def test_a_workflow_that_github_refuses_is_named(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert seen("workflow_invalid", tmp_path, {CI: text}) == expected
