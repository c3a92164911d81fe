"""A fixed number of long-lived worktrees: leased, brought to a commit, released clean or put into quarantine."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot import log
from bot.sandbox.box import Mode
from bot.slots import clean, git, proof, shelf, stores, worktree, written
from bot.slots.caches import Ground
from bot.slots.clean import Unclean
from bot.slots.dependencies import Dependencies, Installer, Need, decides, look, need_of
from bot.slots.git import GitError
from bot.slots.index import Tracked
from bot.slots.install import InstallFailed, read_installed
from bot.slots.left_out import left_out
from bot.slots.mirrors import Mirrors
from bot.slots.partial import is_partial
from bot.slots.proof import Proof
from bot.slots.reset import Missing, prove, reset
from bot.slots.shelf import Lent, Use
from bot.slots.slot import Slot
from bot.tickets import leases, repositories
from bot.tickets.repository import Install
from bot.tickets.seconds import COLD
from bot.tickets.store import Store

LOG = log.logger("slots")


@dataclass(frozen=True, slots=True)
class Ready:
    """A slot stands at a commit; `warm` says that it was there before this job."""

    sha: str
    warm: bool
    dependencies: Dependencies  # changed by the job: thrown away and installed anew
    lent: tuple[Lent, ...]
    ground: Ground
    left_out: tuple[str, ...] = ()  # what of the commit does not stand there: submodules, files of Git LFS


class Pool:
    """The slots of this host."""

    def __init__(
        self, root: Path, store: Store, *, host: str, slots: int, now: Callable[[], float] = time.time,
        sandbox: Mode = "bubblewrap", private_hosts: Sequence[str] = (),
        mirrors: Mirrors | None = None,
    ) -> None:  # fmt: skip
        self._root = root
        self.store = store
        self._host = host
        self._slots = slots
        self._now = now
        self._sandbox: Mode = sandbox  # of what installs
        self._private_hosts = private_hosts  # where that may reach into the operator's own network
        self.mirrors = mirrors or Mirrors()
        self._emptying: set[asyncio.Task[list[str]]] = set()

    async def open(self) -> None:
        """Free what an earlier run of this host had leased, and mend what it left broken, before a job meets it."""
        self._root.mkdir(parents=True, exist_ok=True)
        with self.store.write() as c:
            leases.free_all(c, self._host)
            known, anybodys = leases.rows(c, self._host), leases.everywhere(c)
        await self._mend_mirrors()
        for lock in (*self._root.glob("*/mirror.git/*.lock"), *self._root.glob("*/mirror.git/refs/**/*.lock")):
            lock.unlink(missing_ok=True)  # of a git that died with us
        for row in known:
            slot = self.slot(row.name, row.repository)
            if row.state == "quarantined" or not worktree.is_whole(slot):
                self._mend(slot, row.reason)
        kept = {self.slot(name, repository).path.parent for repository, name in anybodys}
        for folder in (*self._root.glob("*/slot-*"), *self._root.glob("*/cold-*"), self._root / "store"):
            if folder not in kept:
                clean.throw(folder, self._trash)
        self._empty(self._trash)

    async def _mend_mirrors(self) -> None:
        for mirror in self._root.glob("*/mirror.git"):
            try:
                await git.call("rev-parse", "--is-bare-repository", git_dir=mirror)
            except GitError as error:
                LOG.warning("mirror thrown away", extra={"mirror": mirror.parent.name, "reason": str(error)[:200]})
                clean.throw(mirror, self._trash)  # it is fetched anew; its worktrees are made anew

    def _mend(self, slot: Slot, reason: str) -> None:
        """Free a slot that must not be used as it is: the next job gets a new worktree under the same path."""
        try:
            users = proof.users_of(slot.path.parent)
            if users or clean.mounts_under(slot.path.parent):
                raise Unclean(users[0] if users else "a file system is mounted in the slot")
            self._discard(slot)
        except (OSError, Unclean) as error:
            LOG.warning("slot stays in quarantine", extra={"slot": slot.name, "reason": str(error)})
            return
        with self.store.write() as c:
            leases.free(
                c, self._host, slot.name, slot.repository, clean=True, reason="", now=self._now(), fingerprint=""
            )
        LOG.info("slot mended", extra={"slot": slot.name, "reason": reason or "it was not as it was made"})

    async def mend(self, slot: Slot) -> bool:
        """Throw the worktree of a slot away, and free it; False where a ticket holds it or something keeps it."""
        with self.store.write() as c:
            free = leases.set_aside(c, self._host, slot.name, slot.repository, reason="it is being reset")
        if not free:
            return False
        self._mend(slot, "asked for")
        with self.store.read() as c:
            return any(
                (r.name, r.repository, r.state) == (slot.name, slot.repository, "free")
                for r in leases.rows(c, self._host)
            )

    async def remove(self, slot: Slot) -> bool:
        """Remove a slot with all that lies in it; False where a ticket holds it."""
        with self.store.write() as c:
            if not leases.set_aside(c, self._host, slot.name, slot.repository, reason="it is being removed"):
                return False
        clean.throw(slot.path.parent, self._trash)
        shutil.rmtree(slot.git_dir, ignore_errors=True)
        with self.store.write() as c:
            leases.forget(c, self._host, slot.name, slot.repository)
        self._empty(self._trash)
        return True

    async def make_room(self, low: Callable[[], str]) -> str:
        """Remove what no job needs now until the disk is not low; return what `low` says then.

        Caches go first, then whole slots, the longest unused first, then what package managers keep.
        """
        await self.close()
        with self.store.read() as c:
            rows = leases.rows(c, self._host)
        for row in (unused := [row for row in rows if row.state != "leased"]):
            if low() and (slot := self.slot(row.name, row.repository)).shelf.exists():
                clean.throw(slot.shelf, self._trash)
                await self._thrown("caches", of=f"{row.repository} {row.name}")
        for row in unused:
            if low() and await self.remove(self.slot(row.name, row.repository)):
                await self._thrown("slot", of=f"{row.repository} {row.name}")
        with self.store.read() as c:
            in_use = {self.store_of(row.repository) for row in leases.rows(c, self._host)}
        for store in self.stores():
            if store not in in_use and low():
                clean.throw(store, self._trash)
                await self._thrown("package managers' store", of=store.parent.name)
        return low()

    async def _thrown(self, what: str, of: str) -> None:
        """Wait until what was thrown away for room is gone."""
        self._empty(self._trash)
        LOG.warning("removed for room", extra={"what": what, "of": of})
        await self.close()

    @property
    def _trash(self) -> Path:
        return self._root / "trash"

    async def lease(self, repository: str, *, ticket: int, epoch: int, cold: bool = False) -> Slot | None:
        """Return a slot for a ticket: the one it has, else a free one of the repository, else a new one.

        There is one more, `cold`, for gates without caches: those wait for each other, and no job for them.
        """
        with self.store.write() as c:
            name = leases.lease(
                c, self._host, repository, ticket=ticket, epoch=epoch, most=1 if cold else self._slots,
                now=self._now(), kind="cold" if cold else "slot",
            )  # fmt: skip
        return None if name is None else replace(self.slot(name, repository), held=(ticket, epoch))

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
        return self.mirrors.lock(repository)

    async def prepare(
        self, slot: Slot, *, url: str, token: str | None, sha: str, install: Install | None,
        on_part: Callable[[str, float], None], keep: Sequence[str] = (),
        cancelled: asyncio.Event | None = None, use: Use = "none", beside: Sequence[str] = (), base: str = "",
    ) -> Ready:  # fmt: skip
        """Bring a slot to a commit, all else gone but what is kept; fetches and installs only what is missing.

        `beside` are commits whose files are read there too, as the base that a gate compares with.

        `on_part` hears of each part that was paid: clone or fetch, worktree or checkout, install or update, caches.
        `keep` are paths that the repository names; `use` says what the job gets of the caches. `base` is the merged
        commit that `sha` builds on, empty where `sha` was merged itself: only what a merged commit installs serves the
        jobs of others.
        """

        def took(part: str, began: float) -> None:
            seconds = time.perf_counter() - began
            on_part(part, seconds)
            if part in COLD:
                with self.store.write() as c:
                    repositories.note_cold(c, slot.repository, part, seconds)

        async def fetched(commit: str) -> None:
            began = time.perf_counter()
            new = await self.mirrors.ensure(slot)
            needs = new or not await git.has_commit(slot.mirror, commit)
            if needs:
                await git.fetch(slot.mirror, url, token=token)
            if await self.mirrors.fill(slot, commit, *beside, url=url, token=token) or needs:
                took("clone" if new else "fetch", began)

        warm = worktree.is_whole(slot)
        tracked, began = await self._stand(slot, sha, fetched, warm=warm)
        if not slot.lent.exists():  # of a job that prepares again, the first time counts
            slot.lent.touch()
        self._new_home(slot)
        missing = left_out(slot.path, tracked)  # before an install, which may fetch it
        took("checkout" if warm else "worktree", began)
        need = need_of(slot, tracked, install or Install(enabled=False), merged=base in ("", sha))
        found = await self._install(
            need, Installer(self._sandbox, self._private_hosts, cancelled, took), sha=sha, base=base,
            stand=lambda commit: self._stand(slot, commit, fetched, warm=True),
        )  # fmt: skip
        began = time.perf_counter()
        ground = Ground(sha, tracked, fingerprint=read_installed(slot).fingerprint, keep=keep)
        lent = await shelf.lend(slot, ground, use)
        if lent:
            took("caches", began)
        return Ready(sha, warm, found, tuple(lent), ground, missing)

    async def _stand(
        self, slot: Slot, sha: str, fetched: Callable[[str], Awaitable[None]], *, warm: bool
    ) -> tuple[Tracked, float]:
        """Bring the worktree to a commit; return what is tracked, and when all was there to begin with."""
        began = time.perf_counter()
        if warm and not is_partial(slot.mirror):
            with contextlib.suppress(Missing):
                return await reset(slot, sha), began
        async with self.lock(slot.repository):
            await fetched(sha)
            began = time.perf_counter()
            if not warm:
                self._discard(slot)
                await worktree.make(slot, sha)
        if warm:
            return await reset(slot, sha), began
        tracked, _ = await git.tracked(slot.tree)
        written.note(slot.written, tracked)
        return tracked, began

    async def _install(
        self, need: Need, installer: Installer, *, sha: str, base: str,
        stand: Callable[[str], Awaitable[tuple[Tracked, float]]],
    ) -> Dependencies:  # fmt: skip
        """Install unless exactly this stands there, untouched; return what was found. Raises InstallFailed."""
        slot, standing = need.slot, await look(need)
        if standing.serves:
            return "unchanged"
        found: Dependencies = "installed" if standing.untouched else "changed by the job"
        if need.lease and need.fingerprint and await _asks_the_same(slot, base, sha):
            tracked, _ = await stand(base)  # installed by the merged commit, it serves the next jobs, too
            with contextlib.suppress(InstallFailed):  # the change may be what mends it
                await installer.run(replace(need, tracked=tracked, lease=""), standing)
            await stand(sha)
            standing = await look(need)
        if not standing.serves:
            await installer.run(need, standing)
        with self.store.write() as c:
            leases.note_fingerprint(c, self._host, slot.name, slot.repository, need.fingerprint)
        return found

    async def take_caches(self, slot: Slot, ground: Ground) -> dict[str, str]:
        """Keep for later what a gate left in its caches; return those that are not believed, each with its why."""
        refused = await shelf.take(slot, ground, now=self._now())
        self._empty(slot.trash)
        return refused

    def quarantine_caches(self, repository: str, lent: Iterable[Lent], reason: str) -> None:
        """Keep caches from being used in any slot of a repository, for as long as their keys stay."""
        with self.store.read() as c:
            names = [row.name for row in leases.rows(c, self._host) if row.repository == repository]
        for name in names:
            slot = self.slot(name, repository)
            shelf.quarantine(slot, lent, reason, now=self._now())
            self._empty(slot.trash)

    def store_of(self, repository: str) -> Path:
        """Return the folder in which package managers keep what they load, for all slots of a repository."""
        return stores.shared(self.slot("any", repository))

    def stores(self) -> list[Path]:
        """Return the folders of all repositories in which package managers keep what they load."""
        return sorted(self._root.glob("*/store"))

    def store_for(self, slot: Slot) -> Path:
        """Return the folder in which the package managers of a slot's job find what was loaded."""
        return stores.own(slot) if read_installed(slot).only_for else stores.shared(slot)

    def environment(self, slot: Slot) -> dict[str, str]:
        """Return the environment in which a job's commands find what was installed, and git looks for nothing else."""
        found = dict(read_installed(slot).env)
        return {**found, "GIT_NO_LAZY_FETCH": "1"} if is_partial(slot.mirror) else found

    def _discard(self, slot: Slot) -> None:
        worktree.discard(slot)
        self._empty(slot.trash)

    def _new_home(self, slot: Slot) -> None:
        worktree.new_home(slot)
        self._empty(slot.trash)

    def _empty(self, trash: Path) -> None:
        """Empty a trash folder beside everything else."""
        task = asyncio.create_task(asyncio.to_thread(clean.empty, trash))
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
        """Give a slot back: at its commit and clean, or in quarantine with the reason.

        Whoever does not hold it any more, for a later epoch has it, touches nothing.
        """
        ticket, epoch = slot.held
        with self.store.read() as c:
            if not leases.holds(c, self._host, slot.name, slot.repository, ticket=ticket, epoch=epoch):
                return self._lost(slot)
        try:
            shown = await prove(slot)
        except (GitError, OSError, Unclean) as error:
            shown = Proof(False, (), str(error)[:500])
        with self.store.write() as c:
            given = leases.give_back(
                c, self._host, slot.name, slot.repository, held=slot.held, clean=shown.clean, reason=shown.reason,
                now=self._now(), fingerprint=read_installed(slot).fingerprint,
            )  # fmt: skip
        if not given:
            return self._lost(slot)
        slot.lent.unlink(missing_ok=True)
        if not shown.clean:
            LOG.warning("slot quarantined", extra={"slot": slot.name, "reason": shown.reason})
        self._new_home(slot)
        return shown

    def _lost(self, slot: Slot) -> Proof:
        LOG.warning("slot is held by somebody else", extra={"slot": slot.name, "ticket": slot.held[0]})
        return Proof(False, (), f"ticket {slot.held[0]} no longer holds {slot.name} at epoch {slot.held[1]}")


async def _asks_the_same(slot: Slot, base: str, sha: str) -> bool:
    """Return whether two commits ask for the same dependencies, as far as their files' names tell."""
    return await git.has_commit(slot.mirror, base) and not decides(await git.changed_paths(slot.mirror, base, sha))
