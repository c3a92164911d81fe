"""Nothing outlives its step, whatever it does to hide; steps that run beside it are left alone."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate import proc
from gate.orphans import FAMILY
from gate.run import file_name
from tests.gate_runs import GATE, commit, gate, report, repository, runs, steps

linux = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
HIDE = "env -i setsid sh -c 'echo $$ > {0}; exec sleep 300' >/dev/null 2>&1 & until [ -s {0} ]; do :; done; "


def exits(script: str) -> str:
    return f"run = {json.dumps(script)}\nevidence = 'exit'\n"


@linux
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(HIDE.format("pid"), id="in a new session with an empty environment"),
        pytest.param("(" + HIDE.format("pid") + ") & wait", id="below a shell that ended before"),
        pytest.param(HIDE.format("pid") + "exec >&- 2>&-", id="after the step closed its output"),
        pytest.param(HIDE.format("pid") + "false", id="left by a step that fails"),
        pytest.param(HIDE.format("pid") + "kill -9 $$", id="left by a step that is killed"),
        pytest.param(
            f'env -i setsid {sys.executable} -c "import os, signal; signal.signal(15, signal.SIG_IGN); '
            "open('pid', 'w').write(str(os.getpid())); os.fork(); signal.pause()\" & until [ -s pid ]; do :; done",
            id="ignoring signals, with a child",
        ),
    ],
)
def test_what_hides_from_its_step_is_found(tmp_path: Path, script: str) -> None:
    repo = repository(tmp_path, steps(a=script))
    gate(repo)
    assert not runs(int((repo / "pid").read_text()))


@linux
def test_a_step_that_hangs_is_ended_with_what_it_hid(tmp_path: Path) -> None:
    repo = repository(tmp_path, f"[steps.a]\nlimit = '500ms'\n{exits(HIDE.format('pid') + 'sleep 300')}")
    code, found = report(repo)
    assert (code, found["steps"][0]["outcome"], runs(int((repo / "pid").read_text()))) == (1, "timed_out", False)


@linux
def test_a_server_that_a_running_step_hid_lives_until_that_step_ends(tmp_path: Path) -> None:
    server = HIDE.format("pid") + "touch up; until [ -e done ]; do sleep 0.02; done; kill -0 $(cat pid)"
    other = "until [ -e up ]; do sleep 0.02; done"
    policy = f"[steps.server]\n{exits(server)}[steps.other]\n{exits(other)}[steps.after]\nneeds=['other']\n{exits('touch done')}"
    repo = repository(tmp_path, policy)
    code, found = report(repo, "--jobs", "2")
    assert (code, found["reason"][:15], runs(int((repo / "pid").read_text()))) == (0, "3 steps, 3 ran,", False)


@linux
def test_what_a_step_left_is_gone_before_the_next_one_starts(tmp_path: Path) -> None:
    after = "! kill -0 $(cat pid)"
    repo = repository(tmp_path, f"[steps.a]\n{exits(HIDE.format('pid'))}[steps.b]\nneeds = ['a']\n{exits(after)}")
    assert report(repo)[0] == 0


@linux
def test_a_test_finds_its_daemon_gone_and_no_zombie(tmp_path: Path) -> None:
    daemon = "(setsid sleep 300 >/dev/null 2>&1 & echo $! > pid); kill -9 $(cat pid); "
    gone = "for i in $(seq 500); do kill -0 $(cat pid) 2>/dev/null || exit 0; sleep 0.01; done; exit 1"
    assert report(repository(tmp_path, f"[steps.a]\n{exits(daemon + gone)}"))[0] == 0


@linux
def test_without_adopting_what_left_the_group_is_found_by_its_mark(tmp_path: Path) -> None:
    script = "setsid sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 & until [ -s pid ]; do :; done"
    ended = proc.run(
        ["sh", "-c", script], cwd=tmp_path, env={"PATH": os.environ["PATH"]}, log=tmp_path / "log", limit_s=30,
        stop=threading.Event(),
    )  # fmt: skip
    assert (FAMILY.adopts, ended.exit_code, runs(int((tmp_path / "pid").read_text()))) == (False, 0, False)


def test_a_caller_that_ignores_the_ends_of_children_cannot_make_failures_pass(tmp_path: Path) -> None:
    repo = repository(tmp_path, f"[steps.a]\n{exits('exit 3')}")
    ignoring = [
        sys.executable, "-c",
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])",
    ]  # fmt: skip
    done = subprocess.run(
        [*ignoring, *GATE, "run", "--repo", str(repo), "--format", "json"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, json.loads(done.stdout)["steps"][0]["exit_code"]) == (1, 3)


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("run", signal.SIGINT), ("run", signal.SIGTERM), ("run", signal.SIGHUP), ("run", signal.SIGQUIT),
        ("init", signal.SIGINT),
    ],
)  # fmt: skip
def test_an_interrupt_leaves_nothing(tmp_path: Path, command: str, number: signal.Signals) -> None:
    script = HIDE.format("pid") + "touch up; sleep 300"
    repo = repository(tmp_path, steps(a=script), {"Makefile": f"test:\n\t{script.replace('$', '$$')}\n"})
    process = subprocess.Popen(
        [*GATE, command, "--repo", str(repo), *(["--check"] if command == "init" else [])],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "SHELL": "/bin/bash"},
    )  # fmt: skip
    while not (repo / "up").exists():
        assert process.poll() is None
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    left = runs(int((repo / "pid").read_text())) if sys.platform == "linux" else False
    assert (process.returncode, b"RED" in out, b"interrupted" in out, left) == (130, True, True, False)


def test_steps_with_names_that_look_alike_keep_their_outputs_apart(tmp_path: Path) -> None:
    repo = repository(
        tmp_path, '[steps."t:a"]\nrun = "echo one"\n[steps.t_a]\nrun = "echo two"\n[steps.T_a]\nrun = "echo three"\n'
    )
    commit(repo)
    gate(repo, "--logs", str(tmp_path / "logs"))
    kept = {path.name: path.read_text() for path in (tmp_path / "logs").glob("*.log")}
    assert kept == {"t%3aa.log": "one\n", "t_a.log": "two\n", "%54_a.log": "three\n"}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("aAbB4:._-09", min_size=1, max_size=4), unique=True))
def test_no_two_steps_share_a_file(names: list[str]) -> None:
    files = {file_name(name) for name in names}
    assert (len({file.lower() for file in files}), any("/" in file for file in files)) == (len(names), False)


@pytest.mark.parametrize("name", ["../x", "..", "a/b", "x" * 65, ".", ""])
def test_names_that_could_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    done = gate(repository(tmp_path, f'[steps."{name}"]\nrun = "true"\n'))
    said = f"gate: gate.toml: steps.{name}: expected a name of "
    assert (done.returncode, done.stderr[: len(said)], done.stdout) == (2, said, "")


@linux
@pytest.mark.parametrize(
    "starts", ["sleep 300 & ", "setsid sleep 300 & "], ids=["in its group", "in a session of its own"]
)
def test_a_gate_that_is_killed_leaves_no_step_running_and_no_file(tmp_path: Path, starts: str) -> None:
    repo = repository(tmp_path, steps(a=f"{starts}echo $! > child; echo $$ > pid; sleep 300"))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    env = os.environ | {"TMPDIR": str(temporary)}
    run = [*GATE, "run", "--repo", str(repo), "--quiet"]
    with subprocess.Popen(run, stdout=subprocess.DEVNULL, env=env) as process:
        until = time.monotonic() + 20
        while not (repo / "pid").exists() or not (repo / "pid").read_text().strip():
            assert time.monotonic() < until
            time.sleep(0.01)
        process.kill()
    pids = [int((repo / name).read_text()) for name in ("child", "pid")]
    while (any(map(runs, pids)) or any(temporary.iterdir())) and time.monotonic() < until:
        time.sleep(0.01)
    assert ([runs(pid) for pid in pids], list(temporary.iterdir())) == ([False, False], [])
