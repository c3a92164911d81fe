"""pytest and unittest, run for real: what they executed, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from gate import tools
from gate.report import Evidence

BIN = Path(sys.executable).parent


def run(step: str, folder: Path, **env: str) -> tuple[int, Evidence]:
    """Run a step as the gate does; the interpreter of this test stands first on PATH."""
    scratch = folder.parent / f"{folder.name}-scratch"
    scratch.mkdir(exist_ok=True)
    log = scratch / "log"
    invocations = tools.recognise(step, folder, root=folder)
    base = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env}
    added = tools.environment(invocations, scratch, env=base)
    with log.open("wb") as out:
        command = ["bash", "-eo", "pipefail", "-c", step]
        code = subprocess.run(command, cwd=folder, env=base | added, stdout=out, stderr=out, check=False).returncode
    return code, tools.read_evidence(invocations, log, scratch, exit_code=code, env=base)


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


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
