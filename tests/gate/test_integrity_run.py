"""A change that weakens its gate, judged by the command line in a real repository, in every format."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence import write_tree

GATE = [sys.executable, "-I", str(Path(__file__).parents[2] / "gate" / "__main__.py")]
TEST = "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(f(), 1)\n  def test_b(self): self.assertTrue(f())\n"
FILES = {
    "gate.toml": '[steps.test]\nrun = "make test"\n[[waivers]]\nstep = "test"\nreason = "the move"\nexpires = 2099-01-31\n',
    "Makefile": "test:\n\tpython3 -m unittest -q\n",
    "test_a.py": "def f(): return 1\n" + TEST,
}


def run(repo: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GATE, "run", "--repo", str(repo), *options], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository whose last commit is the base."""
    folder = write_tree(tmp_path / "repo", FILES)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    return folder


def test_the_verdict_names_file_line_what_was_and_what_it_became(repo: Path) -> None:
    (repo / "Makefile").write_text("test:\n\tpython3 -m unittest -q || true\n")
    done = run(repo, "--base", "HEAD", "--format", "json")
    found = json.loads(done.stdout)
    [finding] = [f for f in found["findings"] if f["level"] == "error"]
    assert (done.returncode, found["verdict"], finding["rule"], finding["path"], finding["line"]) == (
        5, "TAMPERED", "exit-swallowed", "Makefile", 2,
    )  # fmt: skip
    assert finding["message"] == (
        "step test: it ran `unittest -q`; now it is `unittest -q`, and its failure counts no longer"
        " (python3 -m unittest -q || true)"
    )


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github", "sarif"])
def test_a_waiver_and_how_tests_moved_stand_in_every_summary(repo: Path, form: str) -> None:
    (repo / "test_a.py").write_text("import unittest\n" + "def f(): return 1\n" + TEST.replace("test_b", "test_c"))
    with (repo / "test_b.py").open("w") as file:
        file.write("import unittest\nclass U(unittest.TestCase):\n  def test_d(self): self.assertTrue(len('a'))\n")
    done = run(repo, "--base", "HEAD", "--format", form)
    said = done.stdout.replace("\u200b", "")
    assert (done.returncode, "test may be hollow until 2099-01-31: the move" in said) == (0, True)
    assert "tests defined in the changed files: 3 (+1)" in said
