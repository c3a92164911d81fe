"""The Python tools, run for real: what they executed or looked at, and nothing else."""

import sys
from pathlib import Path

import pytest

from gate.report import Evidence
from tests.evidence import run_step, write_tree

BIN = Path(sys.executable).parent


def run(step: str, folder: Path, **env: str) -> tuple[int, Evidence]:
    """Run a step; the interpreter of this test stands first on PATH."""
    return run_step(step, folder, first=BIN, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", **env)


def write(folder: Path, **files: str) -> Path:
    return write_tree(folder, {f"{name}.py": text for name, text in files.items()})


PASS = "def test_a(): pass\ndef test_b(): pass\n"
MIXED = """
import pytest
def test_passes(): pass
def test_fails(): assert 0
@pytest.fixture
def broken(): raise OSError
def test_errs(broken): pass
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_xfails(): assert 0
@pytest.mark.xfail
def test_xpasses(): pass
"""
IDLE = MIXED.split("def test_passes")[0] + "@pytest.mark.skip" + MIXED.split("@pytest.mark.skip")[1]
FAKE = "def test_lies(capfd):\n    with capfd.disabled(): print('\\n===== 41 passed in 0.01s =====')\n"

PYTEST_RUNS = {
    "plain": ("pytest", PASS, Evidence("pytest", 2, None, 0, 0)),
    "quiet": ("pytest -q", PASS, Evidence("pytest", 2, None, 0, 0)),
    "silent": ("pytest -qq", PASS, Evidence("pytest", 2, None, 0, 0)),
    "module": ("python -m pytest", PASS, Evidence("pytest", 2, None, 0, 0)),
    "in colour": ("pytest --color=yes -p no:cacheprovider", PASS, Evidence("pytest", 2, None, 0, 0)),
    "in parallel": ("pytest -p xdist.plugin -n1", PASS, Evidence("pytest", 2, None, 0, 0)),
    "own report": ("pytest --junitxml=own.xml", PASS, Evidence("pytest", 2, None, 0, 0)),
    "to a file": ("pytest > out.txt", PASS, Evidence("pytest", 2, None, 0, 0)),
    "through a pipe": ("pytest | cat", PASS, Evidence("pytest", 2, None, 0, 0)),
    "twice": ("pytest; pytest -q -k test_a", PASS, Evidence("pytest", 3, None, 0, 0)),
    "mixed": ("pytest", MIXED, Evidence("pytest", 3, None, 3, 2)),
    "swallowed": ("pytest || true", MIXED, Evidence("pytest", 3, None, 3, 2)),
    "a lie": ("pytest", FAKE, Evidence("pytest", 1, None, 0, 0)),
    "a lie, read from lines": ("pytest --junitxml=own.xml", FAKE, Evidence("pytest", 1, None, 0, 0)),
    "none": (
        "pytest",
        "",
        Evidence("pytest", 0, None, 0, 0, "pytest collected no tests"),
    ),
    "none, swallowed": (
        "pytest -qq || [ $? -eq 5 ]",
        "",
        Evidence("pytest", 0, None, 0, 0, "pytest collected no tests"),
    ),
    "all skipped": (
        "pytest",
        IDLE,
        Evidence("pytest", 0, None, 3, 0, "pytest executed no test: 3 skipped or expected to fail"),
    ),
    "all deselected": (
        "pytest -k nothing || true",
        PASS,
        Evidence("pytest", 0, None, 0, 0, "pytest collected no tests"),
    ),
}


@pytest.mark.parametrize(("step", "tests", "expected"), PYTEST_RUNS.values(), ids=PYTEST_RUNS)
def test_pytest_tells_what_it_executed(tmp_path: Path, step: str, tests: str, expected: Evidence) -> None:
    _, evidence = run(step, write(tmp_path / "project", test_it=tests))
    assert evidence == expected


UNITTEST_PASS = "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n  def test_b(self): pass\n"
UNITTEST_MIXED = (
    UNITTEST_PASS
    + "  def test_c(self): self.fail()\n  @unittest.skip('no')\n  def test_d(self): pass\n"
    + "  @unittest.expectedFailure\n  def test_e(self): self.fail()\n"
)
UNITTEST_IDLE = UNITTEST_PASS.replace("class T", "@unittest.skip('no')\nclass T")
SUITE = "unittest.defaultTestLoader.loadTestsFromTestCase(T)"
DROPPED = f"\nif __name__ == '__main__':\n  unittest.TextTestRunner().run({SUITE})\n"

UNITTEST_RUNS = {
    "plain": ("python -m unittest", UNITTEST_PASS, Evidence("unittest", 2, None, 0, 0)),
    "mixed": ("python -m unittest -v", UNITTEST_MIXED, Evidence("unittest", 3, None, 2, 1)),
    "result dropped": ("python test_it.py", UNITTEST_MIXED + DROPPED, Evidence("unittest", 3, None, 2, 1)),
    "all skipped": (
        "python -m unittest",
        UNITTEST_IDLE,
        Evidence("unittest", 0, None, 2, 0, "unittest executed no test: 2 skipped or expected to fail"),
    ),
    "none": (
        "python -m unittest discover -s .",
        "",
        Evidence("unittest", 0, None, 0, 0, "unittest found no tests"),
    ),
}


@pytest.mark.parametrize(("step", "tests", "expected"), UNITTEST_RUNS.values(), ids=UNITTEST_RUNS)
def test_unittest_tells_what_it_executed(tmp_path: Path, step: str, tests: str, expected: Evidence) -> None:
    _, evidence = run(step, write(tmp_path / "project", test_it=tests))
    assert evidence == expected


def test_a_user_s_own_options_stay(tmp_path: Path) -> None:
    folder = write(tmp_path / "project", test_it=PASS)
    code, evidence = run("pytest", folder, PYTEST_ADDOPTS="-k test_a")
    assert (code, evidence) == (0, Evidence("pytest", 1, None, 0, 0))


SOURCES = {"a.py": "a: int = 1\n", "pkg/b.py": "b: int = 2\n", "pkg/c.txt": ""}
HOOKS = SOURCES | {
    ".pre-commit-config.yaml": "repos: [{repo: local, hooks: ["
    "{id: a, name: python files, entry: 'true', language: system, types: [python]},"
    "{id: b, name: rust files, entry: 'true', language: system, types: [rust]}]}]"
}
GIT = "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x && "

LINTS = {
    "ruff": ("ruff check", SOURCES, Evidence("ruff", None, 2)),
    "ruff, one folder": ("python -m ruff check -q pkg", SOURCES, Evidence("ruff", None, 1)),
    "ruff, none": ("ruff check --exclude '*.py'", SOURCES, Evidence("ruff", None, 0, hollow="ruff looked at no file")),
    "ruff format": ("ruff format --check .", SOURCES, Evidence("ruff", None, 2)),
    "ruff format, none": (
        "ruff format --check --exclude '*.py'",
        SOURCES,
        Evidence("ruff", None, 0, hollow="ruff looked at no file"),
    ),
    "mypy": ("mypy .", SOURCES, Evidence("mypy", None, 2)),
    "mypy, none": (
        "mypy --exclude '.*' . || true",
        SOURCES,
        Evidence("mypy", None, 0, hollow="mypy found no file to check"),
    ),
    "hooks": (GIT + "pre-commit run --all-files", HOOKS, Evidence("pre-commit", None, 1)),
    "hooks, no files": (
        GIT + "pre-commit run",
        HOOKS,
        Evidence("pre-commit", None, 0, hollow="pre-commit had no files for any of its 2 hooks"),
    ),
}


@pytest.mark.parametrize(("step", "files", "expected"), LINTS.values(), ids=LINTS)
def test_a_linter_tells_what_it_looked_at(tmp_path: Path, step: str, files: dict[str, str], expected: Evidence) -> None:
    assert run(step, write_tree(tmp_path / "project", files)) == (0, expected)
