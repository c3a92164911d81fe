"""What a proof does not know it does not say: red before, flaky, hanging, out of time, blind to the copy, cut short."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate.proofs import CORE, PY, TEST, UNIT, fates, prove, snapshot
from tests.gate_runs import GATE, commit, repository, runs, steps

pytestmark = pytest.mark.slow(seconds=1)
FILES = {"app.py": CORE, "test_app.py": TEST.replace("app.core", "app")}


def exits(command: str, limit: str = "30m") -> str:
    return f"{steps(all=command)}evidence = 'exit'\nlimit = '{limit}'\n"


def test_a_gate_that_is_red_over_whole_files_proves_nothing(tmp_path: Path) -> None:
    code, found = prove(repository(tmp_path, steps(test=UNIT), {**FILES, "app.py": CORE.replace("2", "3")}))
    assert (code, found["verdict"], fates(found), found["gate_runs"]) == (2, "ERROR", {}, 1)
    assert found["reason"].startswith("over whole files the gate is RED the first time: test failed: exit code 1; ")
    assert "AssertionError: 3 != 2" in found["notes"][0]


def test_of_a_red_gate_the_end_of_the_step_that_failed_is_shown(tmp_path: Path) -> None:
    said = f"{steps(empty='python3 -m compileall -q nothing')}evidence = 1\n{exits('echo why; false')}"
    _, found = prove(repository(tmp_path, said, {"a.py": CORE}))
    assert found["notes"] == ["all said at its end:\nwhy"]


def test_steps_that_execute_something_else_each_time_prove_nothing(tmp_path: Path) -> None:
    test = f"import os\nimport unittest\n\n\nclass T(unittest.TestCase):\n    pass\n\n\nfor n in range(2 if os.path.exists({str(tmp_path / 'ran')!r}) else 1):\n    setattr(T, f'test_{{n}}', lambda self: None)\nopen({str(tmp_path / 'ran')!r}, 'w').close()\n"
    code, found = prove(repository(tmp_path, steps(test=UNIT), {"test_a.py": test}))
    said = "over whole files the steps do not run the same twice, so no count tells anything: test executed 1 tests, and 2 the second time"
    assert (code, found["reason"]) == (2, said)


def test_steps_that_pass_whatever_is_broken_fail_the_control(tmp_path: Path) -> None:
    code, found = prove(repository(tmp_path, exits("test -d ."), FILES))
    assert (code, found["verdict"], found["reason"][:20]) == (2, "ERROR", "the control failed: ")


def test_an_unseen_file_that_is_asked_for_alone_needs_another_that_is_seen(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(test=UNIT), {**FILES, "spare.py": CORE})
    code, found = prove(repo, "spare.py")
    assert (code, fates(found), found["gate_runs"]) == (
        1,
        {"spare.py": "unseen"},
        5,
    )  # whole twice, name, syntax, control


def test_what_hangs_once_it_is_broken_is_unsettled(tmp_path: Path) -> None:
    repo = repository(
        tmp_path,
        exits(f"{PY} app.py && {PY} hangs.py || if [ $? = 1 ]; then sleep 60; fi", "2s"),
        {"hangs.py": "print(1)\n", "app.py": "import sys\n\nsys.exit(0)\n"},
    )
    code, found = prove(repo, "hangs.py")
    assert (code, found["unsettled"]) == (4, [{"path": "hangs.py", "reason": "all: not finished after 2 s"}])


def test_what_is_killed_once_it_is_broken_is_unsettled(tmp_path: Path) -> None:
    repo = repository(tmp_path, exits(f"{PY} app.py || kill -9 $$"), {"app.py": "print(1)\n"})
    code, found = prove(repo)
    assert (code, found["unsettled"]) == (4, [{"path": "app.py", "reason": "all: killed by signal 9"}])


def test_a_file_that_is_left_out_once_it_is_broken_is_unsettled(tmp_path: Path) -> None:
    ignore = "def pytest_ignore_collect(collection_path):\n    if collection_path.suffix == '.py':\n        try:\n            compile(collection_path.read_text(), 'x', 'exec')\n        except SyntaxError:\n            return True\n"
    tests = dict.fromkeys(("test_a.py", "test_b.py"), "def test_it() -> None:\n    assert True\n")
    repo = repository(tmp_path, steps(test=f"{PY} -m pytest -q -p no:cacheprovider"), {"conftest.py": ignore, **tests})
    code, found = prove(repo, "--level", "syntax")
    why = "test stayed green and executed 1 tests, where it executed 2 before"
    assert (code, fates(found)) == (
        4,
        {"conftest.py": "seen syntax test", "test_a.py": "unsettled", "test_b.py": "unsettled"},
    )
    assert {told["reason"] for told in found["unsettled"]} == {why}


def test_without_time_nothing_is_settled(tmp_path: Path) -> None:
    code, found = prove(repository(tmp_path, steps(test=UNIT), FILES), "--budget", "1ms")
    assert (code, found["gate_runs"], found["unsettled"]) == (
        4, 2, [{"path": path, "reason": "the time of --budget was over before its turn"} for path in ("app.py", "test_app.py")],
    )  # fmt: skip


def test_a_step_that_mends_files_cannot_mend_them_for_the_next_run(tmp_path: Path) -> None:
    mends = f"{PY} app.py; printf 'print(2)\\n' > app.py; printf 'print(2)\\n' > other.py"
    repo = repository(
        tmp_path, exits(f"grep -q 1 other.py; {mends}"), {"app.py": "print(1)\n", "other.py": "print(1)\n"}
    )
    code, found = prove(repo)
    assert (code, fates(found)) == (1, {"app.py": "seen name all", "other.py": "unseen"})


def environment(tmp_path: Path, path_file: str, text: str) -> Path:
    """Return a Python in a virtual environment outside of the repository, with something installed in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    packages = next((tmp_path / "env").glob("lib/python*/site-packages"))
    (packages / path_file).write_text(text)
    return tmp_path / "env" / "bin" / "python"


