"""Where package managers keep what they load: one store for each repository, a copy for a commit that nobody merged.

Programs of a commit run while its dependencies are installed (builds, scripts, `[install] run`), and most managers take
what lies in their store for right: what one commit's programs wrote there would be installed for others.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from bot.slots import clean, copying
from bot.slots.slot import Slot

MOST_BYTES = 4 * 1024**3  # of one manager's part; a bigger one is not copied: its packages are loaded again
MOST_FILES = 400_000


def shared(slot: Slot) -> Path:
    """Return the store of a repository, into which only installs of merged commits write."""
    return slot.mirror.with_name("store")


def own(slot: Slot) -> Path:
    """Return the store of a slot for the commit of one job; it ends with the job."""
    return slot.path.with_name("store")


def throw_own(slot: Slot) -> None:
    """Throw away what the last job's commit put into its own store."""
    clean.throw(own(slot), slot.trash)


def parts(env: Mapping[str, str], store: Path) -> set[str]:
    """Return which folders of a store an environment leads package managers to."""
    below = re.compile(re.escape(str(store)) + "/([^/:]+)")
    return {name for value in env.values() for name in below.findall(value)}


async def copy(slot: Slot, names: Collection[str]) -> Path:
    """Return a store for one job, with copies of folders of the repository's; what cannot be copied is left out."""
    throw_own(slot)
    store = own(slot)
    store.mkdir(parents=True)
    for name in names:
        source = shared(slot) / name
        if not source.is_dir() or source.is_symlink():
            continue
        bytes_, files = copying.measure(source, MOST_BYTES, MOST_FILES)
        fits = bytes_ <= MOST_BYTES and files <= MOST_FILES
        if fits and not await copying.copy(source, store / name):
            clean.throw(store / name, slot.trash)  # half of it, or something vanished while another slot installed
    return store
