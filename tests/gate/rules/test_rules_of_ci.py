"""Rules about what a clean checkout makes empty, and what runs apart from what it should decide. Each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

CI = ".github/workflows/ci.yml"


def gated(command: str, **files: str) -> dict[str, str]:
    return {"gate.toml": policy(test=command), **files}


@pytest.mark.parametrize(
    ("command", "makefile", "paths", "expected"),
    [
        ("make test", "test:\n\tpytest\n", ["test/test_a.py"], ["error Makefile:1 test: `make test` runs nothing, for there is a folder test, and the target is not phony"]),
        ("make", "all: check\ncheck:\n\tmypy app\n", ["check"], ["error Makefile:2 test: `make check` runs nothing, for there is a file check, and the target is not phony"]),
        ("make -C sub test", None, ["sub/test/a.py"], ["error sub/Makefile:1 test: `make test` runs nothing, for there is a folder sub/test, and the target is not phony"]),
        ("make test", "all:\n\tpytest\n", ["test/a.py"], ["error gate.toml:2 test: `make test` runs nothing, for there is a folder test, and the target is not phony"]),
        ("make test", ".PHONY: test\ntest:\n\tpytest\n", ["test/test_a.py"], []),
        ("make test", "PHONIES = test lint\n.PHONY: $(PHONIES)\ntest:\n\tpytest\n", ["test/test_a.py"], []),
        ("make test", ".PHONY: $(shell ls)\ntest:\n\tpytest\n", ["test/test_a.py"], []),
        ("make test", "test: FORCE\n\tpytest\nFORCE:\n", ["test/test_a.py"], []),
        ("make -B test", "test:\n\tpytest\n", ["test/test_a.py"], []),
        ("make tests", "tests:\n\tpytest test\n", ["test/test_a.py"], []),
        ("make all", "all: api.txt\n\tpytest\napi.txt:\n\t./write-api\n", ["api.txt"], []),
        ("make test", "include $(RULES)\n", ["test/a.py"], []),
    ],
    ids=["a folder", "a file", "below", "no such target", "phony", "phony by a variable", "computed", "forced", "always", "another name", "a file that is made", "rules elsewhere"],
)  # fmt: skip
def test_targets_that_a_path_shadows_are_named(
    tmp_path: Path, command: str, makefile: str | None, paths: list[str], expected: list[str]
) -> None:
    files = {"sub/Makefile": "test:\n\tpytest\n"} if makefile is None else {"Makefile": makefile}
    assert seen("target_shadowed_by_path", tmp_path, gated(command, **files, **dict.fromkeys(paths, ""))) == expected


TESTED = "services:\n  db:\n    image: postgres\n  tests:\n    build: .\n    command: pytest -q\n"
LOST = "error gate.toml:2 test: tests of compose.yml runs checks, and {}"
READY = "    depends_on:\n      seed: {condition: service_completed_successfully}\n  seed:\n    image: seed\n"


@pytest.mark.parametrize(
    ("command", "compose", "expected"),
    [
        ("docker compose up", TESTED, [LOST.format("`up` exits 0 when it fails")]),
        ("docker-compose up --build tests", TESTED, [LOST.format("`up` exits 0 when it fails")]),
        ("docker compose up -d", TESTED, [LOST.format("nothing asks how it ended")]),
        ("docker compose up --abort-on-container-exit", TESTED + READY, [LOST.format("`up` exits as the service that ends first, seed")]),
        ("docker compose up --abort-on-container-exit", TESTED, []),
        ("docker compose up --exit-code-from tests", TESTED, []),
        ("docker compose run --rm tests", TESTED, []),
        ("docker compose up -d && docker compose exec app pytest", TESTED, []),
        ("docker compose up db", TESTED, []),
        ("docker compose up", TESTED.replace("pytest -q", "gunicorn app"), []),
        ("docker compose up; ./ended $(docker inspect -f .State.ExitCode tests)", TESTED, []),
        ("docker compose up", TESTED.replace("command:", "profiles: [test]\n    command:"), []),
        ("docker compose up", "services:\n  e2e:\n    build: .\n", [LOST.format("`up` exits 0 when it fails").replace("tests of", "e2e of")]),
        ("docker compose up", "services:\n  test:\n    image: postgres\n", []),
    ],
    ids=["up", "one service", "in the background", "another ends first", "ends with the tests", "its exit code", "run", "then exec", "no tests", "a server",
         "asked afterwards", "of a profile", "by its name", "a name without a build"],
)  # fmt: skip
def test_tests_in_containers_whose_exit_code_is_lost_are_named(
    tmp_path: Path, command: str, compose: str, expected: list[str]
) -> None:
    assert seen("compose_exit_lost", tmp_path, gated(command, **{"compose.yml": compose})) == expected


HOOKS = "repos:\n- repo: local\n  hooks:\n  - id: types\n    name: types\n    entry: mypy\n    language: system\n"


@pytest.mark.parametrize(
    ("line", "more", "expected"),
    [
        ("pre-commit run", "", [f"error {CI}:7 test / step 1: `pre-commit run` looks at staged files, and a clean checkout has none"]),
        ("python -m pre_commit run types --show-diff-on-failure", "", [f"error {CI}:7 test / step 1: `pre_commit run types --show-diff-on-failure` looks at staged files, and a clean checkout has none"]),
        ("prek run --hook-stage manual", "", [f"error {CI}:7 test / step 1: `prek run --hook-stage manual` looks at staged files, and a clean checkout has none"]),
        ("pre-commit run --all-files", "", []),
        ("pre-commit run -va", "", []),
        ("pre-commit run --from-ref origin/main --to-ref HEAD", "", []),
        ("pre-commit run --files a.py", "", []),
        ("pre-commit install", "", []),
        ("git add -A && pre-commit run", "", []),
        ("pre-commit run types", "    always_run: true\n", []),
        ("pre-commit run $ARGS", "", []),
    ],
)  # fmt: skip
def test_hooks_over_staged_files_of_a_clean_checkout_are_named(
    tmp_path: Path, line: str, more: str, expected: list[str]
) -> None:
    files = {CI: workflow(line), ".pre-commit-config.yaml": HOOKS + more}
    assert seen("pre_commit_without_all_files", tmp_path, files) == expected


OUTSIDE = "Danger succeeds without looking"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (gated("npx danger ci"), [f"warning gate.toml:2 test: {OUTSIDE} where there is no pull request"]),
        ({CI: workflow("bundle exec danger", on="push")}, [f"warning {CI}:6 test / step 1: {OUTSIDE} for push"]),
        ({CI: workflow("danger-js ci", on="[push, pull_request]")}, [f"note {CI}:6 test / step 1: {OUTSIDE} for push"]),
        ({CI: workflow("eslint . | reviewdog -f=eslint -reporter=github-pr-check", on="push")}, [f"warning {CI}:6 test / step 1: reviewdog succeeds without looking for push"]),
        ({CI: workflow("danger ci")}, []),
        ({CI: workflow("danger ci", on="[push, pull_request]", job="    if: github.event_name == 'pull_request'\n")}, []),
        ({CI: workflow("danger --fail-if-no-pr", on="push")}, []),
        ({CI: workflow("danger local", on="push")}, []),
    ],
    ids=["a step", "a push", "both", "reviewdog", "pull requests", "asked for", "made red", "at home"],
)  # fmt: skip
def test_tools_that_look_only_inside_a_pull_request_are_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("fails_open", tmp_path, files) == expected


def test_this_projects_action_counts_as_its_gate_where_it_stands(tmp_path: Path) -> None:
    steps = "on: pull_request\njobs:\n  gate:\n    if: github.event_name == 'push'\n    runs-on: x\n    steps:\n      - uses: ./\n"
    own = {"action.yml": "name: Sluice gate\n", CI: steps}
    found = seen("required_job_can_skip", tmp_path / "own", own)
    assert found == [f"error {CI}:4 gate (it runs the gate) is skipped, so green, unless `github.event_name == 'push'`"]
    other = {**own, "action.yml": "name: Something else\n"}
    assert seen("required_job_can_skip", tmp_path / "other", other) == []


ASSERTS = "def test_a():\n    assert value() == 3\n"
THREE = {f"tests/test_{n}.py": ASSERTS for n in "abc"}
PACKAGES = {f"packages/{n}/package.json": '{"scripts": {"test": "jest"}}' for n in ("api", "web", "core")}
MORE = {f"packages/service-{n}/package.json": '{"scripts": {"test": "jest"}}' for n in range(60)}
LONG = " ".join(f"service-{n}" for n in range(60))
MATRIX = "    strategy: {matrix: {package: [api, web]}}\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({**gated("pytest tests/test_a.py tests/test_b.py"), **THREE}, ["warning gate.toml:2 test lists 2 of the 3 with tests in tests; nothing runs test_c.py [tests/test_c.py]"]),
        ({**gated("make test"), "Makefile": "T = test_a.py test_b.py\ntest:\n\tpytest $(addprefix tests/,$(T))\n", **THREE}, []),
        ({**gated("make test"), "Makefile": "T = tests/test_a.py tests/test_b.py\ntest:\n\tpytest $(T)\n", **THREE}, ["warning Makefile:3 test lists 2 of the 3 with tests in tests; nothing runs test_c.py [tests/test_c.py]"]),
        ({CI: workflow("cd packages/${{ matrix.package }} && npm test", job=MATRIX), **PACKAGES}, [f"warning {CI}:5 test lists 2 of the 3 with tests in packages; nothing runs core [packages/core]"]),
        ({CI: workflow("npm test -w ${{ matrix.package }}", job=MATRIX), **PACKAGES}, [f"warning {CI}:5 test lists 2 of the 3 with tests in packages; nothing runs core [packages/core]"]),
        ({CI: workflow("for p in api web; do (cd packages/$p && npm test); done"), **PACKAGES}, [f"warning {CI}:7 test / step 1 lists 2 of the 3 with tests in packages; nothing runs core [packages/core]"]),
        ({CI: workflow(f"for p in {LONG}; do {'echo tested; ' * 150}(cd packages/$p && npm test); done"), **PACKAGES, **MORE}, [f"warning {CI}:7 test / step 1 lists 60 of the 63 with tests in packages; nothing runs api, core, web [packages/api, packages/core, packages/web]"]),
        ({CI: workflow("for p in api web; do (cd packages/$p && npm test); done", "npm test --prefix packages/core"), **PACKAGES}, []),
        ({CI: workflow("for p in api web; do (cd packages/$p && npm publish); done"), **PACKAGES}, []),
        ({**gated("go test ./a ./b"), "a/x_test.go": "x", "b/x_test.go": "x", "extra/x_test.go": "x", "cmd/main.go": ""},
         ["warning gate.toml:2 test lists 2 of the 3 with tests in the root; nothing runs extra [extra]"]),
        ({**gated("go test ./a ./b && go test ./..."), "a/x_test.go": "x", "b/x_test.go": "x", "extra/x_test.go": "x"}, []),
        ({**gated("pytest tests"), **THREE}, []),
        ({**gated("pytest tests/test_a.py tests/test_b.py && pytest"), **THREE}, []),
        ({**gated("pytest tests/test_a.py"), **THREE}, []),
        ({**gated("pytest tests/test_a.py tests/test_b.py"), **THREE, "tests/test_c.py": "def helper():\n    return 1\n"}, []),
        ({**gated("pytest tests/test_a.py tests/test_b.py"), **THREE, "ci/slow.sh": "pytest tests/test_c.py  # by hand"}, []),
    ],
    ids=["files", "computed", "by a variable", "a matrix", "a matrix of names", "a loop", "a long one", "another step", "no check", "packages of go", "and all",
         "a folder", "all of them, too", "a single one", "a helper", "named elsewhere"],
)  # fmt: skip
def test_lists_of_tests_that_miss_some_are_named(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert seen("hand_listed_tests_incomplete", tmp_path, files) == expected


def turbo(task: str, **more: str) -> dict[str, str]:
    return {
        **gated("turbo run test"),
        "package.json": '{"name": "root", "workspaces": ["p/*"]}',
        "turbo.json": f'{{\n"tasks": {{\n"test": {task}\n}}}}',
        "p/a/package.json": '{"name": "a", "scripts": {"test": "vitest run"}}',
        "p/a/vitest.config.ts": "export default { test: { setupFiles: ['../../setup.ts'] } }",
        "p/a/test/a.test.ts": "import { test, expect } from 'vitest'\ntest('a', () => { expect(1).toBe(2) })\n",
        "setup.ts": "",
        **more,
    }


def nx(inputs: str) -> dict[str, str]:
    named = '"namedInputs": {"shared": ["{workspaceRoot}/setup.ts"]}'
    return {
        **turbo("{}"),
        **gated("nx run-many -t test"),
        "nx.json": f'{{\n"targetDefaults": {{"test": {{"cache": true, "inputs": {inputs}}}}}, {named}}}',
    }


REPLAYS = "warning turbo.json:3 test: turbo replays test although {} changed: no input of the task [{}]"
SETUP = REPLAYS.format("setup.ts", "setup.ts")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (turbo('{"inputs": ["src/**"]}'), [REPLAYS.format("p/a/test/a.test.ts, p/a/vitest.config.ts, setup.ts", "p/a/test/a.test.ts, p/a/vitest.config.ts, setup.ts")]),
        (turbo("{}"), [SETUP]),
        (turbo('{"inputs": ["$TURBO_DEFAULT$"]}'), [SETUP]),
        (turbo('{"inputs": ["$TURBO_DEFAULT$", "$TURBO_ROOT$/setup.ts"]}'), []),
        (turbo('{}}, "globalDependencies": ["setup.ts"], "x": {"y": {}'), []),
        (turbo('{"cache": false, "inputs": ["src/**"]}'), []),
        (turbo("{}", **gated("turbo run test --force")), []),
        (turbo("{}", **{"p/a/turbo.json": '{"extends": ["//"]}'}), []),
        ({k: v for k, v in turbo("{}", **{CI: workflow("npx turbo run test")}).items() if k != "gate.toml"}, []),
        ({k: v for k, v in turbo("{}", **{CI: workflow("npx turbo run test", job="    env: {TURBO_TOKEN: x}\n")}).items() if k != "gate.toml"}, [SETUP.replace("test:", "test / step 1:", 1)]),
        (nx('["default"]'), ["warning nx.json:2 test: nx replays test although setup.ts changed: no input of the task [setup.ts]"]),
        (nx('["default", "shared"]'), []),
    ],
    ids=["few inputs", "no inputs", "the default", "and the root's", "for all tasks", "no cache", "forced", "settings of its own", "no cache is kept",
         "one is kept", "nx", "nx by a name"],
)  # fmt: skip
def test_tasks_that_are_replayed_although_what_they_read_changed_are_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("cache_inputs_incomplete", tmp_path, files) == expected