PACKAGE = {"src/app/__init__.py": CORE, "src/app/spare.py": CORE, "tests/test_app.py": TEST.replace("app.core", "app")}
FINDER = """import sys
MAPPING = {mapping!r}
NAMESPACES = {{}}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        from importlib.util import spec_from_file_location
        if name in MAPPING:
            return spec_from_file_location(name, MAPPING[name] + '/__init__.py', submodule_search_locations=[MAPPING[name]])
def install():
    sys.meta_path.append(Finder)
"""


@pytest.mark.parametrize("kind", ["path", "finder"])
def test_an_editable_installation_is_led_to_the_copy(tmp_path: Path, kind: str) -> None:
    source = str(tmp_path / "repo" / "src")
    python = environment(
        tmp_path,
        "app.pth",
        source if kind == "path" else "import __editable___app_finder; __editable___app_finder.install()",
    )
    if kind == "finder":
        packages = next((tmp_path / "env").glob("lib/python*/site-packages"))
        (packages / "__editable___app_finder.py").write_text(FINDER.format(mapping={"app": f"{source}/app"}))
    code, found = prove(repository(tmp_path, steps(test=f"{python} -m unittest discover -s tests"), PACKAGE), "src")
    assert (code, fates(found)) == (1, {"src/app/__init__.py": "seen name test", "src/app/spare.py": "unseen"})


