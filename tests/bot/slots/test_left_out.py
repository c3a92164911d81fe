"""Submodules and Git LFS: what a slot does not hold is said, and a commit from it keeps them as they are."""

from pathlib import Path

import pytest

from bot.slots import git
from bot.slots.left_out import lfs_patterns
from bot.slots.pool import Pool
from bot.tickets.store import open_store, sqlite_url
from tests.bot.slots.origin import commit, make_origin, run

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


async def test_submodules_stay_empty_and_lfs_files_pointers_and_both_are_said(tmp_path: Path) -> None:
    other, origin = make_origin(tmp_path / "other"), make_origin(tmp_path / "origin")
    run("git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib/other", cwd=origin)
    lfs = "*.psd filter=lfs diff=lfs merge=lfs -text\n"
    sha = commit(origin, {"art/.gitattributes": lfs, "art/a.psd": POINTER})
    pool = Pool(tmp_path / "slots", open_store(sqlite_url(tmp_path / "s.db")), host="h", slots=1)
    await pool.open()
    slot = await pool.lease("acme/app", ticket=1, epoch=1)
    assert slot is not None
    ready = await pool.prepare(slot, url=str(origin), token=None, sha=sha, install=None, on_part=lambda *_: None)
    (slot.path / "a.txt").write_text("two\n")
    made = await git.commit_all(slot.tree, parent=sha, message="m", author=("a", "a@b"))
    proof = await pool.release(slot)
    await pool.close()
    assert (ready.left_out, await git.changed_paths(slot.mirror, sha, made or sha), proof.clean) == (
        ("submodules are empty folders: `lib/other`",
         "files of Git LFS are pointers, not their content: `art/*.psd`"),
        ("a.txt",), True,
    )  # fmt: skip
    assert (list((slot.path / "lib" / "other").iterdir()), (slot.path / "art" / "a.psd").read_text()) == ([], POINTER)


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("*.psd filter=lfs -text\r\n/big/** diff=lfs filter=lfs", ["*.psd", "/big/**"]),
        ('"with blank.bin" filter=lfs\n', ["with blank.bin"]),
        ("# *.psd filter=lfs\n*.txt filter=lfsx\n*.c text\nfilter=lfs\n*.d -filter=lfs\n", []),
    ],
    ids=["plain", "quoted", "none"],
)
def test_patterns_of_lfs_are_read_from_attributes(text: str, patterns: list[str]) -> None:
    assert lfs_patterns(text) == patterns
