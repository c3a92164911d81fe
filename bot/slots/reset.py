"""Bring a worktree to exactly a commit, and show that it stands there with nothing else in it."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace

from bot.slots import clean, git, proof, stores, swept, written
from bot.slots.clean import Found, Unclean
from bot.slots.git import GitError
from bot.slots.index import Tracked, listed
from bot.slots.install import Installed, is_as_installed, read_installed, write_installed
from bot.slots.proof import Proof
from bot.slots.slot import Slot

CHECKS = ("folder", "git files", "processes", "status")  # what a proof of cleanness rests on


class Missing(GitError):
    """The mirror does not have the commit; it must be fetched."""


async def reset(slot: Slot, sha: str) -> Tracked:
    """Bring a worktree to exactly a commit and what is kept; return what is tracked, each path with its mode and blob.

    Raises Missing where the mirror has no such commit, Unclean, or GitError.
    """
    index = slot.git_dir / "index"
    (slot.git_dir / "index.lock").unlink(missing_ok=True)  # nobody else works here: whoever made it is dead
    is_clean = swept.is_as_noted(slot.swept, slot.path, index)
    paths = await _reset(slot, sha, is_clean=is_clean)
    try:
        again = await asyncio.to_thread(written.forget, slot.written, slot.path, index, paths, since=slot.lent)
    except OSError as error:
        raise Unclean(f"{error.strerror}: {error.filename!r}") from error
    if again:
        failed = await _hard(slot, sha)
        if failed:
            raise Unclean(failed)
        written.note(slot.written, paths)
    return paths


async def _reset(slot: Slot, sha: str, *, is_clean: bool) -> Tracked:
    """Reset a worktree until nothing stands in it that is not tracked or kept, `is_clean` if nothing does now."""
    kept = read_installed(slot).kept
    if not is_clean:
        await _sweep_first(slot, kept)
    failed = await _hard(slot, sha)
    if failed and not await git.has_commit(slot.git_dir, sha):  # asked last: most commits are there
        raise Missing(sha)
    for _ in range(3):
        found = Found.NOTHING
        paths, plain = await git.tracked(slot.tree)
        if is_clean and plain and not failed and not swept.may_meet(kept, paths):
            return paths  # git itself has taken away what is tracked no more
        is_clean = False
        if plain:
            found = await asyncio.to_thread(_sweep, slot, paths, kept)
            if not failed and not found:
                return paths
        if not plain or Found.ATTRIBUTES in found:
            # its flags hid files from the reset, or it takes files for right that were written as a job's file said
            (slot.git_dir / "index").unlink(missing_ok=True)
        failed = await _hard(slot, sha)  # what stood in the way is gone
    raise Unclean(failed or "something stands in the way of a tracked path, again and again")


async def _sweep_first(slot: Slot, kept: Sequence[str]) -> None:
    """Take away what git would heed in a reset: files that say how others are written, or what it would wait for.

    It goes by the index as a job left it, so that only a sweep after the reset is believed.
    """
    index = slot.git_dir / "index"
    if not index.is_file() or index.is_symlink():
        index.unlink(missing_ok=True)
    try:
        paths, _ = await git.tracked(slot.tree)
    except GitError:  # it is beyond reading: git makes another
        paths = listed(())
        index.unlink(missing_ok=True)
    if Found.ATTRIBUTES in await asyncio.to_thread(_sweep, slot, paths, kept):
        index.unlink(missing_ok=True)  # it would take files for right that were written as a job's file said


def _sweep(slot: Slot, paths: Tracked, kept: Sequence[str]) -> Found:
    return clean.sweep(slot.path, clean.wanted(paths, kept, modules=paths.modules), trash=slot.trash)


def _note(slot: Slot, paths: Tracked, kept: Sequence[str]) -> None:
    folders = clean.wanted(paths, kept, modules=paths.modules).folders
    swept.note(slot.swept, slot.path, slot.git_dir / "index", folders)


async def _hard(slot: Slot, sha: str) -> str:
    try:
        await git.call("reset", "--quiet", "--hard", sha, git_dir=slot.git_dir, work_tree=slot.path)
    except GitError as error:
        return str(error)
    return ""


def drop(slot: Slot, installed: Installed) -> None:
    """Throw away what an install made; the worktree must have been swept, so that no part of a path is a link."""
    write_installed(slot, Installed(""))
    if installed.only_for:
        stores.throw_own(slot)
    for folder in installed.kept:
        with contextlib.suppress(FileNotFoundError):
            clean.throw(slot.path / folder, slot.trash)


async def prove(slot: Slot) -> Proof:
    """Clean a slot, and show that it is."""
    before = proof.kept(slot.made)
    if before is None:
        return Proof(False, (), "the slot was never made whole")
    different = proof.differences(before, proof.made(slot.path, slot.git_dir, slot.mirror))
    if different:
        return Proof(False, (), f"not as it was made: {', '.join(different)}")
    users = await asyncio.to_thread(proof.users_of, slot.path.parent)
    if users:
        return Proof(False, (), users[0])
    tracked = await reset(slot, "HEAD")
    dependencies = await asyncio.to_thread(_dependencies, slot)
    kept = read_installed(slot).kept
    left = await git.call(
        "status", "--porcelain", "--ignored", "--ignore-submodules=dirty", "-z",
        git_dir=slot.git_dir, work_tree=slot.path,
    )  # fmt: skip
    lines = [line for line in left.output.split("\0") if line and not _leads_to(line[3:].rstrip("/"), kept)]
    if lines:
        return Proof(False, (), f"left behind: {lines[:5]}")
    if proof.made(slot.path, slot.git_dir, slot.mirror) != before:
        return Proof(False, (), "it changed while it was cleaned")
    await asyncio.to_thread(_note, slot, tracked, kept)
    return Proof(True, (*CHECKS, dependencies))


def _leads_to(path: str, kept: Sequence[str]) -> bool:
    """Return whether a path is a kept folder, or one above it that holds nothing else after the sweep."""
    return any(f"{folder}/".startswith(f"{path}/") for folder in kept)


def _dependencies(slot: Slot) -> str:
    """Keep dependencies for the next job only where this one left them as they were; return what was found."""
    installed = read_installed(slot)
    stores.throw_own(slot)  # an install that failed leaves one, too
    if installed.only_for:
        drop(slot, installed)
        return "dependencies of an unmerged commit: thrown away"
    if not installed.kept:
        return "no dependencies"
    if not is_as_installed(slot, installed):
        drop(slot, installed)
        return "dependencies changed: thrown away"
    write_installed(slot, replace(installed, in_use=False))
    return "dependencies unchanged"
