"""The text editor tool: what it answers, and that it never leaves the worktree."""

import os
from pathlib import Path
from typing import Any

import pytest

from bot.work.agents.editor import EditError, Editor


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a worktree beside a file that is none of its business."""
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src/a.py").write_text("one\ntwo\nthree\n")
    (root / ".git").write_text("gitdir: /elsewhere\n")
    (tmp_path / "outside.txt").write_text("secret\n")
    return root


def use(root: Path, command: str, path: str, **asked: Any) -> str:
    return Editor(root).use({"command": command, "path": path, **asked})


def test_a_file_is_shown_with_line_numbers(root: Path) -> None:
    assert use(root, "view", "src/a.py") == "     1\tone\n     2\ttwo\n     3\tthree\n     4\t"


def test_a_range_of_lines_is_shown(root: Path) -> None:
    assert use(root, "view", "src/a.py", view_range=[2, 3]) == "     2\ttwo\n     3\tthree"


def test_a_range_may_go_to_the_end(root: Path) -> None:
    assert use(root, "view", "src/a.py", view_range=[3, -1]) == "     3\tthree\n     4\t"


def test_a_folder_is_shown_two_levels_deep(root: Path) -> None:
    (root / "src/deep/er").mkdir(parents=True)

    assert use(root, "view", ".") == ".git\nsrc/\nsrc/a.py\nsrc/deep/"


def test_an_absolute_path_in_the_worktree_is_the_same_file(root: Path) -> None:
    assert use(root, "view", f"{root}/src/a.py", view_range=[1, 1]) == "     1\tone"


def test_creating_makes_the_folders_too(root: Path) -> None:
    answer = use(root, "create", "new/deep/b.py", file_text="x\n")

    assert (answer, (root / "new/deep/b.py").read_text()) == ("Created new/deep/b.py.", "x\n")


def test_creating_over_a_file_keeps_its_mode(root: Path) -> None:
    (root / "src/a.py").chmod(0o755)
    answer = use(root, "create", "src/a.py", file_text="x\n")

    assert (answer, (root / "src/a.py").stat().st_mode & 0o777) == ("Overwrote src/a.py.", 0o755)


def test_replacing_shows_the_lines_around(root: Path) -> None:
    answer = use(root, "str_replace", "src/a.py", old_str="two", new_str="2")

    assert answer == "Changed src/a.py:\n     1\tone\n     2\t2\n     3\tthree\n     4\t"


def test_replacing_with_nothing_removes(root: Path) -> None:
    use(root, "str_replace", "src/a.py", old_str="two\n")

    assert (root / "src/a.py").read_text() == "one\nthree\n"


@pytest.mark.parametrize(
    ("line", "text", "after"),
    [
        (0, "zero\n", "zero\none\ntwo\nthree\n"),
        (1, "half", "one\nhalf\ntwo\nthree\n"),
        (3, "four", "one\ntwo\nthree\nfour"),
    ],
)
def test_inserting_goes_after_the_line(root: Path, line: int, text: str, after: str) -> None:
    use(root, "insert", "src/a.py", insert_line=line, insert_text=text)

    assert (root / "src/a.py").read_text() == after


def test_bytes_that_are_not_utf8_and_line_ends_survive_an_edit(root: Path) -> None:
    (root / "src/a.py").write_bytes(b"caf\xe9\r\ntwo\r\n")
    use(root, "str_replace", "src/a.py", old_str="two", new_str="2")

    assert (root / "src/a.py").read_bytes() == b"caf\xe9\r\n2\r\n"


def test_a_large_file_is_cut_with_a_hint(root: Path) -> None:
    (root / "big").write_text("x" * 100_000)
    answer = use(root, "view", "big")

    assert answer.rpartition("\n")[2] == "[... cut at 30,000 characters of 100,007; view a range ...]"


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"command": "view", "path": "src/b.py"}, "src/b.py: No such file or directory"),
        ({"command": "view", "path": "src/a.py", "view_range": [9, 12]},
         "view_range: expected [first, last] within 1 to 4, or last -1, got [9, 12]"),
        ({"command": "str_replace", "path": "src/a.py", "old_str": "four", "new_str": "4"},
         "src/a.py: old_str is not in the file; nothing was changed"),
        ({"command": "str_replace", "path": "src/a.py", "old_str": "e", "new_str": "4"},
         "src/a.py: old_str is in the file 3 times; give more of its context; nothing was changed"),
        ({"command": "insert", "path": "src/a.py", "insert_line": 7, "insert_text": "x"},
         "insert_line: expected 0 to 3, got 7"),
        ({"command": "undo_edit", "path": "src/a.py"},
         "command: expected view, create, str_replace or insert, got 'undo_edit'"),
        ({"command": "create", "path": "src/c.py"}, "file_text: expected a text, got None"),
        ({"command": "create", "path": "src", "file_text": ""}, "src: is not a plain file"),
        ({"command": "view", "path": 7}, "path: expected a text, got 7"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(root: Path, asked: dict[str, Any], error: str) -> None:
    with pytest.raises(EditError) as raised:
        Editor(root).use(asked)

    assert str(raised.value) == error


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("up", "../outside.txt"),
        ("absolute", "{root}/../outside.txt"),
        ("folder", ".."),
        ("chain", "src/../folder2/../../outside.txt"),
        ("self", "self"),
        ("git", ".git"),
    ],
)
@pytest.mark.parametrize("command", ["view", "create"])
def test_links_to_the_outside_are_refused(root: Path, link: str, target: str, command: str) -> None:
    (root / "folder2").mkdir()
    (root / link).symlink_to(target.format(root=root))
    path = f"{link}/outside.txt" if link == "folder" else link
    with pytest.raises(EditError):
        use(root, command, path, file_text="changed")

    assert ((root.parent / "outside.txt").read_text(), (root / ".git").read_text()) == (
        "secret\n", "gitdir: /elsewhere\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    "path",
    ["../outside.txt", "/etc/passwd", "src/../../outside.txt", ".git", "src/.git/hooks/x", "{root}/../outside.txt"],
)
def test_paths_to_the_outside_are_refused(root: Path, path: str) -> None:
    with pytest.raises(EditError):
        use(root, "create", path.format(root=root), file_text="changed")

    assert (root.parent / "outside.txt").read_text() == "secret\n"


def test_a_link_within_the_worktree_is_followed(root: Path) -> None:
    (root / "alias").symlink_to("src")
    use(root, "str_replace", "alias/a.py", old_str="two", new_str="2")

    assert (root / "src/a.py").read_text() == "one\n2\nthree\n"


def test_a_pipe_is_refused_and_does_not_hang(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(EditError) as raised:
        use(root, "view", "pipe")

    assert str(raised.value) == "pipe: is not a plain file"


def test_no_descriptor_stays_open(root: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    use(root, "view", "src/a.py")
    use(root, "view", ".")
    use(root, "create", "x/y/z", file_text="")

    assert len(list(Path("/proc/self/fd").iterdir())) == before
