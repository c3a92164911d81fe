"""Rules about Python's runners, type checkers and linters: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, write
from tests.gate_runs import git

TEST = "def test_a():\n    assert value() == 3\n"
PYTEST = {"gate.toml": policy(test="pytest -q"), "tests/test_a.py": TEST}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tests/test.py": TEST, "integration_test_state.py": TEST}, ["error gate.toml:2 test: tests that never run, in files whose names fit none of test_*.py *_test.py [integration_test_state.py, tests/test.py]"]),
        ({"tests/test.py": "def helper():\n    return 3\n"}, []),
        ({"tests/TestState.py": TEST}, ["error gate.toml:2 test: tests that never run, in files whose names fit none of test_*.py *_test.py [tests/TestState.py]"]),
        ({"tests/state.py": TEST}, []),
        ({"tests/test.py": TEST, "pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["test_*.py", "test.py"]\n'}, []),
        ({"tests/checks_test_a.py": TEST, "tests/test_b.py": "from checks_test_a import *\n" + TEST}, []),
    ],
    ids=["names that fit nothing", "a helper", "a capital letter", "a helper by its name", "a pattern that takes it", "imported by a file that runs"],
)  # fmt: skip
def test_files_with_tests_that_no_pattern_takes_are_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("test_glob_misses_python", tmp_path, {**PYTEST, **files}) == expected


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("nosuch", ["warning pyproject.toml:2 testpaths names what is not there: nosuch"]),
        ("tests", []),
        ("te*ts", []),
    ],
)
def test_folders_of_testpaths_that_are_not_there_are_named(tmp_path: Path, named: str, expected: list[str]) -> None:
    settings = f'[tool.pytest.ini_options]\ntestpaths = ["{named}"]\n'
    assert seen("testpaths_missing_dir", tmp_path, {**PYTEST, "pyproject.toml": settings}) == expected


XFAIL = "import pytest\n\n\n@pytest.mark.xfail{}\n" + TEST


@pytest.mark.parametrize(
    ("mark", "settings", "expected"),
    [
        ("", "", ["warning tests/test_a.py:4 test: tests that are expected to fail are green when they pass [tests/test_a.py]"]),
        ("(strict=True)", "", []),
        ("", "xfail_strict = true\n", []),
    ],
    ids=["a plain mark", "a strict mark", "strict settings"],
)  # fmt: skip
def test_expected_failures_that_may_pass_are_named(
    tmp_path: Path, mark: str, settings: str, expected: list[str]
) -> None:
    files = {"tests/test_a.py": XFAIL.format(mark), "pyproject.toml": f"[tool.pytest.ini_options]\n{settings}"}
    assert seen("xfail_not_strict", tmp_path, {**PYTEST, **files}) == expected


@pytest.mark.parametrize(
    ("command", "setting", "expected"),
    [
        ("tox", "true", ["error tox.ini:2 test: tox succeeds without the environments whose Python is not installed"]),
        ("tox --skip-missing-interpreters", "false", ["error gate.toml:2 test: tox succeeds without the environments whose Python is not installed"]),
        ("tox --skip-missing-interpreters=false", "true", []),
        ("tox -s false", "true", []),
        ("tox --notest", "true", []),
        ("tox", "false", []),
        ("echo tox", "true", []),
    ],
)  # fmt: skip
def test_interpreters_that_are_passed_over_are_named(
    tmp_path: Path, command: str, setting: str, expected: list[str]
) -> None:
    files = {"gate.toml": policy(test=command), "tox.ini": f"[tox]\nskip_missing_interpreters = {setting}\n"}
    assert seen("tox_skips_missing_interpreters", tmp_path, files) == expected


SKIPS = "import pytest\nlive = pytest.importorskip('live')\n\n\n" + TEST


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, ["warning tests/test_a.py:2 all tests of this file are skipped without live, and nothing names that as a dependency"]),
        ({"requirements-dev.txt": "live==1\n"}, []),
        ({"live/__init__.py": ""}, []),
    ],
    ids=["installed by nothing", "a dependency", "of the repository"],
)  # fmt: skip
def test_files_that_a_missing_module_skips_are_named(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("all_skipped_module", tmp_path, {**PYTEST, "tests/test_a.py": SKIPS, **files}) == expected


APP = {"app/__init__.py": "", "app/a.py": "x = 1\n", "app/legacy/__init__.py": "", "app/legacy/b.py": "y = 2\n"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('exclude = "legacy/"', ["error pyproject.toml:2 types: mypy looks at 2 files of the product and not at 2, in app/legacy [app/legacy/__init__.py, app/legacy/b.py]"]),
        ("strict = true", []),
    ],
)  # fmt: skip
def test_sources_that_mypy_leaves_out_are_named(tmp_path: Path, settings: str, expected: list[str]) -> None:
    files = {**APP, "gate.toml": policy(types="mypy app"), "pyproject.toml": f"[tool.mypy]\n{settings}\n"}
    assert seen("typecheck_excludes_source_python", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("app.legacy.*", ["error mypy.ini:2 types: mypy reports nothing of app.legacy.* (2 files) [app/legacy/__init__.py, app/legacy/b.py]"]),
        ("thirdparty.*", []),
    ],
)  # fmt: skip
def test_modules_whose_errors_mypy_drops_are_named(tmp_path: Path, module: str, expected: list[str]) -> None:
    files = {
        **APP,
        "gate.toml": policy(types="mypy app"),
        "mypy.ini": f"[mypy]\n[mypy-{module}]\nignore_errors = True\n",
    }
    assert seen("typecheck_ignores_errors", tmp_path, files) == expected


HOOK = "repos:\n- repo: https://github.com/pre-commit/mirrors-mypy\n  rev: v1\n  hooks:\n  - id: mypy\n"
ALONE = "warning .pre-commit-config.yaml:5 mypy runs without the project's packages, so all that comes from them is Any"


@pytest.mark.parametrize(
    ("more", "command", "expected"),
    [
        ("", "pre-commit run -a", [ALONE]),
        ("    additional_dependencies: [attrs]\n", "pre-commit run -a", []),
        ("", "mypy app", []),
    ],
    ids=["alone", "with packages", "another mypy runs"],
)
def test_mypy_without_the_projects_packages_is_named(
    tmp_path: Path, more: str, command: str, expected: list[str]
) -> None:
    files = {"gate.toml": policy(types=command), ".pre-commit-config.yaml": HOOK + more}
    assert seen("mypy_isolated_env", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("pretty = true", ["note pyproject.toml:1 types: mypy does not look into functions without annotations"]),
        ("check_untyped_defs = true", []),
        ("strict = true", []),
    ],
)
def test_bodies_that_mypy_does_not_look_into_are_a_note(tmp_path: Path, settings: str, expected: list[str]) -> None:
    files = {**APP, "gate.toml": policy(types="mypy app"), "pyproject.toml": f"[tool.mypy]\n{settings}\n"}
    assert seen("untyped_bodies_unchecked", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("select = []", ["error ruff.toml:2 lint: ruff looks for nothing (select = [])"]),
        ('ignore = ["ALL"]', ['error ruff.toml:2 lint: ruff looks for nothing (ignore = ["ALL"])']),
        ('select = ["F"]', []),
    ],
)
def test_a_linter_without_rules_is_named(tmp_path: Path, settings: str, expected: list[str]) -> None:
    files = {"gate.toml": policy(lint="ruff check ."), "ruff.toml": f"[lint]\n{settings}\n", "a.py": ""}
    assert seen("lint_no_rules_python", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ruff check --exit-zero .", ["error gate.toml:2 lint: `ruff --exit-zero` succeeds whatever it finds"]),
        ("golangci-lint run --issues-exit-code=0", ["error gate.toml:2 lint: `golangci-lint --issues-exit-code 0` succeeds whatever it finds"]),
        ("ruff check .", []),
        ("echo ruff --exit-zero", []),
    ],
)  # fmt: skip
def test_a_checker_that_always_succeeds_is_named(tmp_path: Path, command: str, expected: list[str]) -> None:
    assert seen("exit_zero", tmp_path, {"gate.toml": policy(lint=command)}) == expected


HIDDEN = "{} pyproject.toml:2 lint: {} looks at 1, not at 1 file of the product in app/legacy (hidden by `{}`) [app/legacy/b.py]"
LINTED = {"app/a.py": "x = 1\n", "app/legacy/b.py": "y = 2\n", "app/legacy/__init__.py": "", "tests/test_a.py": TEST}


@pytest.mark.parametrize(
    ("command", "settings", "expected"),
    [
        ("ruff check .", 'tool.ruff]\nextend-exclude = ["legacy"]', [HIDDEN.format("error", "ruff", "legacy")]),
        ("ruff check app", 'tool.ruff]\nexclude = ["app/legacy/*.py"]', [HIDDEN.format("error", "ruff", "app/legacy/*.py")]),
        ("pylint app", 'tool.pylint.main]\nignore-paths = ["app/legacy/.*"]', [HIDDEN.format("error", "pylint", "app/legacy/.*")]),
        ("pylint app", 'tool.pylint.main]\nignore = ["legacy"]', [HIDDEN.format("error", "pylint", "legacy")]),
        ("black --check .", "tool.black]\nextend-exclude = '/legacy/'", [HIDDEN.format("warning", "black", "/legacy/")]),
        ("ruff format --check", 'tool.ruff]\nexclude = ["legacy"]', [HIDDEN.format("warning", "ruff format", "legacy")]),
        ("ruff check . && pylint app", 'tool.ruff]\nexclude = ["legacy"]', []),
        ("ruff check .", 'tool.ruff]\nextend-exclude = ["tests", "migrations"]', []),
        ("ruff check .", 'tool.ruff.lint.per-file-ignores]\n"app/legacy/*" = ["E501"]', []),
        ("ruff check $DIRS", 'tool.ruff]\nexclude = ["legacy"]', []),
        ("mypy app", 'tool.ruff]\nexclude = ["legacy"]', []),
    ],
)  # fmt: skip
def test_sources_that_no_linter_looks_at_are_named(
    tmp_path: Path, command: str, settings: str, expected: list[str]
) -> None:
    files = {**LINTED, "gate.toml": policy(lint=command), "pyproject.toml": f"[{settings}\n"}
    assert seen("lint_excludes_source", tmp_path, files) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({".flake8": "[flake8]\nextend-exclude = legacy,docs\n", "gate.toml": policy(lint="flake8")},
         ["error .flake8:2 lint: flake8 looks at 1, not at 1 file of the product in app/legacy (hidden by `legacy`) [app/legacy/b.py]"]),
        ({"gate.toml": policy(lint="flake8 --exclude app/legacy .")},
         ["error gate.toml:2 lint: flake8 looks at 1, not at 1 file of the product in app/legacy (hidden by `app/legacy`) [app/legacy/b.py]"]),
        ({".pre-commit-config.yaml": "exclude: ^app/legacy/\nrepos:\n- repo: x\n  hooks:\n  - id: ruff\n", "gate.toml": policy(lint="pre-commit run -a")},
         ["error .pre-commit-config.yaml:1 lint: ruff looks at 1, not at 1 file of the product in app/legacy (hidden by `exclude: ^app/legacy/`) [app/legacy/b.py]"]),
        ({".pre-commit-config.yaml": "exclude: ^docs/\nrepos:\n- repo: x\n  hooks:\n  - id: ruff\n", "gate.toml": policy(lint="pre-commit run -a")}, []),
        ({".flake8": "[flake8]\nexclude = legacy\n", "app/legacy/b.py": "# Generated by protoc. DO NOT EDIT.\n", "gate.toml": policy(lint="flake8")}, []),
    ],
    ids=["flake8", "an option", "pre-commit", "pre-commit, of no source", "generated"],
)  # fmt: skip
def test_patterns_that_hide_sources_are_found_where_they_stand(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("lint_excludes_source", tmp_path, {**LINTED, **files}) == expected


def test_tracked_sources_that_gitignore_names_are_hidden_from_ruff(tmp_path: Path) -> None:
    write(tmp_path, {**LINTED, "gate.toml": policy(lint="ruff check")})
    git(tmp_path, "add", ".")
    found = seen("lint_excludes_source", tmp_path, {".gitignore": "legacy/\n", "gate.toml": policy(lint="ruff check")})
    assert found == [
        "error .gitignore:None lint: ruff looks at 1, not at 1 file of the product in app/legacy (tracked, and named by .gitignore) [app/legacy/b.py]"
    ]


def test_a_script_that_runs_its_own_tests_collects_itself(tmp_path: Path) -> None:
    script = "import unittest\n\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(value(), 3)\n\n\nunittest.main()\n"
    files = {"gate.toml": policy(test="coverage run scripts/release_tests.py"), "scripts/release_tests.py": script}
    assert seen("test_glob_misses_python", tmp_path, files) == []


def test_a_module_of_the_tests_themselves_is_installed(tmp_path: Path) -> None:
    files = {**PYTEST, "tests/test_a.py": SKIPS, "tests/plugins/live.py": ""}
    assert seen("all_skipped_module", tmp_path, files) == []
