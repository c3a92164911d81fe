"""A fixed number of long-lived worktrees: leased, brought to a commit, released clean or put into quarantine."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import log
from bot.sandbox.box import tmp_of
from bot.slots import clean, git, proof
from bot.slots.clean import Unclean
from bot.slots.git import GitError, Tree
from bot.slots.proof import Proof
from bot.tickets import leases
from bot.tickets.store import Store

LOG = log.logger("slots")
CHECKS = ("folder", "git files", "processes", "status")  # what a proof of cleanness rests on


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
    def trash(self) -> Path:
        """Return the folder for what is thrown away, on the same file system, emptied off the hot path."""
        return self.path.with_name("trash")

    @property
    def made(self) -> Path:
        """Return the file that says what the worktree was when it was made."""
        return self.path.with_name("made.json")

    @property
    def tree(self) -> Tree:
        """Return worktree and git folder for calls of git."""
        return Tree(self.path, self.git_dir)


@dataclass(frozen=True, slots=True)
class Ready:
    """A slot stands at a commit; `warm` says that it was there before this job."""

    sha: str
    warm: bool


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
        self._emptying: set[asyncio.Task[list[str]]] = set()
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
            await reset(slot, sha)
        self._new_home(slot)
        on_part("checkout", time.perf_counter() - began)
        return Ready(sha, warm)

    async def _worktree(self, slot: Slot, sha: str) -> bool:
        """Make the worktree unless it is there, as it was made; return whether it was."""
        before = proof.kept(slot.made)
        with contextlib.suppress(OSError, Unclean):
            if before is not None and proof.made(slot.path, slot.git_dir, slot.mirror) == before:
                return True
        self._discard(slot)
        await git.call("worktree", "prune", git_dir=slot.mirror)
        slot.path.parent.mkdir(parents=True, exist_ok=True)
        # git names the folder after the last part of the path, so the worktree is made under its slot's name
        under = slot.path.parent / slot.name
        await git.call("worktree", "add", "--quiet", "--detach", "--force", str(under), sha, git_dir=slot.mirror)
        under.rename(slot.path)
        (slot.git_dir / "gitdir").write_text(f"{slot.path / '.git'}\n")
        proof.keep(slot.made, proof.made(slot.path, slot.git_dir, slot.mirror))
        return False

    def _discard(self, slot: Slot) -> None:
        """Throw away a worktree in whatever shape it is; nothing of it is trusted, no link of it followed."""
        slot.made.unlink(missing_ok=True)
        for path in (slot.path, slot.path.parent / slot.name):
            clean.throw(path, slot.trash)
        shutil.rmtree(slot.git_dir, ignore_errors=True)
        self._empty(slot)

    def _new_home(self, slot: Slot) -> None:
        for folder in (slot.home, tmp_of(slot.home)):
            clean.throw(folder, slot.trash)
            folder.mkdir(parents=True)
        self._empty(slot)

    def _empty(self, slot: Slot) -> None:
        """Empty the slot's trash beside everything else."""
        task = asyncio.create_task(asyncio.to_thread(clean.empty, slot.trash))
        self._emptying.add(task)
        task.add_done_callback(self._emptied)

    def _emptied(self, task: asyncio.Task[list[str]]) -> None:
        self._emptying.discard(task)
        if not task.cancelled() and (task.exception() or task.result()):
            LOG.warning("trash not emptied", extra={"why": str(task.exception() or task.result())[:500]})

    async def close(self) -> None:
        """Wait until the trash is empty."""
        await asyncio.gather(*self._emptying, return_exceptions=True)

    async def release(self, slot: Slot) -> Proof:
        """Give a slot back: at its commit and clean, or in quarantine with the reason."""
        try:
            shown = await prove(slot)
        except (GitError, OSError, Unclean) as error:
            shown = Proof(False, (), str(error)[:500])
        with self._store.write() as c:
            leases.release(
                c, self._host, slot.name, slot.repository, clean=shown.clean, reason=shown.reason, now=self._now()
            )
        if not shown.clean:
            LOG.warning("slot quarantined", extra={"slot": slot.name, "reason": shown.reason})
        self._new_home(slot)
        return shown


async def reset(slot: Slot, sha: str) -> None:
    """Bring a worktree to exactly a commit and what is kept. Raises Unclean, or GitError."""
    (slot.git_dir / "index.lock").unlink(missing_ok=True)  # nobody else works here: whoever made it is dead
    _, plain = await git.tracked(slot.tree)
    if not plain:
        (slot.git_dir / "index").unlink(missing_ok=True)  # a flag would hide a file from the reset
    failed = await _hard(slot, sha)
    for _ in range(2):
        paths, _ = await git.tracked(slot.tree)
        tree = clean.wanted(paths, ())
        in_the_way = await asyncio.to_thread(clean.sweep, slot.path, tree, trash=slot.trash)
        if not failed and not in_the_way:
            return
        failed = await _hard(slot, sha)  # what stood in the way is gone
    if failed:
        raise Unclean(failed)


async def _hard(slot: Slot, sha: str) -> str:
    try:
        await git.call("reset", "--quiet", "--hard", sha, git_dir=slot.git_dir, work_tree=slot.path)
    except GitError as error:
        return str(error)
    return ""


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
    await reset(slot, "HEAD")
    left = await git.call("status", "--porcelain", "--ignored", "-z", git_dir=slot.git_dir, work_tree=slot.path)
    if left.output:
        return Proof(False, (), f"left behind: {left.output[:300]!r}")
    if proof.made(slot.path, slot.git_dir, slot.mirror) != before:
        return Proof(False, (), "it changed while it was cleaned")
    return Proof(True, CHECKS)
