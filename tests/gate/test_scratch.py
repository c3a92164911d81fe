"""The copy is the worktree as it is, with links of its own, a history of its own, and nothing of the original written."""

import threading
from pathlib import Path

import pytest

from gate.errors import Interrupted
from gate.scratch.copying import Copy
from gate.scratch.history import History
from gate.scratch.surroundings import Move, environment
from tests.gate_runs import commit, git, repository


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


def test_everything_is_copied_but_caches_and_git(tmp_path: Path) -> None:
    files = {"a.py": "", "new/b.py": "", "__pycache__/a.pyc": "", "node_modules/x/i.js": "", "node_modules/.cache/x": "", ".venv/pyvenv.cfg": "",
             ".venv/lib/__pycache__/s.pyc": "", "crate/Cargo.toml": "", "crate/target/x": "", "target/kept": ""}  # fmt: skip
    repo = repository(tmp_path, None, files)
    copy = Copy(repo, tmp_path / "tree", threading.Event())
    assert (names(tmp_path / "tree"), copy.environments) == (
        {"a.py", "new/b.py", "node_modules/x/i.js", ".venv/pyvenv.cfg", ".venv/lib/__pycache__/s.pyc", "crate/Cargo.toml", "target/kept"},
        [".venv"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("leads", "wanted"),
    [
        ("../a", "../a"), ("{repo}/a", "../a"), ("../../repo/a", "../a"), ("../../other", "{tmp}/other"), ("/etc/hosts", "/etc/hosts"),
        ("gone", "gone"), ("{repo}", ".."), ("{repo}-2/a", "{repo}-2/a"),
    ],
)  # fmt: skip
def test_a_link_leads_into_the_copy_or_where_it_led(tmp_path: Path, leads: str, wanted: str) -> None:
    repo = repository(tmp_path, None, {"a": "", "in/b": ""})
    (repo / "in" / "link").symlink_to(leads.format(repo=repo))
    Copy(repo, tmp_path / "tree", threading.Event())
    assert str((tmp_path / "tree" / "in" / "link").readlink()) == wanted.format(repo=repo, tmp=tmp_path)


def test_a_signal_ends_the_copying(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        Copy(repository(tmp_path, None, {"a": ""}), tmp_path / "tree", stop)


def test_a_broken_state_is_a_commit_on_the_whole_one_and_is_mended(tmp_path: Path) -> None:
    repo = repository(
        tmp_path,
        None,
        {"a[1].py": "A\n", "b.py": "B\r\n", ".gitignore": "env\n", ".gitattributes": "* text=auto\n*.py filter=x\n"},
    )
    head = commit(repo)
    (repo / "b.py").write_bytes(b"changed\r\n")
    (repo / "fresh.py").write_text("new\n")
    (repo / "lib").mkdir()
    (repo / "lib" / "x.py").write_text("installed\n")
    tree = tmp_path / "tree"
    Copy(repo, tree, threading.Event())
    history = History(repo, tree, without=["lib"])
    (tree / "a[1].py").write_text("broken\n")
    history.commit(["a[1].py"])
    changed = git(tree, "diff", "--name-only", "HEAD~1", "HEAD")
    (tree / "b.py").write_text("a step wrote this\n")
    history.restore()
    assert (sorted(history.files), changed, git(tree, "rev-parse", "HEAD~1"), git(tree, "status", "--porcelain")) == (
        [".gitattributes", ".gitignore", "a[1].py", "b.py", "fresh.py"], "a[1].py", head, "",
    )  # fmt: skip
    assert ((tree / "a[1].py").read_text(), (tree / "b.py").read_bytes(), git(repo, "rev-parse", "HEAD")) == (
        "A\n",
        b"changed\r\n",
        head,
    )


@pytest.mark.parametrize("start", ["no commit", "a detached head", "a worktree"])
def test_any_state_of_a_repository_can_be_copied(tmp_path: Path, start: str) -> None:
    repo = repository(tmp_path, None, {"a.py": "A\n"})
    if start != "no commit":
        commit(repo)
        git(repo, "checkout", "-q", "--detach")
    if start == "a worktree":
        git(repo, "worktree", "add", "-q", str(tmp_path / "other"))
        repo = tmp_path / "other"
    Copy(repo, tmp_path / "tree", threading.Event())
    assert History(repo, tmp_path / "tree").files == {"a.py": "100644"}


def test_variables_name_the_copy_and_no_repository_of_the_caller(tmp_path: Path) -> None:
    env = {
        "PATH": "/repo/.venv/bin:/usr/bin:/repository/bin",
        "GIT_DIR": "/repo/.git",
        "TURBO_TOKEN": "x",
        "GRADLE_OPTS": "-Da=b",
    }
    made = environment(env, Move(Path("/repo"), Path("/tree")), tmp_path)
    kept = {name: made.get(name) for name in (*env, "TURBO_FORCE", "TMPDIR")}
    assert kept == {
        "PATH": "/tree/.venv/bin:/usr/bin:/repository/bin", "GIT_DIR": None, "TURBO_TOKEN": None,
        "GRADLE_OPTS": "-Da=b -Dorg.gradle.caching=false", "TURBO_FORCE": "true", "TMPDIR": str(tmp_path / "tmp"),
    }  # fmt: skip
