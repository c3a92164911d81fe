"""The bare repositories behind the slots of a host: made, locked, and filled with the files that a job will need."""

import asyncio
from collections.abc import Awaitable, Callable

from bot.slots import git
from bot.slots.lacking import lacking
from bot.slots.partial import is_partial, prerequisites
from bot.slots.slot import Slot

MOST_HAD = 10_000
Token = Callable[[], Awaitable[str | None]]  # asked for only where something may be lacking


async def never(repository: str) -> bool:
    """Return that a repository is cloned whole."""
    del repository
    return False


class Mirrors:
    """One mirror a repository; `is_large` says of one that is cloned now whether it is to be partial."""

    def __init__(self, is_large: Callable[[str], Awaitable[bool]] = never) -> None:
        self.is_large = is_large
        self._locks: dict[str, asyncio.Lock] = {}  # one a repository: parallel writes to a mirror race on git's locks
        self._had: set[tuple[str, ...]] = set()  # what a partial mirror was found to hold all files of

    def lock(self, repository: str) -> asyncio.Lock:
        """Return the lock for writes to a repository's mirror."""
        return self._locks.setdefault(repository, asyncio.Lock())

    async def ensure(self, slot: Slot) -> bool:
        """Make the mirror of a slot's repository where there is none; return whether it was made now."""
        if (slot.mirror / "HEAD").exists():  # whole or partial, it stays as it is, and no forge need be asked
            return False
        self._had = {asked for asked in self._had if asked[0] != slot.repository}
        return await git.ensure_mirror(slot.mirror, is_partial=await self.is_large(slot.repository))

    async def have(self, slot: Slot, *commits: str, url: str, token: Token, beyond: str = "") -> bool:
        """Fetch what a partial mirror lacks for work on these commits (see `lacking`); return whether it did.

        Before a box closes around them, for nothing in it can. A commit that the mirror does not hold is passed over.
        Raises as `git.fetch`.
        """
        if self._has(slot, (slot.repository, beyond, *commits)):
            return False
        async with self.lock(slot.repository):
            return await self.fill(slot, *commits, url=url, token=await token(), beyond=beyond)

    async def fill(self, slot: Slot, *commits: str, url: str, token: str | None, beyond: str = "") -> bool:
        """Do as `have` where the caller holds the mirror's lock."""
        asked = (slot.repository, beyond, *commits)
        if self._has(slot, asked):
            return False
        there = [sha for sha in (*commits, beyond) if sha and await git.has_commit(slot.mirror, sha)]
        heads = [sha for sha in there if sha in commits]
        ids = await lacking(slot.mirror, *heads, beyond=beyond if beyond in there else "")
        if ids:
            await git.fetch_objects(slot.mirror, url, token=token, ids=ids)
        if len(heads) == len(commits):
            if len(self._had) >= MOST_HAD:
                self._had.clear()  # what is asked again is looked up again
            self._had.add(asked)
        return bool(ids)

    def _has(self, slot: Slot, asked: tuple[str, ...]) -> bool:
        return asked in self._had or not is_partial(slot.mirror)

    async def unbundle(self, slot: Slot, data: bytes, head: str, *, url: str, token: str | None) -> None:
        """Bring the commits of a bundle into a mirror, whose lock the caller holds."""
        await self.fill(slot, *prerequisites(data), url=url, token=token)
        await git.unbundle(slot.mirror, data, head)
