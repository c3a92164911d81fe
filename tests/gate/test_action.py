"""The Action, run by a real runner: outputs, summary, annotations, on samples good, bad, unconfigured and hostile."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ACT = Path(sys.executable).parent / "act"
TEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual({0}, 1)\n"
GATE = '[steps."{name}"]\nrun = "{run}"\n'
WORKFLOW = """
on: push
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: gate
        uses: ./.sluice
        continue-on-error: true
        with:
          base: ${{ env.BASE }}
      - shell: bash
        env:
          VERDICT: ${{ steps.gate.outputs.verdict }}
          TESTS: ${{ steps.gate.outputs.tests }}
          REPORT: ${{ steps.gate.outputs.report }}
          OUTCOME: ${{ steps.gate.outcome }}
        run: echo "RESULT $OUTCOME $VERDICT $TESTS $(head -c 30 "$REPORT" | tr -d '\\n ')"
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not ACT.exists() or shutil.which("node") is None, reason="needs act and node: make test installs them"
    ),
]


def act(tmp_path: Path, files: dict[str, str], branch: str = "main") -> str:
    repo = tmp_path / "repo"
    for name, text in {".github/workflows/gate.yml": WORKFLOW, **files}.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    for part in ("gate", "scripts"):
        shutil.copytree(ROOT / part, repo / ".sluice" / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "action.yml", repo / ".sluice" / "action.yml")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(repo)]
    for command in (["init", "-q", "-b", branch], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    home = tmp_path / "home"
    (home / ".config" / "act").mkdir(parents=True)
    (home / ".config" / "act" / "actrc").write_text("")
    env = {
        **os.environ,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    done = subprocess.run(
        [str(ACT), "push", "-P", "ubuntu-latest=-self-hosted", "--pull=false", "--env", "BASE="],
        cwd=repo, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def result(output: str) -> str:
    found = [line for line in output.splitlines() if "RESULT " in line and "echo" not in line]
    assert found, output[-3000:]
    return found[-1].split("RESULT ")[1].strip()


def test_a_repository_that_passes_is_green(tmp_path: Path) -> None:
    files = {"gate.toml": GATE.format(name="test", run="python3 -m unittest"), "test_a.py": TEST.format(1)}
    assert result(act(tmp_path, files)) == 'success GREEN 1 {"schema":"gate.report/1",'


def test_a_failing_one_is_red_and_annotated(tmp_path: Path) -> None:
    files = {"gate.toml": GATE.format(name="test", run="python3 -m unittest"), "test_a.py": TEST.format(2)}
    output = act(tmp_path, files)
    assert result(output).startswith("failure RED 1 ")
    assert "Gate: RED" in output


def test_an_unconfigured_one_fails_and_is_shown_what_fits_it(tmp_path: Path) -> None:
    assert result(act(tmp_path, {"test_a.py": TEST.format(1)})).startswith("failure UNGATED 0 ")


def test_names_of_branches_and_steps_are_never_run(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    files = {
        "gate.toml": GATE.format(name="test", run=f"echo '::set-output name=verdict::GREEN'; echo \\\"verdict=GREEN\\\" >> $GITHUB_OUTPUT; touch {planted}.step; exit 1"),
        "sitecustomize.py": f"open('{planted}', 'w')",
        "yaml.py": f"open('{planted}', 'w')",
    }  # fmt: skip
    output = act(tmp_path, files, branch="x$(touch${IFS}planted)`id`")
    assert result(output).startswith("failure RED ")
    assert not planted.exists()
    assert not (tmp_path / "repo" / "planted").exists()


def test_the_summary_of_an_unconfigured_repository_proposes_its_gate(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TEST.format(1))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    env = {
        **os.environ, "GATE_ACTION": str(ROOT), "GATE_DIRECTORY": str(tmp_path), "RUNNER_TEMP": str(tmp_path / "t"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GITHUB_OUTPUT": str(tmp_path / "output"),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "action")], env=env, capture_output=True, text=True, check=False
    )
    summary = (tmp_path / "summary.md").read_text()
    assert (done.returncode, (tmp_path / "output").read_text().splitlines()[0]) == (3, "verdict=UNGATED")
    assert 'run = "python3 -m unittest discover"' in summary
