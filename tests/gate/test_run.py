"""Whole runs of the command line on real repositories: verdicts, exit codes, and nothing left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate_runs import ROOT, TEST, UNITTEST, commit, gate, report, repository, steps

UNGATED = "no step is configured for this repository; `gate init` proposes a gate.toml"


@pytest.mark.parametrize(
    ("policy", "files", "code", "verdict", "reason"),
    [
        pytest.param(steps(test=UNITTEST), {"test_a.py": TEST}, 0, "GREEN", "1 step, 1 ran, 1 test executed, 0 skipped",
                     id="a test ran"),
        pytest.param(None, {}, 3, "UNGATED", UNGATED,
                     id="no policy"),
        pytest.param("", {}, 3, "UNGATED", "gate.toml is there and has no step; `gate init` proposes some",
                     id="an empty policy"),
        pytest.param(steps(test="false"), {}, 1, "RED",
                     "test failed: exit code 1; 1 step, 1 ran, 0 tests executed, 0 skipped",
                     id="a step failed"),
        pytest.param(steps(a="true"), {}, 4, "HOLLOW",
                     "no step showed what it verified; 1 step, 1 ran, 0 tests executed, 0 skipped", id="nothing known ran"),
        pytest.param(steps(a="false | cat"), {}, 1, "RED", "a failed: exit code 1; 1 step, 1 ran, 0 tests executed, 0 skipped",
                     id="a pipeline hides no failure"),
        pytest.param('[steps.a]\nrun = "sleep 60"\nlimit = "300ms"', {}, 1, "RED",
                     "a timed out: not finished after 0.3 s; 1 step, 1 ran, 0 tests executed, 0 skipped", id="a step hangs"),
        pytest.param('[steps.a]\nrun = "test -d ."\nevidence = "exit"', {}, 0, "GREEN",
                     "1 step, 1 ran, 0 tests executed, 0 skipped", id="an exit code that is declared to count"),
        pytest.param('[steps.a]\nrun = ":"\nevidence = "exit"', {}, 4, "HOLLOW",
                     "a verified nothing: its command can do nothing, so its exit code proves nothing; "
                     "1 step, 1 ran, 0 tests executed, 0 skipped", id="an exit code of a command that does nothing"),
        pytest.param(steps(lint="echo no linter", test=UNITTEST), {"test_a.py": TEST}, 0, "GREEN",
                     "2 steps, 2 ran, 1 test executed, 0 skipped; nothing to be seen of lint", id="a step that shows nothing"),
    ],
)  # fmt: skip
def test_each_verdict_has_its_exit_code_and_reason(
    tmp_path: Path, policy: str | None, files: dict[str, str], code: int, verdict: str, reason: str
) -> None:
    exit_code, found = report(repository(tmp_path, policy, files))
    assert (exit_code, found["verdict"], found["reason"]) == (code, verdict, reason)


def test_a_test_step_without_a_test_is_hollow(tmp_path: Path) -> None:
    code, found = report(repository(tmp_path, steps(test="python3 -m unittest || [ $? -eq 5 ]"), {"test_a.py": ""}))
    assert (code, found["verdict"], found["steps"][0]["outcome"]) == (4, "HOLLOW", "hollow")


def test_a_policy_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    done = gate(repository(tmp_path, "[steps.test]\nrunn = 'x'"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gate: gate.toml: steps.test.runn: expected one of run, kind,")


def test_a_step_whose_need_failed_does_not_run_and_the_verdict_is_red(tmp_path: Path) -> None:
    code, found = report(repository(tmp_path, steps(a="false") + '[steps.b]\nrun = "touch ran"\nneeds = ["a"]\n'))
    assert (code, [(s["name"], s["outcome"]) for s in found["steps"]]) == (1, [("a", "failed"), ("b", "not_run")])


def test_steps_run_side_by_side(tmp_path: Path) -> None:
    meet = "touch {0}; for i in $(seq 100); do [ -e {1} ] && exit 0; sleep 0.1; done; exit 1"
    code, _ = report(
        repository(tmp_path, steps(a=meet.format("x", "y"), b=meet.format("y", "x"), c="python3 -m unittest"),
                   {"test_a.py": TEST}), "--jobs", "3",
    )  # fmt: skip
    assert code == 0


def test_a_hooks_git_variables_do_not_reach_the_steps(tmp_path: Path) -> None:
    repo = repository(
        tmp_path, steps(a='test -z "${GIT_DIR:-}${GITHUB_ENV:-}${GITHUB_OUTPUT:-}"', b=UNITTEST), {"test_a.py": TEST}
    )
    code, _ = report(repo, env={"GIT_DIR": "/nonexistent", "GITHUB_ENV": "/x", "GITHUB_OUTPUT": "/y"})
    assert code == 0


def test_output_cannot_command_a_runner(tmp_path: Path) -> None:
    done = gate(repository(tmp_path, steps(a="echo '::set-output name=x::y'")), env={"GITHUB_ACTIONS": "true"})
    lines = done.stderr.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert (lines[0].startswith("::stop-commands::"), len(token), lines[-1]) == (True, 32, f"::{token}::")


def test_endless_output_costs_no_memory(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(a="yes | head -c 100000000"))
    script = (
        "import sys; sys.argv = ['gate', 'run', '--repo', sys.argv[1], '--quiet']\n"
        f"sys.path.insert(0, {str(ROOT)!r})\nfrom gate.cli import main\nmain()\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(repo)], capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) < 40 * 1024


@pytest.mark.parametrize("place", ["outside", "bare"])
def test_what_is_no_worktree_is_an_error_never_no_files(tmp_path: Path, place: str) -> None:
    folder = tmp_path / place
    subprocess.run(["git", "init", "-q", *(["--bare"] if place == "bare" else []), str(folder)], check=True)
    if place == "outside":
        (folder / ".git").rename(tmp_path / "elsewhere")
    done = gate(folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"gate: not-a-worktree: expected a git worktree at {folder}, got: ")


def test_a_base_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(a="true"))
    commit(repo)
    done = gate(repo, "--base", "0" * 40)
    assert (done.returncode, done.stderr) == (
        2, f"gate: base-unavailable: expected a commit '{'0' * 40}', found none\n",
    )  # fmt: skip


def test_the_policy_is_read_from_the_base_and_weakening_it_is_tampering(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(test=UNITTEST), {"test_a.py": TEST})
    base = commit(repo)
    (repo / "gate.toml").write_text(steps(test="true"))
    code, found = report(repo, "--base", base)
    assert (code, found["verdict"], found["steps"][0]["run"]) == (5, "TAMPERED", UNITTEST)


def test_an_unborn_head_is_judged(tmp_path: Path) -> None:
    code, found = report(repository(tmp_path, steps(test=UNITTEST), {"test_a.py": TEST}))
    assert (code, found["head"]) == (0, None)


def test_only_runs_a_step_with_what_it_needs(tmp_path: Path) -> None:
    policy = steps(a="touch a", c="touch c") + '[steps.b]\nrun = "python3 -m unittest"\nneeds = ["a"]\n'
    repo = repository(tmp_path, policy, {"test_a.py": TEST})
    code, found = report(repo, "--only", "b")
    assert (code, [s["name"] for s in found["steps"]], (repo / "c").exists()) == (0, ["a", "b"], False)


def test_a_plan_runs_nothing_and_is_never_green(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(a="touch ran"))
    code, found = report(repo, "--plan")
    assert (code, found["steps"][0]["outcome"], (repo / "ran").exists()) == (4, "not_run", False)


def test_a_wrapper_stands_before_every_shell(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(a="test $WRAPPED = yes", b=UNITTEST), {"test_a.py": TEST})
    assert report(repo, "--wrap", '["env", "WRAPPED=yes"]')[0] == 0


def test_a_step_whose_paths_did_not_change_says_so(tmp_path: Path) -> None:
    policy = '[steps.docs]\nrun = "false"\npaths = ["docs/**"]\n' + steps(test=UNITTEST)
    repo = repository(tmp_path, policy, {"test_a.py": TEST, "docs/a.md": "x"})
    base = commit(repo)
    (repo / "b.py").write_text("")
    code, found = report(repo, "--since", base)
    assert (code, found["steps"][0]["reason"]) == (0, "no path of this step changed (docs/**)")


@pytest.mark.parametrize(
    ("env", "options", "shown"),
    [
        ({}, [], False), ({"CI": "true"}, [], True), ({"CI": "false"}, [], False), ({}, ["--no-quiet"], True),
        ({"CI": "true"}, ["--quiet"], False),
    ],
)  # fmt: skip
def test_output_is_shown_while_it_comes_where_somebody_watches(
    tmp_path: Path, env: dict[str, str], options: list[str], shown: bool
) -> None:
    repo = repository(tmp_path, steps(lint="echo one; printf two", b="true"))
    done = gate(repo, *options, env={"CI": "", **env})
    assert done.stderr == ("lint │ one\nlint │ two\n" if shown else "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--jobs", "0"], "argument --jobs: expected a number of at least 1, got '0'"),
        (["--bogus"], "unrecognized arguments: --bogus"),
        (["--only", "lnt"], "--only: expected one of lint, b, got 'lnt'; did you mean 'lint'?"),
        (["--wrap", "[1]"], "--wrap: expected a JSON list of words, got '[1]'"),
    ],
)
def test_a_wrong_option_is_one_line(tmp_path: Path, options: list[str], said: str) -> None:
    done = gate(repository(tmp_path, steps(lint="true", b="true")), *options)
    assert (done.returncode, done.stdout, done.stderr.count("\n"), said in done.stderr) == (2, "", 1, True)
