"""What the checks of real repositories can see, and that a proof says nothing that it does not know."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from junitparser import JUnitXml

from tests.gate.proofs import BIN, CORE, PY, RUFF, TEST, UNIT, fates, prove, snapshot
from tests.gate_runs import GATE, commit, git, repository, steps

pytestmark = pytest.mark.slow(seconds=1)


class Proved(NamedTuple):
    """One proof of a small project, which many tests look at."""

    repo: Path
    code: int
    found: dict[str, Any]
    before: str


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Proved:
    files = {
        "app/__init__.py": "", "app/core.py": CORE, "app/spare.py": CORE, "tests/__init__.py": "", "tests/test_core.py": TEST,
        "legacy/old.py": CORE, "data.yaml": "a: 1\n", "README.md": "# A\n", "LICENSE": "MIT\n", "pixel.png": "\0",
    }  # fmt: skip
    repo = repository(
        tmp_path_factory.mktemp("proved"), steps(lint=f"{RUFF} app tests", test=f"{UNIT} discover -t . -s tests"), files
    )
    (repo / "link.py").symlink_to("app/core.py")
    commit(repo)
    (repo / "app" / "core.py").write_text(CORE + "\n\ndef triple(value: int) -> int:\n    return 3 * value\n")
    (repo / "app" / "fresh.py").write_text(CORE)
    (repo / "app" / "spare.py").unlink()
    before = snapshot(repo)
    return Proved(repo, *prove(repo), before)


def test_every_file_is_seen_by_steps_unseen_or_untried_with_a_reason(proved: Proved) -> None:
    assert (proved.code, proved.found["verdict"], fates(proved.found)) == (1, "UNSEEN", {
        "app/__init__.py": "seen name lint", "app/core.py": "seen name lint", "app/fresh.py": "seen name lint",
        "tests/__init__.py": "seen name lint test", "tests/test_core.py": "seen name lint",
        "README.md": "unseen", "data.yaml": "unseen", "legacy/old.py": "unseen",
    })  # fmt: skip
    assert {told["path"]: told["reason"] for told in proved.found["untried"]} == {
        "LICENSE": "no canary breaks a file named LICENSE", "gate.toml": "the policy itself, which every run of the gate reads",
        "link.py": "a link; what it leads to is tried where it is", "pixel.png": "a binary file, or text that is no UTF-8",
    }  # fmt: skip


def test_an_unseen_file_is_told_with_who_looked_at_its_like(proved: Proved) -> None:
    assert {told["path"]: told["reason"] for told in proved.found["unseen"]} == {
        "README.md": "no step saw a Markdown file", "data.yaml": "no step saw a YAML file",
        "legacy/old.py": "lint saw 5 and test saw 1 of the Python files, and not this one: look at what is left out there",
    }  # fmt: skip


def test_the_repository_stays_as_it_was_byte_for_byte(proved: Proved) -> None:
    assert snapshot(proved.repo) == proved.before


def test_a_report_is_written_again_in_other_formats(proved: Proved, tmp_path: Path) -> None:
    (tmp_path / "proof.json").write_text(json.dumps({**proved.found, "seconds": 3.21, "gate_runs": 7}))
    text, markdown, github, outputs = (
        subprocess.run(
            [*GATE, "report", str(tmp_path / "proof.json"), "--format", form], capture_output=True, text=True
        ).stdout
        for form in ("text", "markdown", "github", "outputs")
    )
    counts = "3 of 8 files can be broken and every step still passes; 5 seen, 3 unseen, 0 unsettled, 4 untried"
    looked = "lint saw 5 and test saw 1 of the Python files, and not this one: look at what is left out there"
    assert (
        text
        == f"""\
    4 untried
        no canary breaks a file named LICENSE: LICENSE
        the policy itself, which every run of the gate reads: gate.toml
        a link; what it leads to is tried where it is: link.py
        a binary file, or text that is no UTF-8: pixel.png
    5 seen  (lint 5, test 1)
        lint (name): app/__init__.py, app/core.py, app/fresh.py, tests/test_core.py
        lint, test (name): tests/__init__.py
    3 unseen
        no step saw a Markdown file: README.md
        no step saw a YAML file: data.yaml
        {looked}: legacy/old.py

