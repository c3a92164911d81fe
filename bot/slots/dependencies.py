"""Whether the dependencies that stand in a slot serve a commit, and what is to be installed where they do not."""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bot.sandbox.box import Mode
from bot.slots import install
from bot.slots.ecosystem import Found
from bot.slots.ecosystems import ECOSYSTEMS
from bot.slots.install import Installed
from bot.slots.reset import drop
from bot.slots.slot import Slot
from bot.tickets.repository import Install

Dependencies = Literal["unchanged", "installed", "changed by the job"]

_NAMES = frozenset(name.rpartition("/")[2] for e in ECOSYSTEMS for name in (*e.LOCKS, *e.INPUTS) if "*" not in name)
_ENDINGS = tuple({name[1:] for e in ECOSYSTEMS for name in e.INPUTS if name.startswith("*.")})


@dataclass(frozen=True, slots=True)
class Need:
    """What a commit asks for; the slot stands at it."""

    slot: Slot
    tracked: Mapping[str, str]
    wish: Install
    found: Sequence[Found]
    fingerprint: str
    lease: str  # that alone may use what is installed for it; empty: the commit was merged, every job may


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands in the slot: whether it serves the need, and whether it is as it was installed."""

    installed: Installed
    serves: bool
    untouched: bool


@dataclass(frozen=True, slots=True)
class Installer:
    """How this host installs."""

    mode: Mode
    private_hosts: Sequence[str] = ()
    cancelled: asyncio.Event | None = None
    took: Callable[[str, float], None] = field(default=lambda _part, _began: None)

    async def run(self, need: Need, standing: Standing) -> None:
        """Install what a commit needs, on top of what stands there where that may be. Raises InstallFailed."""
        began, before = time.perf_counter(), standing.installed
        builds_on = standing.untouched and not before.only_for and install.can_build_on(before, need.found, need.wish)
        if not builds_on:
            drop(need.slot, before)
        if not need.fingerprint:
            return
        await install.install(
            need.slot, need.found, need.wish, fingerprint=need.fingerprint, mode=self.mode, tracked=need.tracked,
            only_for=need.lease, private_hosts=self.private_hosts, cancelled=self.cancelled,
        )  # fmt: skip
        self.took("update" if builds_on and before.fingerprint else "install", began)


def need_of(slot: Slot, tracked: Mapping[str, str], wish: Install, *, merged: bool) -> Need:
    """Return what the commit needs that a slot stands at."""
    found = install.projects(tracked, wish)
    lease = "" if merged else f"ticket {slot.held[0]} at epoch {slot.held[1]}"
    return Need(slot, tracked, wish, found, install.fingerprint(slot, tracked, found, wish), lease)


async def look(need: Need) -> Standing:
    """Return what stands in a slot; where it serves, it is noted as in use. What was another lease's alone goes."""
    slot, standing = need.slot, install.read_installed(need.slot)
    if standing.only_for not in ("", need.lease):
        drop(slot, standing)
        standing = install.read_installed(slot)
    untouched = not standing.in_use or await asyncio.to_thread(install.is_as_installed, slot, standing)
    serves = untouched and standing.fingerprint == need.fingerprint
    if serves and need.fingerprint and not standing.in_use:
        install.write_installed(slot, replace(standing, in_use=True))
    return Standing(standing, serves, untouched)


def decides(paths: Collection[str]) -> bool:
    """Return whether one of these paths may decide what is installed."""
    return any(path.rpartition("/")[2] in _NAMES or path.endswith(_ENDINGS) for path in paths)
