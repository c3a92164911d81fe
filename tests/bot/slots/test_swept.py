"""A swept worktree is known again as long as nothing was added to it or taken away, and only once."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.slots import swept
from bot.slots.index import listed

FOLDERS = ("", "src", "src/deep")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "a.txt").write_text("a")
    (tmp_path / "index").write_text("")
    _tick(tmp_path)
    swept.note(tmp_path / "swept.json", root, tmp_path / "index", FOLDERS)
    return root


def _tick(folder: Path) -> None:
    """Write until the file system's clock goes on."""
    probe = folder / "probe"
    probe.touch()
    began = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns <= began:
        probe.touch()


def _known(root: Path) -> bool:
    return swept.is_as_noted(root.with_name("swept.json"), root, root.with_name("index"))


def test_it_is_known_once(root: Path) -> None:
    assert (_known(root), _known(root)) == (True, False)


def test_what_files_hold_is_git_s_to_compare(root: Path) -> None:
    (root / "src" / "a.txt").write_text("b")
    assert _known(root)


def _folder_swapped(root: Path) -> None:
    shutil.copytree(root / "src", root / "other")
    shutil.rmtree(root / "src")
    (root / "other").rename(root / "src")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file": lambda root: (root / "new").touch(),
    "a file far below": lambda root: (root / "src" / "deep" / "new").touch(),
    "a file for a moment": lambda root: ((root / "src" / "new").touch(), (root / "src" / "new").unlink()),
    "times set back": lambda root: ((root / "new").touch(), os.utime(root, (1, 1))),
    "a file gone": lambda root: (root / "src" / "a.txt").unlink(),
    "a folder gone": lambda root: (root / "src" / "deep").rmdir(),
    "a link in a folder's place": lambda root: ((root / "src").rename(root.with_name("s")),
                                               (root / "src").symlink_to(root.with_name("s"))),
    "a folder in another's place": _folder_swapped,
    "rights": lambda root: (root / "src").chmod(0o777),
    "another index": lambda root: root.with_name("index").write_text("x"),
    "no index": lambda root: root.with_name("index").unlink(),
    "no note": lambda root: root.with_name("swept.json").unlink(),
    "half a note": lambda root: root.with_name("swept.json").write_text('{"": [1'),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_of_what_stands_there_shows(root: Path, change: Callable[[Path], object]) -> None:
    change(root)
    assert not _known(root)


def test_what_is_noted_is_older_than_its_note(root: Path) -> None:
    note = root.with_name("swept.json")
    (root / "new").touch()  # perhaps in the same tick of the file system's clock: then there is no note
    swept.note(note, root, root.with_name("index"), FOLDERS)
    assert not note.exists() or root.stat().st_ctime_ns < note.stat().st_ctime_ns


@pytest.mark.parametrize(("kept", "paths", "meets"), [
    ((), ("a",), False),
    (("node_modules",), ("a", "node_modules.txt", "node_modulesx/a"), False),
    (("node_modules",), ("node_modules",), True),
    (("node_modules",), ("a", "node_modules/dep/a", "z"), True),
    (("web/node_modules",), ("web", "z"), True),
    (("web/node_modules",), ("web/a", "web/node_modules-x"), False),
    (("a/\udcff",), ("a/\udcff/x",), True),
    (("a/\udcff",), ("a/\uffff", "a/\udcfe/x"), False),
])  # fmt: skip
def test_a_kept_path_that_is_tracked_too_is_met(kept: tuple[str, ...], paths: tuple[str, ...], meets: bool) -> None:
    in_order = sorted(paths, key=os.fsencode)
    assert swept.may_meet(kept, listed((path, 0o100644, "00" * 20) for path in in_order)) == meets
