"""Rules about workflows of GitHub Actions: what is green because it was skipped. Each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import seen

CI = ".github/workflows/ci.yml"
HEAD = "on: {0}\njobs:\n  test:\n    runs-on: x\n    steps:\n      - run: pytest\n"
GATE = "  gate:\n    needs: [test]\n    runs-on: x\n    {0}\n    steps:\n      - run: {1}\n"
WHY = "it waits for test and is named like an aggregator"


def both(condition: str, run: str, on: str = "pull_request") -> dict[str, str]:
    return {CI: HEAD.format(on) + GATE.format(condition or "timeout-minutes: 1", run)}


def one(step: str, on: str = "pull_request", job: str = "") -> dict[str, str]:
    return {CI: f"on: {on}\njobs:\n  test:\n    runs-on: x\n{job}    steps:\n      - {step}\n"}


@pytest.mark.parametrize(
    ("rule", "files", "expected"),
    [
        ("required_job_can_skip", both("", "echo ok"), [f"error {CI}:8 gate ({WHY}) is skipped, so green, when a job that it needs is not (no `if: always()`)"]),
        ("required_job_can_skip", both("if: success() || failure()", "exit 1"),
         [f"error {CI}:10 gate ({WHY}) is skipped, so green, when a job that it needs is not (`if: success() || failure()`)"]),
        ("required_job_can_skip", {**both("", "pytest -m slow"), ".github/settings.yml": "branches: [{protection: {required_status_checks: {contexts: [gate]}}}]"},
         [f"error {CI}:8 gate (the repository's settings require it) is skipped, so green, when a job that it needs is not (no `if: always()`)"]),
        ("required_job_can_skip", both("if: always()", "exit 1"), []),
        ("required_job_can_skip", both("if: ${{ !cancelled() }}", "exit 1"), []),
        ("required_job_can_skip", both("", "pytest -m slow"), []),
        ("required_job_can_skip", {CI: both("", "echo ok")[CI].replace("  gate:", "  deploy:")}, []),
        ("aggregator_ignores_cancelled", both("if: always()", "test '${{ needs.test.result }}' != 'failure'"), [f"error {CI}:12 gate fails only when a job failed: a cancelled one is green"]),
        ("aggregator_ignores_cancelled", both("if: always()", "echo ok"), [f"error {CI}:12 gate runs always and looks at no result of test: it is always green"]),
        ("aggregator_ignores_cancelled", both("if: always()", "test '${{ needs.test.result }}' = 'success'"), []),
        ("aggregator_ignores_cancelled", {CI: both("if: always()", "x")[CI].replace("run: x", "uses: re-actors/alls-green@v1")}, []),
        ("paths_filter_on_required", both("if: always()", "exit 1", "{pull_request: {paths: ['src/**']}}"), [f"warning {CI}:1 gate ({WHY}) does not appear where `paths` leaves the workflow out"]),
        ("paths_filter_on_required", one("run: pytest", "{pull_request: {paths: ['src/**']}}"), []),
        ("condition_always_true", one('run: pytest\n        if: |\n          ${{ github.event_name == \'x\' }}'), [f"warning {CI}:7 test / step 1: `if` is text, so it always holds: \"${{{{ github.event_name == 'x' }}}}\\n\""]),
        ("condition_always_true", one('run: pytest\n        if: "${{ false }} && true"'), [f"warning {CI}:7 test / step 1: `if` is text, so it always holds: '${{{{ false }}}} && true'"]),
        ("condition_always_true", one("run: pytest\n        if: ${{ github.event_name == 'x' }}"), []),
        ("condition_always_true", one("run: pytest\n        if: github.event_name == 'x'"), []),
        ("condition_always_false", one("run: pytest\n        if: false"), [f"error {CI}:7 test / step 1 never runs: `false` never is"]),
        ("condition_always_false", one("run: pytest", job="    if: ${{ false }}\n"), [f"error {CI}:5 test never runs: `${{{{ false }}}}` never is".replace("${{ false }}", "false")]),
        ("condition_always_false", one("run: pytest\n        if: github.event_name == 'push'"), [f"error {CI}:7 test / step 1 never runs: the workflow never runs for push"]),
        ("condition_always_false", one("run: pytest\n        if: github.event_name == 'push'", "[push, pull_request]"), []),
        ("condition_always_false", one("run: ./upload\n        if: false"), []),
        ("secret_gated_check", one("run: pytest\n        env: {TOKEN: '${{ secrets.TOKEN }}'}\n        if: env.TOKEN != ''"), [f"warning {CI}:8 test / step 1 is skipped, and green, where env.TOKEN is empty"]),
        ("secret_gated_check", one("run: ./upload\n        env: {TOKEN: '${{ secrets.TOKEN }}'}\n        if: env.TOKEN != ''"), []),
        ("secret_gated_check", one("run: pytest\n        env: {MODE: fast}\n        if: env.MODE != ''"), []),
    ],
)  # fmt: skip
def test_a_job_that_is_green_when_it_is_skipped_is_named(
    tmp_path: Path, rule: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen(rule, tmp_path, files) == expected


OTHER = ".github/workflows/other.yml"
IDLE = "on: {{pull_request: {{paths-ignore: {0}}}}}\njobs:\n  test:\n    runs-on: x\n    steps:\n      - run: {1}\n"


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (IDLE.format("[docs]", "echo ok"), [f"error {OTHER}:3 test does nothing here and has the name of the job that works in {CI} [{CI}, {OTHER}]"]),
        (IDLE.format("['src/**']", "echo ok"), []),
        (IDLE.format("[docs]", "mypy"), []),
        (IDLE.format("[docs]", "echo ok").replace("  test:", "  other:"), []),
    ],
    ids=["other paths", "exact opposites", "it works", "another name"],
)  # fmt: skip
def test_a_twin_that_is_always_green_is_named(tmp_path: Path, other: str, expected: list[str]) -> None:
    files = {CI: HEAD.format("{pull_request: {paths: ['src/**']}}"), OTHER: other}
    assert seen("twin_workflow_always_green", tmp_path, files) == expected


MATRIX = "on: pull_request\njobs:\n  list:\n    runs-on: x\n    steps:\n      - run: ./list\n  test:\n    needs: [list]\n    runs-on: x\n    strategy:\n      matrix: {0}\n    steps:\n      - run: pytest\n"
COMPUTED = "${{ fromJSON(needs.list.outputs.all) }}"
SUMMED = "  gate:\n    needs: [test]\n    if: always()\n    runs-on: x\n    steps:\n      - run: test '${{ needs.test.result }}' != 'failure'\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MATRIX.format(COMPUTED), [f"warning {CI}:11 test is skipped, and green, when its matrix is []"]),
        (MATRIX.format(COMPUTED) + SUMMED, [f"error {CI}:11 test is skipped, and green, when its matrix is [], and gate accepts that"]),
        (MATRIX.format("{os: [a, b]}"), []),
        (MATRIX.format(COMPUTED) + "    if: needs.list.outputs.all != '[]'\n", []),
        (MATRIX.format(COMPUTED).replace("pytest", "./deploy"), []),
    ],
    ids=["computed", "and accepted", "written down", "asked for", "no check"],
)  # fmt: skip
def test_a_matrix_that_may_be_empty_is_named(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert seen("dynamic_matrix_can_be_empty", tmp_path, {CI: text}) == expected


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [("{part: [lint, test]}", []), ("{include: [{part: test}]}", []), ("{part: [lint]}", ["test"]), ("'${{ fromJSON(x) }}'", [])],
)  # fmt: skip
def test_what_a_matrix_puts_into_a_script_is_followed(tmp_path: Path, matrix: str, expected: list[str]) -> None:
    files = {
        **one("run: 'npm run ${{ matrix.part }}'", job=f"    strategy: {{matrix: {matrix}}}\n"),
        "package.json": '{"scripts": {\n"lint": "eslint .",\n"test": "jest"}}',
    }
    told = [
        f"error package.json:3 the script '{name}' tests, and nothing in the gate runs it: jest" for name in expected
    ]
    assert seen("script_not_wired", tmp_path, files) == told
