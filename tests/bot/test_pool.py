"""Slots: leased, brought to a commit, given back clean."""

import os
import subprocess
from pathlib import Path

import pytest

from bot.slots import git
from bot.slots.pool import Pool
from bot.slots.slot import Slot
from bot.tickets.store import open_store, sqlite_url
from bot.work.stages.edit import render_left


def run(*argv: str, cwd: Path) -> str:
    env = {"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}  # fmt: skip
    return subprocess.run(argv, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    path = tmp_path / "origin"
    path.mkdir()
    run("git", "init", "-q", "-b", "main", cwd=path)
    (path / "a.txt").write_text("one\n")
    (path / ".gitignore").write_text("junk/\n")
    run("git", "add", "-A", cwd=path)
    run("git", "commit", "-qm", "one", cwd=path)
    return path


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path / "slots", open_store(sqlite_url(tmp_path / "s.db")), host="h", slots=1)


async def ready(pool: Pool, origin: Path, ticket: int = 1) -> tuple[Slot, list[str]]:
    await pool.open()
    slot = await pool.lease("acme/app", ticket=ticket, epoch=1)
    assert slot is not None
    parts: list[str] = []
    sha = run("git", "rev-parse", "HEAD", cwd=origin)
    await pool.prepare(
        slot, url=str(origin), token=None, sha=sha, install=None, on_part=lambda part, _: parts.append(part)
    )
    return slot, parts


async def test_a_slot_stands_at_the_wanted_commit(pool: Pool, origin: Path) -> None:
    slot, parts = await ready(pool, origin)
    assert (sorted(p.name for p in slot.path.iterdir()), parts) == (
        [".git", ".gitignore", "a.txt"],
        ["clone", "worktree"],
    )


async def test_the_same_slot_is_used_again_and_is_clean(pool: Pool, origin: Path) -> None:
    slot, _ = await ready(pool, origin)
    (slot.path / "a.txt").write_text("changed")
    (slot.path / "junk").mkdir()
    (slot.path / "junk" / "left").write_text("x")
    proof = await pool.release(slot)
    again, parts = await ready(pool, origin, ticket=2)
    assert (proof.clean, again, parts) == (True, slot, ["checkout"])
    assert sorted(p.name for p in slot.path.iterdir()) == [".git", ".gitignore", "a.txt"]


async def test_no_slot_is_given_twice(pool: Pool, origin: Path) -> None:
    await ready(pool, origin)
    assert await pool.lease("acme/app", ticket=2, epoch=1) is None


async def test_attributes_on_files_that_were_committed_are_gone_for_the_next_job(pool: Pool, origin: Path) -> None:
    slot, _ = await ready(pool, origin)
    (slot.path / "a.txt").write_text("changed\n")
    for name in ("a.txt", ".gitignore"):
        os.setxattr(slot.path / name, "user.note", b"from this job")
    base = run("git", "rev-parse", "HEAD", cwd=origin)
    await git.commit_all(slot.tree, parent=base, message="Change", author=("S", "s@x"))
    proof = await pool.release(slot)
    left = [os.listxattr(slot.path / name) for name in ("a.txt", ".gitignore")]
    assert (proof.clean, left) == (True, [[], []])


async def test_what_the_job_changed_becomes_one_commit(pool: Pool, origin: Path) -> None:
    slot, _ = await ready(pool, origin)
    base = run("git", "rev-parse", "HEAD", cwd=origin)
    (slot.path / "b.txt").write_text("two\n")
    head = await git.commit_all(
        slot.tree, parent=base, message="Add b", author=("S", "s@x"), co_author="ann <ann@users.noreply.github.com>"
    )
    assert head is not None
    assert await git.changed_paths(slot.mirror, base, head) == ("b.txt",)
    shown = (await git.call("log", "-1", "--format=%an|%B", head, git_dir=slot.mirror)).output.strip()
    assert shown == "S|Add b\n\nCo-authored-by: ann <ann@users.noreply.github.com>"


async def test_repositories_that_the_job_made_are_left_out_and_told(pool: Pool, origin: Path) -> None:
    slot, _ = await ready(pool, origin)
    base = run("git", "rev-parse", "HEAD", cwd=origin)
    for name in ("one", "deep/two"):
        (slot.path / name).mkdir(parents=True)
        run("git", "init", "-q", cwd=slot.path / name)
        (slot.path / name / "lost.txt").write_text("lost\n")
    (slot.path / "b.txt").write_text("two\n")
    told: list[str] = []
    head = await git.commit_all(slot.tree, parent=base, message="x", author=("S", "s@x"), on_left=told.extend)
    changed = await git.changed_paths(slot.mirror, base, head or "")
    assert (changed, told, render_left(told)) == (
        ("b.txt",), ["deep/two/", "one/"],
        "left out of the commit, for they are git repositories of their own: `deep/two/`, `one/`",
    )  # fmt: skip


async def test_what_is_no_file_any_more_is_left_out_and_git_waits_for_none_of_it(pool: Pool, origin: Path) -> None:
    slot, _ = await ready(pool, origin)
    base = run("git", "rev-parse", "HEAD", cwd=origin)
    (slot.path / "a.txt").unlink()
    (slot.path / "new").mkdir()
    for name in ("a.txt", "fifo", ".gitattributes", "new/.gitignore"):
        os.mkfifo(slot.path / name)
    (slot.path / "new" / "b.txt").write_text("two\n")
    told: list[str] = []
    head = await git.commit_all(slot.tree, parent=base, message="x", author=("S", "s@x"), on_left=told.extend)
    changed = await git.changed_paths(slot.mirror, base, head or "")
    assert (changed, told, render_left(told)) == (
        ("new/b.txt",), ["a.txt"],
        "left out of the commit, for they are no files any more (FIFOs, sockets, devices): `a.txt`",
    )  # fmt: skip


async def test_no_change_is_no_commit(pool: Pool, origin: Path) -> None:
    slot, _ = await ready(pool, origin)
    base = run("git", "rev-parse", "HEAD", cwd=origin)
    assert await git.commit_all(slot.tree, parent=base, message="x", author=("S", "s@x")) is None


async def test_a_push_never_goes_over_somebodys_commit(pool: Pool, origin: Path) -> None:
    slot, _ = await ready(pool, origin)
    base = run("git", "rev-parse", "HEAD", cwd=origin)
    run("git", "checkout", "-q", "-b", "work", cwd=origin)
    run("git", "commit", "-q", "--allow-empty", "-m", "theirs", cwd=origin)
    theirs = run("git", "rev-parse", "HEAD", cwd=origin)
    (slot.path / "b.txt").write_text("two\n")
    head = await git.commit_all(slot.tree, parent=base, message="Add b", author=("S", "s@x"))
    assert head is not None
    pushed = await git.push(slot.mirror, url=str(origin), token=None, sha=head, branch="work", expected=theirs)
    assert pushed == git.Rejected(f"the branch holds commits that are not ours ({theirs[:10]})")


async def test_commits_travel_to_another_host_as_a_bundle(pool: Pool, origin: Path, tmp_path: Path) -> None:
    slot, _ = await ready(pool, origin)
    base = run("git", "rev-parse", "HEAD", cwd=origin)
    (slot.path / "b.txt").write_text("two\n")
    head = await git.commit_all(slot.tree, parent=base, message="Add b", author=("S", "s@x"), keep_as="refs/sluice/x")
    assert head is not None
    data = await git.bundle(slot.mirror, base, "refs/sluice/x")
    other = tmp_path / "other.git"
    await git.ensure_mirror(other)
    await git.fetch(other, str(origin), token=None)
    await git.unbundle(other, data, head)
    assert await git.changed_paths(other, base, head) == ("b.txt",)


async def test_a_late_ticket_cannot_give_back_what_a_later_one_holds(pool: Pool, origin: Path) -> None:
    slot, _ = await ready(pool, origin)
    await pool.open()  # the host started again: the lease of ticket 1 is over
    later = await pool.lease("acme/app", ticket=2, epoch=1)
    assert later is not None
    (later.path / "work").write_text("in progress")
    late = await pool.release(slot)
    assert (late.clean, late.reason, (later.path / "work").exists(), await pool.lease("acme/app", ticket=3, epoch=1)) == (
        False, "ticket 1 no longer holds slot-1 at epoch 1", True, None,
    )  # fmt: skip


async def test_an_older_epoch_of_a_ticket_gets_no_slot(pool: Pool, origin: Path) -> None:
    await ready(pool, origin)
    newer = await pool.lease("acme/app", ticket=1, epoch=3)
    older = await pool.lease("acme/app", ticket=1, epoch=2)
    assert (newer is not None and newer.name, older) == ("slot-1", None)
