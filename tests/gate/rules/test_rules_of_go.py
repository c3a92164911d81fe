"""Rules about Go's tests and formatters, and other tools that only list: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

TEST = 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n'
TAGGED = f"//go:build integration\n\n{TEST}"
GO = {"go.mod": "module x\n", "a/a.go": "package a\n", "a/a_test.go": TAGGED}
HIDDEN = "1 file of tests built under `{}` never runs{} [a/a_test.go]"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, ["error gate.toml:2 test: " + HIDDEN.format("integration", "")]),
        ({"a/a_test.go": f"// +build slow,!race\n\n{TEST}"}, ["error gate.toml:2 test: " + HIDDEN.format("((slow && !race))", "")]),
        ({"a/a_test.go": f"//go:build (e2e || slow) && linux\n\n{TEST}"}, ["error gate.toml:2 test: " + HIDDEN.format("(e2e || slow) && linux", "")]),
        ({"gate.toml": policy(test="go test -tags 'a,b' ./...")}, ["error gate.toml:2 test: " + HIDDEN.format("integration", "")]),
        ({"a/a_test.go": f"//go:build ignore\n\n{TEST}"}, ["note gate.toml:2 test: " + HIDDEN.format("ignore", "")]),
        ({"Makefile": "it:\n\tgo test -tags=integration ./...\n"}, ["warning gate.toml:2 test: " + HIDDEN.format("integration", ", though Makefile knows the tag")]),
        ({".github/workflows/a.yml": workflow("go test -tags integration ./...")}, ["note gate.toml:2 test: " + HIDDEN.format("integration", " in the gate, at most in a workflow beside it")]),
        ({"gate.toml": policy(test="go test ./...", more="go test -tags=integration ./...")}, []),
        ({"gate.toml": policy(test="GOFLAGS=-tags=integration go test ./...")}, []),
        ({"gate.toml": policy(test="gotestsum -- -tags integration ./...")}, []),
        ({"gate.toml": policy(test="go test $FLAGS ./...")}, []),
        ({"gate.toml": policy(test="go test ./b/...")}, []),
        ({"gate.toml": policy(test="go vet ./...")}, []),
        ({"a/a_test.go": f"//go:build linux && !race && go1.20\n\n{TEST}"}, []),
        ({"a/a_test.go": f"//go:build !integration\n\n{TEST}"}, []),
        ({"a/a_test.go": "//go:build integration\n\npackage a\n\nfunc helper() {}\n"}, []),
        ({"a/a_test.go": "//go:build (((\n\n" + TEST}, []),
        ({"a/testdata/a_test.go": TAGGED, "a/a_test.go": TEST}, []),
    ],
    ids=[
        "a tag", "an old constraint", "beside the platform", "other tags", "left out on purpose", "a target that nothing runs", "a workflow beside the policy",
        "a second step", "in the environment", "behind gotestsum", "flags of a variable", "another package", "no test run", "the platform's", "without the tag", "a helper", "no constraint", "data",
    ],
)  # fmt: skip
def test_go_tests_that_no_run_builds_are_named(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    own = {"gate.toml": policy(test="go test ./...")}
    assert seen("build_tag_hides_tests", tmp_path, {**GO, **own, **files}) == expected


LISTING = (
    "gofmt -l .", "gofmt -s -l .", "goimports -l .", "gofumpt -l .", "golint ./...", "misspell .", "terraform fmt -write=false",
    "clang-format --dry-run a.c", "cppcheck src", "black --diff .", "isort --diff .", "autopep8 --diff a.py", "autoflake -r .",
    "dart format --output=none .", "swift-format lint -r .", "gofmt -l . && echo formatted",
)  # fmt: skip
OLDER = {"shfmt -l .": "shfmt 3.13", "gofmt -s -d .": "Go 1.26"}


def test_commands_that_only_list_are_named(tmp_path: Path) -> None:
    steps = {f"s{number:02}": command for number, command in enumerate([*LISTING, *OLDER], 1)}
    assert seen("lister_never_fails", tmp_path, {"gate.toml": policy(**steps)}) == [
        *(f"error gate.toml:{2 * n} s{n:02}: `{c.partition(' &&')[0]}` lists what is wrong and exits 0" for n, c in enumerate(LISTING, 1)),
        *(f"warning gate.toml:{2 * n} s{n:02}: `{c}` lists what is wrong and exits 0 before {OLDER[c]}" for n, c in enumerate(OLDER, len(LISTING) + 1)),
    ]  # fmt: skip


QUIET = (
    'test -z "$(gofmt -l .)"', "test -z $(gofmt -l .)", "x=$(gofmt -l .); test -z $x", "gofmt -l . | (! grep .)", "! gofmt -l . | read",
    "gofmt -l . > list && test ! -s list", "diff -u <(echo -n) <(gofmt -d .)", "gofmt -w .", "shfmt -d .", "prettier -l .", "terraform fmt -check",
    "terraform validate", "clang-format --dry-run --Werror a.c", "cppcheck --error-exitcode=1 src", "black --check --diff .", "isort -c --diff .",
    "golint -set_exit_status ./...", "dart test", "swift-format lint --strict -r .", "echo gofmt -l .", "if [ -n `gofmt -l .` ]; then exit 1; fi",
)  # fmt: skip


def test_commands_that_can_fail_or_whose_list_is_read_are_not(tmp_path: Path) -> None:
    steps = {f"s{number:02}": command for number, command in enumerate(QUIET)}
    assert seen("lister_never_fails", tmp_path, {"gate.toml": policy(**steps)}) == []


def test_a_list_is_read_over_several_lines_of_a_script(tmp_path: Path) -> None:
    script = "set -e\nfiles=$(\n  gofmt -l .\n)\ntest -z $files\ngoimports -l . \\\n  | tee list\ngofumpt -l .\n"
    files = {"gate.toml": policy(fmt="bash fmt.sh"), "fmt.sh": script}
    assert seen("lister_never_fails", tmp_path, files) == [
        "error fmt.sh:8 fmt: `gofumpt -l .` lists what is wrong and exits 0"
    ]


MODULES = {"go.mod": "module x\n", "x_test.go": TEST, "api/go.mod": "module x/api\n", "api/v1/a_test.go": TEST, "examples/go.mod": "module x/examples\n", "examples/e_test.go": "package e\n"}  # fmt: skip
NOT_STARTED = "error gate.toml:2 test: tests of the Go module in api never run: no `go test` starts there [api/go.mod]"


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("go test ./...", {}, [NOT_STARTED]),
        ("go test ./...", {"go.work": "use (\n\t.\n\t./api\n)\n"}, [NOT_STARTED]),
        ("go test ./...", {"examples/e_test.go": TEST}, [NOT_STARTED, "warning gate.toml:2 test: tests of the Go module in examples never run: no `go test` starts there [examples/go.mod]"]),
        ("go test ./...", {".github/workflows/a.yml": workflow("cd api && go test ./...")}, [NOT_STARTED.replace("error", "note")]),
        ("go test ./... && (cd api; go test ./...)", {}, []),
        ("for m in . api; do (cd $m && go test ./...); done", {}, []),
        ("find . -name go.mod -execdir go test ./... \\;", {}, []),
        ("go test ./...", {"api/v1/a_test.go": "package v1\n"}, []),
        ("go vet ./...", {}, []),
        ("./all.sh; go test ./...", {"all.sh": "for d in $(dirname */go.mod); do go test -C $d ./...; done\n"}, []),
    ],
    ids=["a module", "a workspace", "examples", "a workflow beside the policy", "its folder", "a loop", "found", "no tests", "no tests run", "a script"],
)  # fmt: skip
def test_modules_in_which_no_go_test_starts_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    own = {**MODULES, **files, "gate.toml": policy(test=command)}
    assert seen("workspace_member_not_gated_go", tmp_path, own) == expected
