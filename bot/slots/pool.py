"""A fixed number of long-lived worktrees: leased, brought to a commit, released clean or put into quarantine."""

import asyncio
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import log
from bot.sandbox.box import tmp_of
from bot.slots import git
from bot.slots.git import GitError, Tree
from bot.tickets import leases
from bot.tickets.store import Store

LOG = log.logger("slots")


@dataclass(frozen=True, slots=True)
class Slot:
    """One worktree; `home` is HOME of what runs in it, outside of the worktree and new for every job."""

    name: str
    repository: str
    path: Path
    git_dir: Path
    mirror: Path
    home: Path

    @property
    def tree(self) -> Tree:
        """Return worktree and git folder for calls of git."""
        return Tree(self.path, self.git_dir)


@dataclass(frozen=True, slots=True)
class Ready:
    """A slot stands at a commit; `warm` says that it was there before this job."""

    sha: str
    warm: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """What was checked when a slot was given back."""

    clean: bool
    checks: tuple[str, ...]
    reason: str = ""


class Pool:
    """The slots of this host."""

    def __init__(
        self, root: Path, store: Store, *, host: str, slots: int, now: Callable[[], float] = time.time
    ) -> None:
        self._root = root
        self._store = store
        self._host = host
        self._slots = slots
        self._now = now
        self._locks: dict[str, asyncio.Lock] = {}  # one a repository: parallel writes to a mirror race on git's locks

    async def open(self) -> None:
        """Free what an earlier run of this host had leased."""
        self._root.mkdir(parents=True, exist_ok=True)
        with self._store.write() as c:
            leases.free_all(c, self._host)

    async def lease(self, repository: str, *, ticket: int, epoch: int) -> Slot | None:
        """Return a slot for a ticket: the one it has, else a free one of the repository, else a new one."""
        with self._store.write() as c:
            name = leases.lease(
                c, self._host, repository, ticket=ticket, epoch=epoch, most=self._slots, now=self._now()
            )
        return None if name is None else self.slot(name, repository)

    def slot(self, name: str, repository: str) -> Slot:
        """Return where a slot lives; its path never changes, for virtual environments hold it."""
        base = self._root / repository.replace("/", "__") / name
        mirror = self.mirror(repository)
        return Slot(name, repository, base / "tree", mirror / "worktrees" / name, mirror, base / "home")

    def mirror(self, repository: str) -> Path:
        """Return the bare repository behind all slots of a repository."""
        return self._root / repository.replace("/", "__") / "mirror.git"

    def lock(self, repository: str) -> asyncio.Lock:
        """Return the lock for writes to a repository's mirror."""
        return self._locks.setdefault(repository, asyncio.Lock())

    async def prepare(
        self, slot: Slot, *, url: str, token: str | None, sha: str, install: Any, on_part: Callable[[str, float], None]
    ) -> Ready:
        """Bring a slot to a commit, all else gone but what is kept; fetches only what the mirror lacks."""
        del install
        async with self.lock(slot.repository):
            await git.ensure_mirror(slot.mirror)
            if not await git.has_commit(slot.mirror, sha):
                began = time.perf_counter()
                await git.fetch(slot.mirror, url, token=token)
                on_part("fetch", time.perf_counter() - began)
            began = time.perf_counter()
            warm = await self._worktree(slot, sha)
        if warm:
            await _reset(slot, sha)
        _new_home(slot)
        on_part("checkout", time.perf_counter() - began)
        return Ready(sha, warm)

    async def _worktree(self, slot: Slot, sha: str) -> bool:
        """Make the worktree unless it is there; return whether it was."""
        pointer = slot.path / ".git"
        if slot.git_dir.is_dir() and pointer.is_file() and pointer.read_text() == f"gitdir: {slot.git_dir}\n":
            return True
        shutil.rmtree(slot.path, ignore_errors=True)
        shutil.rmtree(slot.git_dir, ignore_errors=True)
        slot.path.parent.mkdir(parents=True, exist_ok=True)
        # git names the folder after the last part of the path, so the worktree is made under its slot's name
        made = slot.path.parent / slot.name
        await git.call("worktree", "add", "--quiet", "--detach", "--force", str(made), sha, git_dir=slot.mirror)
        made.rename(slot.path)
        (slot.git_dir / "gitdir").write_text(f"{slot.path / '.git'}\n")
        return False

    async def release(self, slot: Slot) -> Proof:
        """Give a slot back: at its commit and clean, or in quarantine with the reason."""
        try:
            await _reset(slot, "HEAD")
            left = await git.call("status", "--porcelain", "--ignored", git_dir=slot.git_dir, work_tree=slot.path)
            proof = Proof(left.output == "", ("status",), left.output[:500])
        except (GitError, OSError) as error:
            proof = Proof(False, (), str(error)[:500])
        with self._store.write() as c:
            leases.release(
                c, self._host, slot.name, slot.repository, clean=proof.clean, reason=proof.reason, now=self._now()
            )
        if not proof.clean:
            LOG.warning("slot quarantined", extra={"slot": slot.name, "reason": proof.reason})
        return proof


async def _reset(slot: Slot, sha: str) -> None:
    (slot.git_dir / "index.lock").unlink(missing_ok=True)
    await git.call("reset", "--quiet", "--hard", sha, git_dir=slot.git_dir, work_tree=slot.path)
    await git.call("clean", "-ffdxq", git_dir=slot.git_dir, work_tree=slot.path)


def _new_home(slot: Slot) -> None:
    for folder in (slot.home, tmp_of(slot.home)):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
