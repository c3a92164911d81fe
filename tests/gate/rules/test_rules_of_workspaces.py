"""Rules about scripts and packages of JavaScript workspaces: each with its near miss."""

import json
from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

CI = ".github/workflows/ci.yml"


def scripts(folder: str = "", name: str = "root", **texts: str) -> dict[str, str]:
    return {f"{folder}package.json": json.dumps({"name": name, "workspaces": ["p/*"], "scripts": texts}, indent=1)}


WORKSPACE = {
    **scripts(build="tsc"),
    **scripts("p/a/", "@x/a", test="jest"),
    **scripts("p/b/", "@x/b", test="jest"),
}
TURBO = {"turbo.json": '{"tasks": {"test": {}, "lint": {}, "all": {"dependsOn": ["test"]}}}'}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({CI: workflow("npm test --if-present"), "package.json": "{}"}, [f"error {CI}:7 test / step 1: `npm test --if-present` runs nothing: there is no script 'test' in package.json [package.json]"]),
        ({"gate.toml": policy(b="pnpm run build --if-present"), **scripts()}, ["note gate.toml:2 b: `pnpm run build --if-present` runs nothing: there is no script 'build' in package.json [package.json]"]),
        ({"gate.toml": policy(l="npm run lint -w @x/a --if-present"), **WORKSPACE}, ["error gate.toml:2 l: `npm run lint -w @x/a --if-present` runs nothing: there is no script 'lint' in p/a/package.json [p/a/package.json]"]),
        ({CI: workflow("npm test --if-present"), **scripts(test="jest")}, []),
        ({CI: workflow("npm run ${{ matrix.task }} --if-present"), **scripts()}, []),
        ({CI: workflow("cd elsewhere; npm test --if-present"), **scripts()}, []),
        ({CI: workflow("npm test --if-present").replace("steps:", "steps:\n      - {uses: actions/checkout@v4, with: {repository: o/r}}"), **scripts()}, []),
    ],
    ids=["no scripts", "a build", "of a package", "there is one", "a matrix", "a folder that is made", "another repository"],
)  # fmt: skip
def test_a_script_that_runs_only_where_it_is_and_is_not_is_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("if_present_missing_script", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"gate.toml": policy(v="npm run verify --if-present"), **scripts(verify="npm run notthere")}, ["warning package.json:7 the script 'verify' runs 'notthere', and package.json has no such script"]),
        (scripts(release="run-s build publish:*"), ["note package.json:7 the script 'release' runs 'build', and package.json has no such script"]),
        (scripts(a="npm run b", b="concurrently -n x,y 'npm:a' 'tsc -w'"), []),
        (scripts(a="cd p/a && npm run x", b="npm run x -w p/a; npm run $X; npm run x --if-present", c="npm test -- --run"), ["note package.json:9 the script 'c' runs 'test', and package.json has no such script"]),
    ],
    ids=["in the gate", "beside the gate", "there they are", "elsewhere"],
)  # fmt: skip
def test_a_script_that_runs_one_which_is_missing_is_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("script_refers_missing_script", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("command", "level", "named"),
    [
        ("pnpm --filter @x/typo test", "error", "@x/typo"),
        ("pnpm -F './apps/*' run lint", "error", "./apps/*"),
        ("pnpm --filter @x/typo deploy", "", ""),
        ("pnpm --filter @x/typo run serve", "warning", "@x/typo"),
        ("turbo run test --filter='@y/*'", "error", "@y/*"),
        ("turbo run test --filter=typo", "warning", "typo"),
        ("npm test -w @x/typo", "warning", "@x/typo"),
        ("yarn workspace @x/typo test", "warning", "@x/typo"),
        ("yarn workspaces foreach -A --include typo run test", "error", "typo"),
        ("npx lerna run test --scope @x/typo", "warning", "@x/typo"),
        ("pnpm --fail-if-no-match --filter @x/typo test", "", ""),
        ("pnpm --filter @x/a --filter '!@x/typo' test", "", ""),
        ("pnpm --filter a... --filter './p/*' --filter '...[origin/main]' --filter '{p/b}' test", "", ""),
        ("pnpm --filter root build && pnpm -C p/a test && npm test -w p/a", "", ""),
        ("turbo run test --filter=./p/* --filter=@x/*... --filter=//", "", ""),
        ("lerna run test --scope '@x/!(b|c)*'", "", ""),
        ("lerna run test --scope '@x/!(a|b)'", "warning", "@x/!(a|b)"),
        ("pnpm --filter '@x/*{./p/*}' test", "", ""),
        ("yarn test --include typo", "", ""),
        ("pnpm --filter $NAME test", "", ""),
    ],
)  # fmt: skip
def test_a_filter_that_fits_no_package_is_named(tmp_path: Path, command: str, level: str, named: str) -> None:
    found = seen("filter_matches_no_package", tmp_path, {"gate.toml": policy(t=command), **WORKSPACE})
    told = f"`{command}` chooses no package: nothing is called {named}; there are @x/a, @x/b, root"
    plain = told.replace("'", "").replace("npx ", "")
    assert found == [f"{level} gate.toml:2 t: {plain}"] * bool(level)


NX = {"nx.json": "{}", "p/a/project.json": '{"name": "a", "targets": {"e2e": {}}}'}


@pytest.mark.parametrize(
    ("command", "more", "expected"),
    [
        ("turbo run test lint", TURBO, "lint"),
        ("npx lerna run lint", {}, "lint"),
        ("nx run-many -t e2e lint --parallel 3", NX, "lint"),
        ("pnpm -r run --if-present lint", {}, "lint"),
        ("npm run lint --workspaces --if-present", {}, "lint"),
        ("yarn workspaces foreach -A run lint", {}, "lint"),
        ("pnpm --filter root test", {}, "test"),
        ("turbo run test all --filter='...[main]'", TURBO, ""),
        ("turbo run missing", TURBO, ""),
        ("nx run-many -t lint", {"nx.json": '{"plugins": ["@nx/eslint/plugin"]}'}, ""),
        ("pnpm -r run lint; npm run lint --workspaces; pnpm -r exec lint", {}, ""),
        ("pnpm -r test && npx lerna run test", {}, ""),
    ],
)  # fmt: skip
def test_a_task_that_no_package_has_is_named(tmp_path: Path, command: str, more: dict[str, str], expected: str) -> None:
    found = [line.rpartition("` ")[2] for line in seen("task_defined_nowhere", tmp_path, {"gate.toml": policy(t=command), **WORKSPACE, **more})]  # fmt: skip
    assert found == [f"runs nothing for {expected}: no package has such a script"] * bool(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run-s 'lint:*'", ["error package.json:7 c: `run-s` is given lint:*, and no script of package.json fits"]),
        ("concurrently -n a 'npm:lint:*' 'npm:test'", ["error package.json:7 c: `concurrently` is given lint:*, and no script of package.json fits"]),
        ("run-p 'build:*' 'test:**' --print-label", []),
        ("concurrently 'npm:test:*(!fix)' 'eslint **/*.js'", []),
    ],
)  # fmt: skip
def test_a_pattern_that_fits_no_script_is_named(tmp_path: Path, text: str, expected: list[str]) -> None:
    files = {
        "gate.toml": policy(c="npm run check"),
        **scripts(check=text, **{"build:js": "x", "test:unit:fast": "x", "test:a": "x"}),
    }
    assert seen("script_glob_matches_nothing", tmp_path, files) == expected