UNSEEN  {counts}
broken: a name that nobody defines, else the syntax; 7 runs of the steps, 3.2 s; policy: gate.toml
"""
    )
    assert markdown.startswith(
        f"## ❌ Gate prove: UNSEEN\n\n{counts}\n\n| unseen | why |\n|---|---|\n| README.md | no step saw a Markdown file |\n"
    )
    assert github.splitlines()[:2] == [
        f"::error title=Gate prove%3A UNSEEN::{counts}",
        "::error file=README.md,title=Gate%3A unseen::unseen: no step saw a Markdown file",
    ]  # fmt: skip
    assert outputs == "verdict=UNSEEN\ntests=0\n"


def test_a_runner_whose_result_is_dropped_sees_only_itself(tmp_path: Path) -> None:
    script = "import traceback\n\ntry:\n    import tests.core\nexcept Exception:\n    traceback.print_exc()\n"
    files = {
        "run_tests.py": script,
        "app/core.py": CORE,
        "tests/core.py": "from app.core import double\n\nassert double(1) == 2\n",
    }
    repo = repository(tmp_path, f"{steps(test=f'{PY} run_tests.py')}evidence = 'exit'\n", files)
    code, found = prove(repo)
    assert (code, fates(found)) == (
        1,
        {"run_tests.py": "seen name test", "app/core.py": "unseen", "tests/core.py": "unseen"},
    )


def test_a_dropped_result_of_a_runner_that_the_gate_knows_is_seen_by_the_gate(tmp_path: Path) -> None:
    script = "import unittest\n\nsuite = unittest.defaultTestLoader.discover('tests', top_level_dir='.')\nunittest.TextTestRunner().run(suite)\n"
    files = {
        "run_tests.py": script,
        "app/core.py": CORE,
        "app/spare.py": CORE,
        "tests/__init__.py": "",
        "tests/test_core.py": TEST,
    }
    code, found = prove(repository(tmp_path, steps(test=f"{PY} run_tests.py"), files), "app")
    assert (code, fates(found)) == (1, {"app/core.py": "seen name test", "app/spare.py": "unseen"})


def test_what_mypy_excludes_is_unseen_at_the_level_of_types(tmp_path: Path) -> None:
    files = {
        "mypy.ini": "[mypy]\nexclude = legacy/\n",
        "app.py": CORE,
        "bare.py": "def f(a):\n    return a\n",
        "legacy/old.py": CORE,
    }
    repo = repository(tmp_path, steps(types=f"{BIN}/mypy ."), files)
    code, found = prove(repo, "--level", "type")
    assert (code, found["level"], fates(found)) == (
        1, "type", {"app.py": "seen type types", "bare.py": "unseen", "legacy/old.py": "unseen"},
    )  # fmt: skip


def test_what_tsconfig_excludes_is_unseen(js_tools: Path, js_project: Path) -> None:
    js_project.mkdir()
    text = "export const a: number = 1;\n"
    config = '{"compilerOptions": {"strict": true, "noEmit": true, "types": [], "lib": ["es5"], "skipLibCheck": true}, "exclude": ["tests"]}'
    repo = repository(
        js_project,
        steps(types=f"{js_tools}/node_modules/.bin/tsc -p ."),
        {"tsconfig.json": config, "src/a.ts": text, "src/b.ts": text, "tests/c.ts": text},
    )
    code, found = prove(repo, str(repo / "src"), "tests")
    assert (code, fates(found)) == (
        1,
        {"src/a.ts": "seen name types", "src/b.ts": "seen name types", "tests/c.ts": "unseen"},
    )


def test_where_a_failure_does_not_end_a_script_nothing_that_it_runs_is_seen(tmp_path: Path) -> None:
    script = f"set -e\ncheck() {{\n  {PY} app.py\n  echo done\n}}\ncheck || exit 1\n"
    repo = repository(
        tmp_path, f"{steps(all='bash ci.sh')}evidence = 'exit'\n", {"ci.sh": script, "app.py": "print(1)\n"}
    )
    code, found = prove(repo)
    assert (code, fates(found)) == (1, {"ci.sh": "seen name all", "app.py": "unseen"})
    assert (
        found["unseen"][0]["reason"]
        == "all named it and passed all the same: a warning only, or a failure that does not count"
    )


def test_a_cache_that_forgets_an_input_hides_nothing(js_project: Path) -> None:
    js_project.mkdir()
    files = {
        "package.json": '{"name": "r", "private": true, "packageManager": "npm@10.0.0", "workspaces": ["a"]}',
        "package-lock.json": '{"name": "r", "lockfileVersion": 3, "packages": {"": {"name": "r", "workspaces": ["a"]}, "a": {"name": "a", "version": "1.0.0"}, "node_modules/a": {"resolved": "a", "link": true}}}',
        "turbo.json": '{"tasks": {"test": {"inputs": ["test.js"]}}}',
        "a/package.json": '{"name": "a", "version": "1.0.0", "scripts": {"test": "node test.js"}}',
        "a/test.js": "require('../shared.js')\n", "shared.js": "exports.a = 1\n",
    }  # fmt: skip
    repo = repository(js_project, f"{steps(test='npx turbo run test')}evidence = 'exit'\n", files)
    code, found = prove(repo, "shared.js", env={"TURBO_TELEMETRY_DISABLED": "1"})
    assert (code, fates(found)) == (0, {"shared.js": "seen name test"}), found


@pytest.mark.parametrize(
    ("level", "wanted"),
    [
        ("syntax", {"app.py": "seen syntax test", "test_app.py": "seen syntax test", "spare.py": "unseen"}),
        ("run", {"app.py": "seen run test", "test_app.py": "seen run test", "spare.py": "unseen"}),
        (
            "behaviour",
            {
                "app.py": "seen behaviour test",
                "test_app.py": "seen behaviour test",
                "spare.py": "unseen",
                "idle.py": "unseen",
            },
        ),
    ],
)
def test_each_level_asks_for_more(tmp_path: Path, level: str, wanted: dict[str, str]) -> None:
    idle = "def unused() -> int:\n    return 1\n" if level == "behaviour" else ""
    test = TEST.replace("app.core", "app").replace(
        "import unittest\n", "import idle\nimport unittest\n" if idle else "import unittest\n"
    )
    files = {"app.py": CORE, "test_app.py": test, "spare.py": CORE, **({"idle.py": idle} if idle else {})}
    code, found = prove(repository(tmp_path, steps(test=UNIT), files), "--level", level)
    assert (code, fates(found)) == (1, wanted)


def test_files_that_changed_since_a_commit_are_proved_alone(tmp_path: Path) -> None:
    repo = repository(
        tmp_path, steps(test=UNIT), {"app.py": CORE, "old.py": CORE, "test_app.py": TEST.replace("app.core", "app")}
    )
    base = commit(repo)
    git(repo, "checkout", "-qb", "change")
    (repo / "spare.py").write_text(CORE)
    commit(repo)
    git(repo, "checkout", "-q", "main")
    (repo / "elsewhere.py").write_text(CORE)
    commit(repo)
    git(repo, "checkout", "-q", "change")
    (repo / "app.py").write_text(CORE + "\n")
    assert [fates(prove(repo, "--since", ref)[1]) for ref in ("main", base)] == [
        {"app.py": "seen name test", "spare.py": "unseen"}
    ] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.py"], "PATH: expected a file or a folder that is there, got 'gone.py'"),
        (["/etc/passwd"], "PATH: expected a path inside {repo}, got '/etc/passwd'"),
        (["../repo/../x"], "PATH: expected a path inside {repo}, got '../repo/../x'"),
        (["ignored"], "PATH: expected files that git does not ignore, got none at 'ignored'"),
        (["a.py", "--all"], "prove: expected one of PATH, --since and --all, got several"),
        (["--since", "nosuch"], "base-unavailable: expected a commit 'nosuch', found none"),
        (["--budget", "soon"], "gate prove: --budget: expected a duration such as '10m', got 'soon'"),
        (
            ["--level", "deep"],
            "gate prove: argument --level: invalid choice: 'deep' (choose from 'syntax', 'type', 'run', 'behaviour')",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_clear_line(tmp_path: Path, words: list[str], said: str) -> None:
    repo = repository(tmp_path, steps(test=UNIT), {"a.py": CORE, "ignored/b.py": CORE, ".gitignore": "ignored\n"})
    (tmp_path / "x").touch()
    unwatched = {**os.environ, "CI": ""}  # which would tell of progress, too
    command = [*GATE, "prove", "--repo", str(repo), *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=repo, env=unwatched)
    assert (done.returncode, done.stderr.count("\n"), said.format(repo=repo) in done.stderr) == (2, 1, True), (
        done.stderr
    )


def test_a_repository_without_steps_has_nothing_to_prove(tmp_path: Path) -> None:
    code, found = prove(repository(tmp_path, None, {"a.py": CORE}))
    said = (
        "expected steps to prove, got none: no step is configured for this repository; `gate init` proposes a gate.toml"
    )
    assert (code, found["verdict"], found["reason"]) == (2, "ERROR", said)


def test_nothing_that_can_be_broken_is_never_all_seen(tmp_path: Path) -> None:
    code, found = prove(repository(tmp_path, steps(test=UNIT), {"LICENSE": "MIT\n"}), "LICENSE")
    said = "no file could be broken, so nothing was proved; 0 seen, 0 unseen, 0 unsettled, 1 untried"
    assert (code, found["verdict"], found["reason"], found["gate_runs"]) == (4, "UNSETTLED", said, 0)


def test_machines_can_read_each_of_their_formats(proved: Proved, tmp_path: Path) -> None:
    (tmp_path / "proof.json").write_text(json.dumps(proved.found))
    junit, sarif = (
        subprocess.run(
            [*GATE, "report", str(tmp_path / "proof.json"), "--format", form], capture_output=True, text=True
        ).stdout
        for form in ("junit", "sarif")
    )
    (tmp_path / "junit.xml").write_text(junit)
    suite = next(iter(JUnitXml.fromfile(str(tmp_path / "junit.xml"))))
    results = json.loads(sarif)["runs"][0]["results"]
    assert (suite.tests, suite.failures, suite.skipped, [r["ruleId"] for r in results]) == (
        13,
        4,
        4,
        ["gate-unseen"] * 3,
    )


def test_a_module_behind_a_feature_that_nothing_builds_is_unseen(tmp_path: Path) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    core = "pub fn double(v: i32) -> i32 {\n    2 * v\n}\n\n#[test]\nfn doubles() {\n    assert_eq!(double(1), 2);\n}\n"
    files = {
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[features]\nextra = []\n', ".gitignore": "target\n",
        "src/lib.rs": '#[cfg(feature = "extra")]\npub mod extra;\npub mod core;\n', "src/core.rs": core, "src/extra.rs": "pub fn a() {}\n",
    }  # fmt: skip
    code, found = prove(repository(tmp_path, steps(test="cargo test --offline"), files), "src")
    assert (code, fates(found)) == (
        1,
        {"src/lib.rs": "seen name test", "src/core.rs": "seen name test", "src/extra.rs": "unseen"},
    )
