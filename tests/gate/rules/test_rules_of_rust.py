"""Rules about Cargo's workspaces, features and targets: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

TEST = "#[test]\nfn works() {}\n"


def crate(name: str, more: str = "") -> str:
    """Return the manifest of a package."""
    return f'[package]\nname = "{name}"\nversion = "0.1.0"\n{more}'


MEMBERS = {"m1/Cargo.toml": crate("m1"), "m1/src/lib.rs": TEST, "m2/Cargo.toml": crate("m2"), "m2/src/lib.rs": TEST}
ROOT = {**MEMBERS, "Cargo.toml": crate("root", '[workspace]\nmembers = ["m*"]\n'), "src/lib.rs": TEST}
VIRTUAL = {**MEMBERS, "Cargo.toml": '[workspace]\nmembers = ["m1", "m2"]\ndefault-members = ["m1"]\n'}
BOTH = "error gate.toml:2 test: tests of m1, m2 never run: `cargo test` takes root [m1/Cargo.toml, m2/Cargo.toml]"
SECOND = "error gate.toml:2 test: tests of m2 never run: `cargo test` takes m1 (default-members) [m2/Cargo.toml]"


@pytest.mark.parametrize(
    ("files", "command", "expected"),
    [
        (ROOT, "cargo test", [BOTH]),
        (VIRTUAL, "cargo +nightly test --locked", [SECOND]),
        (VIRTUAL, "cargo nextest run", [SECOND.replace("cargo test", "cargo nextest")]),
        (VIRTUAL, "cargo test --workspace && cargo clippy", ["warning gate.toml:2 test: m2 is not linted: `cargo clippy` takes m1 (default-members) [m2/Cargo.toml]"]),
        ({**ROOT, "Cargo.toml": crate("root", '[workspace]\n[dependencies]\nm1 = { path = "m1" }\n')}, "cargo test", ["error gate.toml:2 test: tests of m1 never run: `cargo test` takes root [m1/Cargo.toml]"]),
        ({**ROOT, ".github/workflows/a.yml": workflow("cargo test --all")}, "cargo test", [BOTH.replace("error", "note")]),
        (ROOT, "cd m1 && cargo test", ["error gate.toml:2 test: tests of root, m2 never run: `cargo test` takes m1 [Cargo.toml, m2/Cargo.toml]"]),
        (ROOT, "cargo test --workspace", []),
        (ROOT, "cargo test --all --exclude m2", []),
        (ROOT, "cargo test -p root -p 'm*'", []),
        (ROOT, "cargo test && cargo test --manifest-path m1/Cargo.toml && (cd m2; cargo test)", []),
        (ROOT, "cargo test $FLAGS", []),
        (ROOT, "for m in . m1 m2; do (cd $m; cargo test); done", []),
        (ROOT, "cargo xtask test && cargo test", []),
        ({**ROOT, ".cargo/config.toml": '[alias]\nci = "test --workspace"\n'}, "cargo ci", []),
        ({**VIRTUAL, "Cargo.toml": '[workspace]\nmembers = ["m1", "m2"]\n'}, "cargo test", []),
        ({**VIRTUAL, "m2/src/lib.rs": "pub fn f() {}\n"}, "cargo test", []),
        ({**VIRTUAL, "Cargo.toml": '[workspace]\nmembers = ["m1"]\nexclude = ["m2"]\n'}, "cargo test", []),
        (ROOT, "cargo build", []),
        ({"Cargo.toml": "workspace = 3\n"}, "cargo test", []),
    ],
    ids=[
        "a root package", "default members", "nextest", "clippy", "members by path", "a workflow beside the policy", "one member", "the workspace", "exclusions by name",
        "by name", "each in its folder", "a variable", "a loop", "a task of its own", "an alias", "a virtual workspace", "nothing to test", "not a member", "no tests run", "odd",
    ],
)  # fmt: skip
def test_members_whose_tests_no_command_runs_are_named(
    tmp_path: Path, files: dict[str, str], command: str, expected: list[str]
) -> None:
    assert seen("workspace_member_not_gated", tmp_path, {**files, "gate.toml": policy(test=command)}) == expected


FEATURES = '[features]\ndefault = ["std"]\nstd = []\nextra = ["more"]\nmore = []\nnightly = []\n'
GATED = {
    "Cargo.toml": crate("x", FEATURES),
    "src/lib.rs": '#[cfg(feature = "extra")]\n/// Says more.\npub mod extra;\n',
    "src/extra.rs": TEST,
}
NEVER = "error src/extra.rs:1 test: 1 file behind the feature 'extra' of x is never compiled: no command of the gate turns it on [src/extra.rs]"


@pytest.mark.parametrize(
    ("files", "command", "expected"),
    [
        ({}, "cargo test", [NEVER]),
        ({"src/lib.rs": '#[cfg(all(unix, any(feature = "more", feature = "extra")))]\nmod extra;\n'}, "cargo test --features std", [NEVER.replace("the feature 'extra'", '`cfg(all(unix, any(feature = "more", feature = "extra")))`')]),
        ({"src/lib.rs": "", "src/extra.rs": "", "tests/a.rs": f'#![cfg(feature = "extra")]\n{TEST}'}, "cargo test", [
            "error tests/a.rs:1 test: 1 file behind the feature 'extra' of x never runs: no command of the gate turns it on [tests/a.rs]"]),
        ({"src/lib.rs": "", "Cargo.toml": crate("x", FEATURES + '[[test]]\nname = "a"\nrequired-features = ["extra"]\n'), "tests/a.rs": TEST}, "cargo test && cargo check --all-features", [
            "error tests/a.rs:1 test: 1 file behind the feature 'extra' of x never runs: no command of the gate turns it on [tests/a.rs]"]),
        ({"src/lib.rs": '#[cfg(feature = "nightly")]\nmod extra;\n'}, "cargo test", [NEVER.replace("error", "note").replace("'extra'", "'nightly'")]),
        ({"src/lib.rs": '#[cfg(not(feature = "std"))]\nmod extra;\n'}, "cargo test", [
            'warning src/extra.rs:1 test: 1 file behind `cfg(not(feature = "std"))` of x is never compiled: no command of the gate turns it off [src/extra.rs]']),
        ({"src/lib.rs": "", "examples/a.rs": "", "Cargo.toml": crate("x", FEATURES + '[[example]]\nname = "a"\nrequired-features = ["extra"]\n')}, "cargo test", [
            NEVER.replace("error", "warning").replace("src/extra.rs", "examples/a.rs")]),
        ({".github/workflows/a.yml": workflow("cargo test --all-features")}, "cargo test", [NEVER.replace("error", "note")]),
        ({}, "cargo test --all-features", []),
        ({}, "cargo test && cargo clippy -F extra", []),
        ({}, "cargo hack check --each-feature", []),
        ({}, "cargo test --features $F", []),
        ({"src/lib.rs": '#[cfg(feature = "more")]\nmod extra;\n'}, "cargo test --features extra", []),
        ({"src/lib.rs": '#[cfg(feature = "std")]\nmod extra;\n'}, "cargo test", []),
        ({"src/lib.rs": '#[cfg(any(test, feature = "extra"))]\nmod extra;\n'}, "cargo test", []),
        ({"src/lib.rs": '#[cfg(not(feature = "extra"))]\nmod extra;\n'}, "cargo test", []),
        ({"src/lib.rs": '#[cfg(feature = "extra")]\nfn f() {}\nmod extra;\n'}, "cargo test", []),
        ({"Cargo.toml": crate("x", f'{FEATURES}[dev-dependencies]\nx = {{ path = ".", features = ["extra"] }}\n')}, "cargo test", []),
        ({"src/lib.rs": '#[cfg(all(((feature = "extra"\nmod extra;\n'}, "cargo test", []),
    ],
    ids=[
        "a module", "one of two", "a file of tests", "a target", "a feature aside", "one that is always on", "an example", "a workflow beside the policy", "all", "by another command", "each in turn", "a variable",
        "through another", "by default", "tests have it", "without it", "an item", "its own tests ask for it", "odd",
    ],
)  # fmt: skip
def test_modules_behind_features_that_are_never_on_are_named(
    tmp_path: Path, files: dict[str, str], command: str, expected: list[str]
) -> None:
    assert seen("feature_not_gated", tmp_path, {**GATED, "gate.toml": policy(test=command), **files}) == expected


IGNORED = '#[test]\n#[ignore = "slow"]\nfn a() {}\n\n#[ignore]\n#[tokio::test]\nasync fn b() {}\n'


@pytest.mark.parametrize(
    ("more", "files", "command", "expected"),
    [
        ('[[test]]\nname = "own"\nharness = false\n', {"tests/own.rs": f"{TEST}fn main() {{}}\n"}, "cargo test", [
            "warning Cargo.toml:6 test: tests that never run: tests/own.rs has `harness = false`, and its own main runs no `#[test]` [tests/own.rs]"]),
        ("autotests = false\n", {"tests/a.rs": TEST, "tests/b.rs": TEST}, "cargo test --all", [
            "warning Cargo.toml:4 test: tests that never run: 2 files not listed as targets, and the package has `autotests = false` [tests/a.rs, tests/b.rs]"]),
        ("[lib]\ntest = false\n", {"src/a.rs": TEST}, "cargo test", ["warning Cargo.toml:5 test: tests that never run: src/a.rs has `test = false` [src/a.rs]"]),
        ("", {"tests/a.rs": IGNORED}, "cargo test", ["warning tests/a.rs:1 test: tests that never run: tests/a.rs holds nothing but ignored tests [tests/a.rs]"]),
        ("", {"tests/a.rs": IGNORED}, "cargo test && cargo test -- --ignored", []),
        ("", {"tests/a.rs": IGNORED + TEST}, "cargo test", []),
        ("[lib]\ntest = false\n", {"src/a.rs": TEST}, "cargo test --lib", []),
        ("[lib]\ntest = false\n", {"src/a.rs": TEST}, "cargo build", []),
        ("autotests = false\n[[test]]\nname = \"a\"\n", {"tests/a.rs": "mod b;\n" + TEST, "tests/b.rs": TEST}, "cargo test", []),
        ('[[test]]\nname = "own"\nharness = false\n', {"tests/own.rs": "fn main() {}\n"}, "cargo test", []),
        ('[[test]]\nname = "own"\nharness = false\n', {"tests/own.rs": f"use macros::test;\n{TEST}"}, "cargo test", []),
    ],
    ids=[
        "no harness", "not listed", "a library without tests", "all ignored", "ignored ones are run", "one is not ignored", "chosen by hand",
        "no tests run", "all listed or modules", "a main of its own", "a macro of its own",
    ],
)  # fmt: skip
def test_tests_that_cargo_never_runs_are_named(
    tmp_path: Path, more: str, files: dict[str, str], command: str, expected: list[str]
) -> None:
    own = {"Cargo.toml": crate("x", more), "src/lib.rs": "", "gate.toml": policy(test=command)}
    assert seen("ignored_tests_rust", tmp_path, {**own, **files}) == expected
