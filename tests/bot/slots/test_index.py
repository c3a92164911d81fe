"""Git's index, read in process, says what git says of it, or says nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.slots import git
from bot.slots.index import read_index
from tests.bot.slots.origin import commit, make_origin, run


def _plain(origin: Path) -> None:
    (origin / b"not utf-8 \xff".decode(errors="surrogateescape")).touch()
    (origin / "link").symlink_to("a.txt")
    for n in range(9):  # each length of padding
        (origin / ("x" * (n + 1))).touch()
    (origin / ("long" * 60)).touch()


def _assume_unchanged(origin: Path) -> None:
    run("git", "update-index", "--assume-unchanged", "a.txt", cwd=origin)


def _skip_worktree(origin: Path) -> None:
    run("git", "update-index", "--skip-worktree", "a.txt", cwd=origin)


def _another_version(origin: Path) -> None:
    run("git", "update-index", "--index-version", "4", cwd=origin)


def _split(origin: Path) -> None:
    run("git", "update-index", "--split-index", cwd=origin)


def _cut_off(origin: Path) -> None:
    index = origin / ".git" / "index"
    index.write_bytes(index.read_bytes()[:-30])


def _gone(origin: Path) -> None:
    (origin / ".git" / "index").unlink()


async def test_the_index_holds_what_git_lists(tmp_path: Path) -> None:
    origin = make_origin(tmp_path / "o")
    _plain(origin)
    commit(origin, {"deep/er/d.txt": "d"})
    count = run("git", "ls-files", cwd=origin).count("\n") + 1
    found = read_index(origin / ".git" / "index")
    run("git", "update-index", "--index-version", "4", cwd=origin)  # which git has to list
    listed, plain = await git.tracked(git.Tree(origin, origin / ".git"))
    assert (found, plain, len(listed)) == (listed, True, count)


@pytest.mark.parametrize("change", [_assume_unchanged, _skip_worktree, _another_version, _split, _cut_off, _gone],
                         ids=lambda f: f.__name__.strip("_"))  # fmt: skip
def test_what_only_git_understands_is_left_to_git(tmp_path: Path, change: Callable[[Path], None]) -> None:
    origin = make_origin(tmp_path / "o")
    change(origin)
    assert read_index(origin / ".git" / "index") is None


@pytest.mark.parametrize("name", ["x" * n for n in (1, 2, 7, 8, 9)] + ["a/" * 40 + "b" * 200], ids=len)
async def test_entries_that_no_file_stands_behind_are_read_right_or_left_to_git(tmp_path: Path, name: str) -> None:
    origin = make_origin(tmp_path / "o")
    blob = run("git", "hash-object", "-w", "a.txt", cwd=origin)
    for path in (name, f"{name}z"):  # their times are zero, as the bytes between two entries are
        run("git", "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", cwd=origin)
    found = read_index(origin / ".git" / "index")
    run("git", "update-index", "--index-version", "4", cwd=origin)
    said, _ = await git.tracked(git.Tree(origin, origin / ".git"))
    assert found in (None, said)


async def test_submodules_are_told_apart(tmp_path: Path) -> None:
    origin = make_origin(tmp_path / "o")
    run("git", "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib/sub", cwd=origin)
    said, _ = await git.tracked(git.Tree(origin, origin / ".git"))
    assert (said.modules, said["lib/sub"]) == (("lib/sub",), f"160000 {'1' * 40}")
