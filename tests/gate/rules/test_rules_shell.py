"""Rules about shells: checks whose failure is lost on its way to the gate. Each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

CI = ".github/workflows/ci.yml"
PIPE = "may fail, and the pipeline ends as"
JEST = {"package.json": '{"scripts": {"test": "jest"}}'}


def dockerfile(*lines: str) -> dict[str, str]:
    return {
        "gate.toml": policy(image="docker build -f ci/Dockerfile ."),
        "ci/Dockerfile": "\n".join(["FROM node", *lines]),
    }


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({CI: workflow("npm test 2>&1 | tee log"), **JEST}, [f"error {CI}:7 test / step 1: `npm test` {PIPE} `tee log` does"]),
        ({CI: workflow("pytest | ./judge")}, [f"warning {CI}:7 test / step 1: `pytest` {PIPE} `./judge` does"]),
        ({"gate.toml": policy(test="sh ci.sh"), "ci.sh": "set -e\ngo test ./... | tail -3\n"}, [f"error ci.sh:2 test: `go test ./...` {PIPE} `tail -3` does"]),
        ({"gate.toml": policy(test="npm test"), "package.json": '{"scripts": {\n"test": "jest | cat"}}'}, [f"error package.json:2 test: `jest` {PIPE} `cat` does"]),
        ({"gate.toml": policy(test="make test"), "Makefile": "test:\n\tpytest -q | tee log\n"}, [f"error Makefile:2 test: `pytest -q` {PIPE} `tee log` does"]),
        (dockerfile("RUN npm ci \\", "  && npm test | tee log") | JEST, [f"error ci/Dockerfile:2 RUN: `npm test` {PIPE} `tee log` does"]),
        ({CI: workflow("npm test | tee log", shell="bash"), **JEST}, []),
        ({CI: workflow("set -o pipefail; npm test | tee log"), **JEST}, []),
        ({CI: "defaults: {run: {shell: bash}}\n" + workflow("npm test | tee log"), **JEST}, []),
        ({CI: workflow("ls | tee log", "echo x | cat", "grep -q x y | cat", "npm ci | tee log"), **JEST}, []),
        ({CI: workflow("go test -json ./... | tparse -all", "pytest | tee log; exit ${PIPESTATUS[0]}")}, []),
        ({"gate.toml": policy(test="pytest | tee log")}, []),
        (dockerfile('SHELL ["/bin/bash", "-eo", "pipefail", "-c"]', "RUN npm test | tee log") | JEST, []),
        (dockerfile("RUN npm test | tee log") | JEST | {"gate.toml": policy(test="npm test")}, []),
    ],
    ids=["a workflow", "what may judge", "a script", "a package script", "make", "a Dockerfile", "bash", "pipefail", "a default", "no check",
         "what judges", "a step has pipefail", "SHELL", "a Dockerfile that nobody builds"],
)  # fmt: skip
def test_a_check_before_a_pipe_is_named(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert seen("pipe_hides_exit", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "command -v lychee && lychee docs || echo 'not installed'",
            ["`lychee docs` may fail, and `|| echo not installed` makes that a success"],
        ),
        ("pytest -q || echo failed", ["`pytest -q` may fail, and `|| echo failed` makes that a success"]),
        ("pytest || { echo failed; exit 1; }", []),
        ("pytest || { echo failed; status=1; }; exit $status", []),
        ("pytest || echo failed=1 >> $GITHUB_OUTPUT", []),
        ("rm x || echo gone", []),
        ("if command -v lychee; then lychee docs; else echo 'not installed'; fi", []),
    ],
)
def test_a_failure_that_is_only_printed_is_named(tmp_path: Path, line: str, expected: list[str]) -> None:
    found = [f"error gate.toml:2 links: {text}" for text in expected]
    assert seen("or_echo_masks_failure", tmp_path, {"gate.toml": f'[steps.links]\nrun = """{line}"""\n'}) == found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pytest || true", ["error ci.sh:2 test: `pytest` may fail, and `|| true` makes that a success"]),
        ("pytest; rm -r x", ["error ci.sh:2 test: `pytest` may fail, and the text goes on with `rm -r x`"]),
        ("pytest\nruff check", ["error ci.sh:2 test: `pytest` may fail, and the text goes on with `ruff check`"]),
        ("pytest & sleep 1", ["warning ci.sh:2 test: `pytest` may fail, and nobody waits for what `&` starts"]),
        (
            "set -e\npytest && echo ok\nrm x",
            ["error ci.sh:3 test: `pytest` may fail, and in the middle of `&&` it stops nothing"],
        ),
        ("if pytest; then echo ok; fi", ["warning ci.sh:2 test: `pytest` may fail, and the `if` that asks it goes on"]),
        ("trap 'exit 0' EXIT\npytest", ["error ci.sh:3 test: `pytest` may fail, and the trap exits 0"]),
        ("set -e\npytest\nruff check", []),
        ("pytest || pytest --lf", []),
        ("pytest || on_error", []),
        ("set +e\npytest\ncode=$?\nruff check\nexit $code", []),
        ("if ! pytest; then failed=1; fi\nexit $failed", []),
        ("! pytest tests/that_fail", []),
        ("npm ci || true\npytest", []),
    ],
)
def test_a_check_that_may_fail_in_vain_is_named(tmp_path: Path, line: str, expected: list[str]) -> None:
    files = {"gate.toml": policy(test="bash ci.sh"), "ci.sh": f"# checks\n{line}\n"}
    assert seen("exit_swallowed", tmp_path, files) == expected


def test_a_step_that_cannot_fail_is_named(tmp_path: Path) -> None:
    files = {"gate.toml": policy(a="./licences || true", b="./licences", c="echo ok || true")}
    assert seen("exit_swallowed", tmp_path, files) == [
        "error gate.toml:2 a: no command of this step can make it fail (|| true)"
    ]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"gate.toml": policy(test="tox"), "tox.ini": "[testenv]\ncommands =\n    - pytest -q\n"}, ["error tox.ini:3 test: `pytest -q` may fail, and the `-` before it passes that over"]),
        ({"gate.toml": policy(test="make test"), "Makefile": "test:\n\t-pytest -q\n"}, ["error Makefile:2 test: `pytest -q` may fail, and the `-` before it passes that over"]),
        ({"gate.toml": policy(test="tox"), "tox.ini": "[testenv]\ncommands =\n    - rm -r out\n    pytest -q\n"}, []),
        ({"gate.toml": policy(test="make test"), "Makefile": "test:\n\t-rm out\n\tpytest -q\n"}, []),
    ],
    ids=["tox", "make", "tox removes", "make removes"],
)  # fmt: skip
def test_a_check_behind_a_sign_that_forgives_is_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("ignore_failure_prefix", tmp_path, files) == expected


EMPTY = "a run that collected no test is made a success"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"gate.toml": policy(test='pytest -m "not live" || [ $? -eq 5 ]')}, [f"error gate.toml:2 test: {EMPTY}"]),
        ({"gate.toml": policy(test="make test"), "Makefile": "test:\n\tpytest || [ $$? -eq 5 ]\n"}, [f"error Makefile:2 test: {EMPTY}"]),
        ({"gate.toml": policy(test="bash ci.sh"), "ci.sh": "pytest\nrc=$?\nif [ $rc = 5 ]; then exit 0; fi\nexit $rc\n"}, [f"error ci.sh:3 test: {EMPTY}"]),
        ({"gate.toml": policy(test="pytest"), "conftest.py": "def pytest_sessionfinish(session, exitstatus):\n    if exitstatus == 5:\n        session.exitstatus = 0\n"},
         ["error conftest.py:2 pytest_sessionfinish makes a run that collected no test a success"]),
        ({"gate.toml": policy(test="pytest", other="./five || [ $? -eq 7 ]")}, []),
        ({"gate.toml": policy(test="./five || [ $? -eq 5 ]")}, []),
    ],
    ids=["a step", "make", "a script", "a hook", "another code", "another program"],
)  # fmt: skip
def test_a_run_without_tests_that_is_made_a_success_is_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("exit5_swallowed", tmp_path, files) == expected


FUNCTION = "run_tests() {{\n  {0}\n  echo done\n}}\n"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("set -e\n" + FUNCTION.format("pytest -q") + "run_tests || exit 1\n", ["warning ci.sh:6 test: `set -e` does not act in run_tests here, so `pytest -q` may fail unseen"]),
        ("set -eu\n" + FUNCTION.format("pytest -q") + "if run_tests; then echo; else exit 1; fi\n", ["warning ci.sh:6 test: `set -e` does not act in run_tests here, so `pytest -q` may fail unseen"]),
        ("set -e\n" + FUNCTION.format("pytest -q") + "run_tests\n", []),
        ("set -e\n" + FUNCTION.format("pytest -q || return 1") + "run_tests || exit 1\n", []),
        ("set -e\n" + FUNCTION.format("rm -r x") + "run_tests || exit 1\n", []),
        ("set -e\nrun_tests() {\n  echo start\n  pytest -q\n}\nrun_tests || exit 1\n", []),
    ],
    ids=["before ||", "in a condition", "a line of its own", "it returns", "no check", "the check is last"],
)  # fmt: skip
def test_a_function_in_which_errexit_does_not_act_is_named(tmp_path: Path, script: str, expected: list[str]) -> None:
    assert seen("errexit_suspended", tmp_path, {"gate.toml": policy(test="bash ci.sh"), "ci.sh": script}) == expected


@pytest.mark.parametrize(
    "line", ["pytest ${{ !inputs.fast && '--slow' || '' }} -q", "pytest ${{ inputs.a || 'b' }} && exit 1"]
)
def test_an_expression_of_github_is_one_word_of_the_shell(tmp_path: Path, line: str) -> None:
    assert seen("exit_swallowed", tmp_path, {CI: workflow(line)}) == []


def test_a_step_that_runs_only_where_the_job_is_red_may_fail_in_vain(tmp_path: Path) -> None:
    text = "on: pull_request\njobs:\n  test:\n    runs-on: x\n    steps:\n      - run: |\n          pytest --lf || true; ls\n        if: {}\n"
    assert seen("exit_swallowed", tmp_path / "a", {CI: text.format("failure()")}) == []
    assert len(seen("exit_swallowed", tmp_path / "b", {CI: text.format("always()")})) == 1