def test_an_editable_installation_that_cannot_be_led_is_refused(tmp_path: Path) -> None:
    source = str(tmp_path / "repo" / "src" / "app")
    python = environment(tmp_path, "app.pth", "import __editable___app_finder; __editable___app_finder.install()")
    packages = next((tmp_path / "env").glob("lib/python*/site-packages"))
    (packages / "__editable___app_finder.py").write_text(FINDER.format(mapping={"renamed": source}))
    code, found = prove(repository(tmp_path, steps(test=f"{python} -m unittest discover -s tests"), PACKAGE))
    said = f"expected a Python that can import a copy, got {python}, in which renamed at {source} is installed from {tmp_path / 'repo'} itself: "
    assert (code, found["reason"].startswith(said)) == (2, True), found["reason"]


def test_a_virtual_environment_inside_is_the_copys_own(tmp_path: Path) -> None:
    repo = repository(tmp_path, steps(test=".venv/bin/run-tests"), {**PACKAGE, ".gitignore": ".venv\n"})
    environment(repo, "app.pth", f"{repo}/src\n")
    (repo / "env").rename(repo / ".venv")
    script = repo / ".venv" / "bin" / "run-tests"
    script.write_text(
        f"#!{repo}/.venv/bin/python\nimport unittest\nunittest.main(module=None, argv=['', 'discover', '-s', 'tests'])\n"
    )
    script.chmod(0o755)
    (repo / "gate.toml").write_text(f"{steps(test='.venv/bin/run-tests')}evidence = 'exit'\n")
    code, found = prove(repo, "src")
    assert (code, fates(found)) == (1, {"src/app/__init__.py": "seen name test", "src/app/spare.py": "unseen"}), found


@pytest.mark.parametrize("absolute", [False, True], ids=["relative", "absolute"])
def test_a_workspace_package_that_is_a_link_is_the_copys_own(tmp_path: Path, absolute: bool) -> None:
    files = {
        "packages/a/index.js": "exports.a = 1\n",
        "packages/b/index.js": "exports.a = 1\n",
        "test.js": "require('@x/a')\n",
        ".gitignore": "node_modules\n",
    }
    repo = repository(tmp_path, exits("node test.js"), files)
    (repo / "node_modules" / "@x").mkdir(parents=True)
    (repo / "node_modules" / "@x" / "a").symlink_to(repo / "packages" / "a" if absolute else "../../packages/a")
    code, found = prove(repo, "packages")
    assert (code, fates(found)) == (1, {"packages/a/index.js": "seen name all", "packages/b/index.js": "unseen"})


def test_packages_outside_that_lead_back_are_refused(tmp_path: Path) -> None:
    repo = repository(
        tmp_path, exits("node test.js"), {"packages/a/index.js": "exports.a = 1\n", "test.js": "require('@x/a')\n"}
    )
    link = tmp_path / "node_modules" / "@x" / "a"
    link.parent.mkdir(parents=True)
    link.symlink_to(repo / "packages" / "a")
    code, found = prove(repo)
    assert (
        code,
        found["reason"].startswith(
            f"{link}: expected packages that a copy can use, got a link back to {repo}/packages/a: "
        ),
    ) == (2, True)


@pytest.mark.skipif(sys.platform != "linux", reason="what is killed is tidied up after on Linux only")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_cut_short_it_leaves_no_process_no_folder_and_the_repository_as_it_was(
    tmp_path: Path, number: signal.Signals
) -> None:
    repo = repository(
        tmp_path, exits(f"echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; sleep 300"), FILES
    )
    commit(repo)
    before = snapshot(repo)
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [*GATE, "prove", "--repo", str(repo)],
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stderr=subprocess.PIPE,
    )
    while not (tmp_path / "pid").exists():
        assert process.poll() is None
    process.send_signal(number)
    process.communicate(timeout=30)
    step = int((tmp_path / "pid").read_text())
    ended = not runs(step)
    for _ in range(500):
        if not list((tmp_path / "tmp").iterdir()):
            break
        runs(os.getpid())
    assert (process.returncode, ended, list((tmp_path / "tmp").iterdir()), snapshot(repo) == before) == (
        -9 if number is signal.SIGKILL else 130, True, [], True,
    )  # fmt: skip
