"""Places, histories and steps that are broken: each a clear verdict or one clear line, never green, nothing left."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from gate import cli
from gate.render import FORMATS, render
from gate.render.github import unspoken
from gate.report import read_report
from tests.gate_runs import GATE, TEST, UNITTEST, commit, gate, git, report, repository, runs, steps

PASSES = {"gate.toml": steps(test=UNITTEST), "test_a.py": TEST}


def passing(folder: Path) -> Path:
    """Return a repository with one commit whose gate is green."""
    folder.mkdir(parents=True, exist_ok=True)
    repo = repository(folder, PASSES["gate.toml"], {"test_a.py": TEST})
    commit(repo)
    return repo


def not_a_repository(tmp_path: Path) -> Path:
    shutil.rmtree(passing(tmp_path) / ".git")
    return tmp_path / "repo"


def of_another_user(tmp_path: Path) -> Path:
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a checkout away")
    repo = passing(tmp_path)
    for path in (repo, *repo.rglob("*")):
        os.chown(path, 12345, 12345)
    return repo


def parent_gone(tmp_path: Path) -> Path:
    git(passing(tmp_path), "worktree", "add", "-q", "../linked")
    shutil.rmtree(tmp_path / "repo")
    return tmp_path / "linked"


def bare(tmp_path: Path) -> Path:
    git(passing(tmp_path), "clone", "-q", "--bare", ".", "../bare")
    return tmp_path / "bare"


def submodule_not_there(tmp_path: Path) -> Path:
    outer = passing(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(passing(tmp_path / "inner")), "sub")
    git(outer, "commit", "-qm", "sub")
    git(outer, "submodule", "deinit", "-f", "--all")
    return outer / "sub"


def git_is_a_file(tmp_path: Path) -> Path:
    repo = not_a_repository(tmp_path)
    (repo / ".git").write_text("nonsense\n")
    return repo


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (not_a_repository, "not a git repository"),
        (of_another_user, "detected dubious ownership in repository at"),
        (parent_gone, "not a git repository: "),
        (bare, "it is a bare repository, which has no files to check"),
        (submodule_not_there, "a submodule that is not checked out; fetch it with `git submodule update --init`"),
        (git_is_a_file, "invalid gitfile format"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_place_that_is_no_worktree_is_an_error_with_its_reason(tmp_path: Path, make, said: str) -> None:
    place = make(tmp_path)
    done = gate(place, env={"HOME": str(tmp_path), "GIT_CEILING_DIRECTORIES": str(tmp_path)})
    start = f"gate: not-a-worktree: expected a git worktree at {place}, got: {said}"
    assert (done.returncode, done.stdout, done.stderr[: len(start)]) == (2, "", start)


def test_a_checkout_of_another_user_is_one_readable_line_with_what_mends_it(tmp_path: Path) -> None:
    place = of_another_user(tmp_path)
    done = gate(place, env={"HOME": str(tmp_path)})
    said = (
        f"gate: not-a-worktree: expected a git worktree at {place}, got: detected dubious ownership in repository at "
        f"'{place}' To add an exception for this directory, call: git config --global --add safe.directory {place}\n"
    )
    assert (done.returncode, done.stderr) == (2, said)


def shallow(tmp_path: Path) -> tuple[Path, str]:
    repo = passing(tmp_path)
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "commit", "-q", "--allow-empty", "-m", "next")
    git(repo, "clone", "-q", "--depth=1", f"file://{repo}", "../shallow")
    return tmp_path / "shallow", base


def unborn(tmp_path: Path) -> tuple[Path, str]:
    return repository(tmp_path, PASSES["gate.toml"], {"test_a.py": TEST}), "HEAD"


def unrelated(tmp_path: Path) -> tuple[Path, str]:
    repo = passing(tmp_path)
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "-q", "--orphan", "other")
    git(repo, "commit", "-qm", "other")
    return repo, base


def like_an_option(tmp_path: Path) -> tuple[Path, str]:
    return passing(tmp_path), "--output=x"


@pytest.mark.parametrize("option", ["--base", "--since"])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (shallow, "base-unavailable: expected a commit '{base}', found none; the clone is shallow: deepen it with "
                  "`git fetch --unshallow`, or check out with fetch-depth: 0"),
        (unborn, "base-unavailable: expected a commit '{base}', found none"),
        (like_an_option, "{option}: expected a commit or a branch, got '--output=x'"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)  # fmt: skip
def test_a_base_that_is_not_there_is_an_error_never_no_changes(tmp_path: Path, option: str, make, said: str) -> None:
    repo, base = make(tmp_path)
    done = gate(repo, f"{option}={base}")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"gate: {said.format(base=base, option=option)}\n")


def test_a_base_without_common_history_is_an_error(tmp_path: Path) -> None:
    repo, base = unrelated(tmp_path)
    done = gate(repo, "--base", base)
    said = f"gate: base-unavailable: expected HEAD to share history with {base}, found none\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_what_the_base_did_since_is_not_taken_for_the_changes_doing(tmp_path: Path) -> None:
    repo = passing(tmp_path)
    git(repo, "branch", "change")
    (repo / "test_b.py").write_text(TEST)
    newer = commit(repo)
    git(repo, "checkout", "-q", "change")
    code, found = report(repo, "--base", "main")
    assert (code, found["base"], found["findings"]) == (0, newer, [])


def test_a_policy_that_a_partial_clone_lacks_is_an_error_never_ungated(tmp_path: Path) -> None:
    repo = passing(tmp_path)
    base = git(repo, "rev-parse", "HEAD")
    blob = git(repo, "rev-parse", "HEAD:gate.toml")
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    done = gate(repo, "--base", base)
    assert (done.returncode, done.stderr[:60]) == (2, f"gate: base-unavailable: the objects of {base}"[:60])


@pytest.mark.parametrize("linked", [False, True], ids=["repository", "linked worktree"])
def test_a_hook_of_one_repository_can_gate_another(tmp_path: Path, linked: bool) -> None:
    judged = passing(tmp_path / "judged")
    here = f'test "$(git rev-parse --show-toplevel)" = {judged}'
    (judged / "gate.toml").write_text(steps(test=UNITTEST, here=here))
    hooked = passing(tmp_path / "hooked")
    hook = hooked / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {' '.join(GATE)} run --repo {judged} --format json > {tmp_path}/report.json\n")
    hook.chmod(0o755)
    if linked:
        git(hooked, "worktree", "add", "-q", "../linked")
        hooked = hooked.parent / "linked"
    git(hooked, "commit", "--allow-empty", "-qm", "x")
    found = json.loads((tmp_path / "report.json").read_text())
    assert (found["verdict"], found["head"]) == ("GREEN", git(judged, "rev-parse", "HEAD"))


def test_a_change_in_a_submodule_is_compared(tmp_path: Path) -> None:
    outer = passing(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(passing(tmp_path / "inner")), "sub")
    base = commit(outer)
    (outer / "sub" / "new.py").write_text("")
    git(outer / "sub", "add", "-A")
    git(outer / "sub", "commit", "-qm", "new")
    code, found = report(outer, "--base", base)
    assert (code, found["verdict"], found["findings"]) == (0, "GREEN", [])


def test_a_file_with_any_name_can_be_reported(tmp_path: Path) -> None:
    repo = passing(tmp_path)
    odd = Path(os.fsdecode(os.fsencode(repo) + b"/tests/sp ace\n::error::\xff_test.py"))
    odd.parent.mkdir()
    odd.write_text(TEST)
    base = commit(repo)
    odd.unlink()
    done = gate(repo, "--base", base, "--format", "json", "--output", str(tmp_path / "out"))
    read = read_report((tmp_path / "out").read_bytes())
    printed = gate(repo, "--base", base, env={"GITHUB_ACTIONS": "true"})
    spoken = [line for line in printed.stdout.splitlines() if line.lstrip().startswith("::")]
    lacking = [form for form in FORMATS if "ace" not in render(read, form, root=repo)]
    named = '"tests/sp%20ace%0A%3A%3Aerror%3A%3A%FF_test.py"' in render(read, "sarif", root=repo)
    assert (done.returncode, printed.returncode, spoken, lacking, named) == (5, 5, [], [], True)


def test_binary_output_can_be_reported(tmp_path: Path) -> None:
    noise = "import os; os.write(1, bytes(range(256)) * 300 + b'\\n::error::x\\n##[error]y\\r::error::z\\n'); raise SystemExit(3)"
    repo = repository(tmp_path, steps(a=f"{sys.executable} -c {json.dumps(noise)}"))
    done = gate(repo, env={"GITHUB_ACTIONS": "true"})
    code, found = report(repo)
    read = read_report(json.dumps(found))
    ET.fromstring(render(read, "junit", root=repo))
    spoken = [
        line for form in FORMATS for line in (unspoken(render(read, form, root=repo), form), done.stdout)
        if "##[" in line or re.search(r"(^|[\r\n])\s*::error::[xz]", line)
    ]  # fmt: skip
    assert (done.returncode, code, spoken) == (1, 1, [])


IGNORES = "trap '' TERM; echo $$ > pid; sleep 300"
SERVER = f"{sys.executable} -c \"import socket, os, time; s = socket.create_server(('127.0.0.1', 0)); open('pid', 'w').write(str(os.getpid())); time.sleep(300)\" & until [ -s pid ]; do sleep 0.02; done"
CLOSES = "exec >&- 2>&-; echo $$ > pid; sleep 0.2; exit 3"


@pytest.mark.parametrize(
    ("script", "outcome", "reason"),
    [
        pytest.param(IGNORES, "timed_out", "not finished after 0.5 s", id="ignores SIGTERM"),
        pytest.param(SERVER, "passed", "", id="leaves a server in the background"),
        pytest.param(CLOSES, "failed", "exit code 3", id="closes its output"),
        pytest.param("echo $$ > pid; kill -9 $$", "failed", "killed by signal 9", id="is killed"),
        pytest.param(f"{SERVER}; wait", "timed_out", "not finished after 0.5 s", id="waits for its server"),
    ],
)
def test_a_step_that_does_not_end_as_it_should(tmp_path: Path, script: str, outcome: str, reason: str) -> None:
    repo = repository(tmp_path, f"[steps.a]\nrun = '''{script}'''\nlimit = '500ms'\n")
    code, found = report(repo)
    left = runs(int((repo / "pid").read_text()))
    step = found["steps"][0]
    assert (code == 0, step["outcome"], step["reason"], left) == (False, outcome, reason, False)


def test_a_full_disk_is_told_and_never_green(tmp_path: Path) -> None:
    chatty = "python3 -c 'print(\"x\" * 200_000)'; python3 -m unittest"
    repo = repository(tmp_path, steps(test=chatty), {"test_a.py": TEST})
    limited = ["bash", "-c", 'ulimit -f 64; exec "$@"', "-", *GATE, "run", "--repo", str(repo), "--format", "json"]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=60)
    step = json.loads(done.stdout)["steps"][0]
    assert (done.returncode, step["outcome"], step["reason"].endswith("test.log: File too large")) == (
        1,
        "failed",
        True,
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--output", "/nonexistent/out"], "gate: --output: expected a file in a folder that is there, got /nonexistent/out\n"),
        (["--output", "/"], "gate: --output: expected a file in a folder that is there, got /\n"),
        (["--logs", "/dev/null/x"], "gate: expected room for the steps' output in --logs /dev/null/x, got: Not a directory\n"),
        (["--base-report", "/dev/null"], "gate: --base-report: expected a gate report at /dev/null: Expecting value: line 1 column 1 (char 0)\n"),
        (["--policy", "/nonexistent"], "gate: /nonexistent: expected a policy file, got: No such file or directory\n"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_told_before_any_step(tmp_path: Path, options: list[str], said: str) -> None:
    repo = repository(tmp_path, steps(a="touch ran"))
    done = gate(repo, *options)
    assert (done.returncode, done.stderr, (repo / "ran").exists()) == (2, said, False)


@pytest.mark.parametrize(
    ("redirect", "code", "said"),
    [
        (
            "> /dev/full",
            2,
            "gate: the report: it could not be written to the standard output: No space left on device\n",
        ),
        (">&-", 2, "gate: the report: expected a standard output, found it closed. Mend: use --output FILE\n"),
        ("2> /dev/full", 0, ""),
        ("2>&-", 0, ""),
    ],
)
def test_where_nothing_can_be_written_the_run_still_ends_clearly(
    tmp_path: Path, redirect: str, code: int, said: str
) -> None:
    repo = repository(tmp_path, steps(test=UNITTEST), {"test_a.py": TEST})
    quiet = ["--quiet"] if code else []
    command = ["bash", "-c", f'"$@" {redirect}', "-", *GATE, "run", "--repo", str(repo), *quiet]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, said)


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(test=UNITTEST), {"test_a.py": TEST})
    os.mkfifo(tmp_path / "out")
    reader = subprocess.Popen(["cat", str(tmp_path / "out")], stdout=subprocess.PIPE, text=True)
    code = gate(repo, "--output", str(tmp_path / "out")).returncode
    out, _ = reader.communicate(timeout=20)
    assert (code, (tmp_path / "out").is_fifo(), "GREEN" in out) == (0, True, True)


def test_a_second_interrupt_hurries_nobody_past_a_green(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(a=IGNORES))
    process = subprocess.Popen([*GATE, "run", "--repo", str(repo)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (repo / "pid").exists() or not (repo / "pid").read_text():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, b"RED" in out, runs(int((repo / "pid").read_text()))) == (130, True, False)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        *(
            (["run", name, ""], name)
            for name in ("--base", "--policy", "--only", "--name", "--since", "--repo", "--logs")
        ),
        (["run", "--base="], "--base"),
        (["run", "--granted", " "], "--granted"),
        (["notes", ""], "the command line"),
    ],
    ids=str,
)
def test_a_variable_that_is_not_set_switches_nothing_off(
    capsys: pytest.CaptureFixture[str], words: list[str], option: str
) -> None:
    code = cli.main(words)
    said = capsys.readouterr().err
    assert (code, said) == (2, f"gate: {option}: expected a value, got nothing: is a variable not set?\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted there")
@pytest.mark.parametrize("command", [["run"], ["run", "--format", "json"], ["init"], ["notes", "."]], ids=" ".join)
def test_a_working_directory_that_was_deleted_is_one_clear_line(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "gone").mkdir()
    script = 'rmdir "$PWD" && exec "$@"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *GATE, *command],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
    )
    said = "gate: the working directory: expected a folder that is there; it was deleted\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.parametrize("module", ["gate.errors", "gate.report", "gate.run"])
def test_an_interrupt_while_modules_are_loaded_ends_without_a_traceback(tmp_path: Path, module: str) -> None:
    repo = repository(tmp_path, steps(a="run = 'sleep 30'\nevidence = 'exit'\n"))
    loud = [GATE[0], "-X", "importtime", *GATE[1:], "run", "--repo", str(repo)]
    heeds = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731 a test behind `&` inherits it ignored
    with subprocess.Popen(loud, stderr=subprocess.PIPE, text=True, preexec_fn=heeds) as process:
        assert process.stderr is not None
        while not process.stderr.readline().rstrip().endswith(f" {module}"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert ("Traceback" in said, process.returncode in (-signal.SIGINT, 130)) == (False, True)
