"""The Action, run by a real runner: outputs, summary, annotations, on samples good, bad, unconfigured and hostile."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate_runs import commit, git, repository

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

runner = pytest.mark.skipif(
    not ACT.exists() or shutil.which("node") is None, reason="needs act and node: make test installs them"
)
pytestmark = pytest.mark.slow(seconds=1.2)


def act(tmp_path: Path, files: dict[str, str], branch: str = "main") -> str:
    repo = tmp_path / "repo"
    for name, text in {".github/workflows/gate.yml": WORKFLOW, **files}.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    for part in ("gate", "scripts"):
        shutil.copytree(ROOT / part, repo / ".sluice" / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("action.yml", "requirements.lock"):
        shutil.copy(ROOT / name, repo / ".sluice" / name)
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


@runner
def test_a_repository_that_passes_is_green(tmp_path: Path) -> None:
    files = {"gate.toml": GATE.format(name="test", run="python3 -m unittest"), "test_a.py": TEST.format(1)}
    assert result(act(tmp_path, files)) == 'success GREEN 1 {"schema":"gate.report/1",'


@runner
def test_a_failing_one_is_red_and_annotated(tmp_path: Path) -> None:
    files = {"gate.toml": GATE.format(name="test", run="python3 -m unittest"), "test_a.py": TEST.format(2)}
    output = act(tmp_path, files)
    assert result(output).startswith("failure RED 1 ")
    annotations = [line.split("] ")[1].strip() for line in output.splitlines() if "❗" in line]
    assert annotations == [
        "❗  ::error title=Gate%3A RED::test failed: exit code 1; 1 step, 1 ran, 1 test executed, 0 skipped",
        "❗  ::error file=test_a.py,line=4,title=test::AssertionError: 2 != 1",
    ]
    assert "## ❌ Gate: RED" in output[output.rindex("Summary - ") :]


@runner
def test_an_unconfigured_one_fails_and_its_summary_shows_what_fits_it(tmp_path: Path) -> None:
    output = act(tmp_path, {"test_a.py": TEST.format(1)})
    summary = output[output.rindex("Summary - ") :]
    assert result(output).startswith("failure UNGATED 0 ")
    assert 'run = "python3 -m unittest discover"' in summary


@runner
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


def script(
    tmp_path: Path, repo: Path, path: str | None = None, **env: str
) -> tuple[subprocess.CompletedProcess[str], str, str]:
    """Run what the Action runs, without a runner; return how it ended, its outputs and its summary."""
    whole = {
        "PATH": path or os.environ["PATH"], "HOME": str(tmp_path), "GATE_ACTION": str(ROOT), "GATE_DIRECTORY": str(repo),
        "RUNNER_TEMP": str(tmp_path / "temp"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_ACTIONS": "true", **env,
    }  # fmt: skip
    done = subprocess.run(
        ["/bin/bash", str(ROOT / "scripts" / "action")], env=whole, capture_output=True, text=True, timeout=120
    )
    return done, (tmp_path / "output").read_text(), (tmp_path / "summary").read_text()


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"GATE_MODE": "run; id\n::x::"}, "mode: expected run, audit or prove, got 'run??id???x??'"),
        ({"GATE_DIRECTORY": "/none $(id)"}, "working-directory: expected a folder, found none at '/none ??id?'"),
    ],
    ids=["hostile mode", "hostile folder"],
)
def test_what_cannot_be_done_is_one_clear_line_and_the_verdict_is_error(
    tmp_path: Path, env: dict[str, str], said: str
) -> None:
    done, outputs, summary = script(tmp_path, tmp_path, **env)
    assert (done.returncode, done.stdout, outputs, summary) == (
        2, f"::error title=Gate%3A ERROR::{said}\n", "verdict=ERROR\ntests=0\nreport=\n", f"## ❌ Gate: ERROR\n\n{said}\n",
    )  # fmt: skip


def test_the_mode_prove_breaks_what_a_pull_request_changed(tmp_path: Path) -> None:
    files = {"a.py": "A = 1\n", "b.py": "B = 1\n", "test_a.py": f"import a\n{TEST.format('a.A')}"}
    repo = repository(tmp_path, GATE.format(name="test", run="python3 -m unittest"), files)
    base = commit(repo)
    (repo / "c.py").write_text("C = 1\n")
    (repo / "a.py").write_text("A = 1\n\n")
    commit(repo)
    done, outputs, summary = script(tmp_path, repo, GATE_MODE="prove", GATE_EVENT_BASE=base, GATE_BUDGET="5m")
    why = "1 of 2 files can be broken and every step still passes; 1 seen, 1 unseen, 0 unsettled, 0 untried"
    saw = "test saw 1 of the Python files, and not this one: look at what is left out there"
    assert (done.returncode, outputs.splitlines()[:2], done.stdout.splitlines()[:2], summary.splitlines()[:7]) == (
        1, ["verdict=UNSEEN", "tests=0"],
        [f"::error title=Gate prove%3A UNSEEN::{why}", f"::error file=c.py,title=Gate%3A unseen::unseen: {saw}"],
        ["## ❌ Gate prove: UNSEEN", "", why, "", "| unseen | why |", "|---|---|", f"| c.py | {saw} |"],
    ), done.stdout  # fmt: skip


def test_a_python_of_the_runners_own_is_found_where_path_has_none(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "git", "mktemp", "mkdir", "sed"):
        (programs / name).symlink_to(shutil.which(name) or "")
    done, _, _ = script(tmp_path, tmp_path, path=str(programs))
    kept = tmp_path / "tools" / "Python" / "3.12.1" / "x64" / "bin"
    kept.mkdir(parents=True)
    (kept / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (kept / "python3").chmod(0o755)
    repo = repository(tmp_path, GATE.format(name="a", run="test -d .") + 'evidence = "exit"\n')
    found, _, _ = script(tmp_path, repo, path=str(programs), RUNNER_TOOL_CACHE=str(tmp_path / "tools"))
    said = "::error title=Gate%3A ERROR::expected Python 3.11 or newer on the runner, found none. Mend: actions/setup-python before this step\n"
    assert (done.returncode, done.stdout, found.returncode) == (2, said, 0)


def test_a_pull_request_in_a_shallow_clone_is_compared_with_where_it_branched_off(tmp_path: Path) -> None:
    repo = repository(tmp_path, GATE.format(name="test", run="python3 -m unittest"), {"test_a.py": TEST.format(1)})
    start = commit(repo)
    (repo / "test_b.py").write_text(TEST.format(1))
    base = commit(repo)
    git(repo, "checkout", "-q", "-b", "change", start)
    (repo / "gate.toml").write_text(GATE.format(name="test", run="true"))
    commit(repo)
    git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(repo, "clone", "-q", "--depth=1", "--branch=change", f"file://{repo}", "../shallow")
    done, outputs, summary = script(tmp_path, tmp_path / "shallow", GATE_EVENT_BASE=base)
    assert (done.returncode, outputs.splitlines()[:2], f"gate.toml@{start}" in summary) == (
        5, ["verdict=TAMPERED", "tests=1"], True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "code"),
    [('["bug", "gate-change"]', 0), ('["bug"]', 5), ("null", 5)],
    ids=["with it", "with another", "no"],
)
def test_the_label_that_the_bases_policy_names_lets_a_weakening_pass(tmp_path: Path, labels: str, code: int) -> None:
    policy = GATE.format(name="test", run="python3 -m unittest") + '[protect]\nallow = "label:gate-change"\n'
    repo = repository(tmp_path, policy, {"test_a.py": TEST.format(1), "test_b.py": TEST.format(1)})
    base = commit(repo)
    (repo / "test_b.py").unlink()
    (repo / "gate.toml").write_text(policy + "paths = ['x']\n")
    commit(repo)
    done, _, summary = script(tmp_path, repo, GATE_EVENT_BASE=base, GATE_LABELS=labels)
    assert (done.returncode, "(allowed by label:gate-change)" in summary) == (code, code == 0)


def test_a_base_that_cannot_be_fetched_is_an_error_that_says_how_to_get_it(tmp_path: Path) -> None:
    repo = repository(tmp_path, GATE.format(name="test", run="python3 -m unittest"), {"test_a.py": TEST.format(1)})
    commit(repo)
    done, outputs, _ = script(tmp_path, repo, GATE_EVENT_BASE="0" * 40)
    said = f"base-unavailable: expected a commit '{'0' * 40}', found none"
    assert (done.returncode, outputs.splitlines()[0], said in done.stdout) == (2, "verdict=ERROR", True)


def test_inputs_with_blanks_stay_one_word_each(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    repo = repository(
        tmp_path / "a b",
        GATE.format(name="x", run="false") + GATE.format(name="y", run="test -d .") + 'evidence = "exit"\n',
    )
    (tmp_path / "my policy.json").write_text('{"gates": {}}')
    done, outputs, _ = script(tmp_path, repo, GATE_ONLY=" y  y ", GATE_POLICY=str(tmp_path / "my policy.json"))
    assert (done.returncode, outputs.splitlines()[0]) == (0, "verdict=GREEN")


def test_yaml_comes_at_the_version_and_hash_of_the_lock_file(tmp_path: Path) -> None:
    lock = (ROOT / "requirements.lock").read_text()
    asked = tmp_path / "asked"
    bare = tmp_path / "python3"
    bare.write_text(
        '#!/bin/sh\ncase "$*" in *"import yaml"*) exit 1;; *"-m pip"*) for a; do last=$a; done; '
        f'cp "$last" {asked}; exit 1;; *) exec {sys.executable} "$@";; esac\n'
    )
    bare.chmod(0o755)
    done, _, _ = script(tmp_path, tmp_path, path=f"{tmp_path}:{os.environ['PATH']}")
    assert (done.returncode, asked.read_text() in lock, asked.read_text()[:8], asked.read_text().count("==")) == (
        2, True, "pyyaml==", 1,
    )  # fmt: skip


def test_zizmor_finds_nothing_in_the_action_and_in_our_workflows() -> None:
    zizmor = Path(sys.executable).parent / "zizmor"
    done = subprocess.run(
        [str(zizmor), "--offline", "--no-progress", "--color=never", "--min-severity=medium", "action.yml", ".github/workflows"],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout[:22]) == (0, "No findings to report."), done.stdout


def test_an_audit_fails_at_its_level_and_tells_what_it_found(tmp_path: Path) -> None:
    policy = GATE.format(name="lint", run="ruff check --fix-only .")
    repo = repository(tmp_path, policy)
    done, outputs, summary = script(tmp_path, repo, GATE_MODE="audit", GATE_FAIL_ON="error")
    found = (
        done.returncode,
        outputs.startswith("verdict=FINDINGS\ntests=0\nreport=/"),
        "`fixer-in-gate` gate.toml:2: " in summary,
    )
    assert found == (1, True, True)
    assert "::error file=gate.toml,line=2,title=fixer-in-gate::lint: `ruff --fix-only` mends" in done.stdout
