"""Make a worktree of the mirror, see whether one is as it was made, and throw one away in whatever shape it is."""

import contextlib
import shutil

from bot import log
from bot.sandbox.box import tmp_of
from bot.slots import clean, git, own, proof, stores
from bot.slots.clean import Unclean
from bot.slots.slot import Slot

LOG = log.logger("slots")


def is_whole(slot: Slot) -> bool:
    """Return whether a worktree is there, as it was made and where it was made."""
    before = proof.kept(slot.made)
    if not (slot.git_dir / "HEAD").is_file():
        return False
    with contextlib.suppress(OSError, Unclean):
        now = proof.made(slot.path, slot.git_dir, slot.mirror)
        return now == before and now.pointer == f"gitdir: {slot.git_dir}\n"
    return False


async def make(slot: Slot, sha: str) -> None:
    """Make the worktree at a commit, where nothing stands any more. Raises GitError.

    What a job changed of the mirror's configuration is put back first: a new worktree must not take it for right.
    """
    other = own.mend(slot.mirror)
    if other:
        LOG.warning("the mirror's configuration put back", extra={"repository": slot.repository, "changed": other})
    await git.call("worktree", "prune", git_dir=slot.mirror)
    slot.path.parent.mkdir(parents=True, exist_ok=True)
    # git names the folder after the last part of the path, so the worktree is made under its slot's name
    under = slot.path.parent / slot.name
    await git.call("worktree", "add", "--quiet", "--detach", "--force", str(under), sha, git_dir=slot.mirror)
    under.rename(slot.path)
    (slot.git_dir / "gitdir").write_text(f"{slot.path / '.git'}\n")
    proof.keep(slot.made, proof.made(slot.path, slot.git_dir, slot.mirror))


def discard(slot: Slot) -> None:
    """Move a worktree with all that was kept for it into the trash; nothing of it is trusted, no link followed."""
    for mark in (slot.made, slot.installed, slot.lent, slot.swept, slot.written):
        mark.unlink(missing_ok=True)
    for path in (slot.path, slot.path.parent / slot.name, slot.shelf, stores.own(slot)):
        clean.throw(path, slot.trash)
    shutil.rmtree(slot.git_dir, ignore_errors=True)


def new_home(slot: Slot) -> None:
    """Give the next job a HOME and a /tmp of its own."""
    for folder in (slot.home, tmp_of(slot.home)):
        clean.throw(folder, slot.trash)
        folder.mkdir(parents=True)
