"""Install dependencies as the lockfiles say, once; again only when what decides the outcome changed."""

import asyncio
import hashlib
import json
import os
import platform
import posixpath
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from bot.errors import UserError
from bot.sandbox import proc
from bot.sandbox.box import PATH, Box, Mode, wrap
from bot.sandbox.out import way_out
from bot.slots import clean, own, stores
from bot.slots.ecosystem import NEVER_TAKES_OUT, Found, detect
from bot.slots.ecosystems import ECOSYSTEMS
from bot.slots.slot import Slot
from bot.tickets.repository import Install

TAIL_BYTES = 2000
SCRATCH = (".cache", ".tmp", ".vite", ".vite-temp", ".vitest")  # of tools, below node_modules: no dependencies
BUILT = {"obj": ("Debug", "Release")}  # what builds write beside that which an install left


class InstallFailed(UserError):
    """The repository's dependencies could not be installed; the text says which command, and how it ended."""


class InstallStopped(Exception):
    """The job was cancelled while its dependencies were installed."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What stands in a slot. It is written only after every command succeeded."""

    fingerprint: str
    projects: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    state: str = ""  # of the kept folders, as the install left them
    env: Mapping[str, str] = field(default_factory=dict)  # in which commands find it
    in_use: bool = False  # a job runs, or ran and was not proved clean: the state must be looked at again
    only_for: str = ""  # the lease that may use it, where an unmerged commit decided what ran; empty: every job


def read_installed(slot: Slot) -> Installed:
    """Return what stands in a slot; nothing where the mark is missing or cannot be read."""
    try:
        found = Installed(**json.loads(slot.installed.read_text()))
    except (OSError, ValueError, TypeError):
        return Installed("")
    return replace(found, kept=tuple(found.kept), projects=tuple(found.projects))


def write_installed(slot: Slot, what: Installed) -> None:
    """Write the mark, whole or not at all."""
    temporary = slot.installed.with_suffix(".new")
    temporary.write_text(json.dumps(asdict(what)))
    temporary.replace(slot.installed)


def fingerprint(slot: Slot, tracked: Mapping[str, str], found: Sequence[Found], wish: Install) -> str:
    """Return the hash over lockfiles, programs, platform and settings; empty where there is nothing to install.

    A file counts by what git tracks, which a warm slot knows without reading it.
    """
    if not wish.enabled or not (found or wish.run):
        return ""
    digest = hashlib.sha256(repr((wish.run, wish.scripts, platform.platform(), str(slot.path))).encode())
    for ecosystem, project in found:
        digest.update(f"{ecosystem.NAME}\0{project.folder}\0".encode(errors="surrogateescape"))
        deeper = [name for name in ecosystem.INPUTS if "/" in name]
        for name in (*project.named(*ecosystem.LOCKS, *ecosystem.INPUTS), *deeper, *project.also):
            path = posixpath.normpath(f"{project.folder}/{name}" if project.folder else name)
            digest.update(f"{path}\0{tracked.get(path, '')}\0".encode(errors="surrogateescape"))
        for name in ecosystem.PROGRAMS:
            digest.update(program(name).encode())
    return f"sha256:{digest.hexdigest()}"


def program(name: str) -> str:
    """Return which file a program is; asking it for its version would cost what a warm slot saves."""
    found = shutil.which(name, path=PATH)
    if found is None:
        return f"{name} missing"
    stat = Path(found).stat()
    return f"{Path(found).resolve()} {stat.st_size} {stat.st_mtime_ns}"


def state(root: Path, kept: Iterable[str]) -> str:
    """Return a hash over everything in the kept folders that a change of a file cannot leave as it was."""
    digest = hashlib.sha256()
    for folder in kept:
        if folder.rpartition("/")[2] in clean.KEPT_FILES:
            digest.update(os.fsencode(folder) + _seen((root / folder).lstat()))
            continue
        todo = [str(root / folder)]
        while todo:
            with os.scandir(todo.pop()) as entries:
                for entry in sorted(entries, key=lambda e: e.name):
                    s, is_folder = entry.stat(follow_symlinks=False), entry.is_dir(follow_symlinks=False)
                    digest.update(os.fsencode(entry.path) + (repr((s.st_mode,)).encode() if is_folder else _seen(s)))
                    if is_folder:
                        todo.append(entry.path)
    return digest.hexdigest()


def _seen(s: os.stat_result) -> bytes:
    return repr((s.st_mode, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_nlink)).encode()


def is_as_installed(slot: Slot, installed: Installed) -> bool:
    """Return whether nobody changed the kept folders; what tools wrote for themselves is thrown away first."""
    _throw_scratch(slot, installed.kept)
    try:
        return state(slot.path, installed.kept) == installed.state
    except OSError:
        return False


def _throw_scratch(slot: Slot, kept: Iterable[str]) -> None:
    for folder in kept:
        for name in (*SCRATCH, *BUILT.get(folder.rpartition("/")[2], ())):
            path = slot.path / folder / name
            if path.parent.is_dir() and not path.parent.is_symlink():
                clean.throw(path, slot.trash)


async def install(
    slot: Slot,
    found: Sequence[Found],
    wish: Install,
    *,
    fingerprint: str,
    mode: Mode,
    tracked: Mapping[str, str],
    only_for: str = "",
    private_hosts: Sequence[str] = (),
    cancelled: asyncio.Event | None = None,
) -> Installed:
    """Run what installs, in the box, and note what it made. Raises InstallFailed.

    With `only_for`, the lease of an unmerged commit, the repository's store stays as it is.
    """
    slot.installed.unlink(missing_ok=True)  # interrupted is not installed
    store = stores.shared(slot)
    if only_for:
        store = await stores.copy(slot, stores.parts(environment(found, wish, store), store))
    store.mkdir(parents=True, exist_ok=True)
    if wish.run:
        env = environment(found, wish, store)
        await _run(
            slot, "", ("sh", "-c", wish.run), env=env, wish=wish, mode=mode, store=store, private=private_hosts,
            stop=cancelled,
        )  # fmt: skip
    else:
        for ecosystem, project in found:
            for argv in ecosystem.commands(project):
                env = dict(ecosystem.env(store))
                await _run(
                    slot, project.folder, argv, env=env, wish=wish, mode=mode, store=store, private=private_hosts,
                    stop=cancelled,
                )  # fmt: skip
    later: dict[str, str] = {}
    for ecosystem, project in reversed(found):
        later.update(ecosystem.later(slot.path / project.folder, store))
    kept = made(slot.path, tracked)
    own.hide(slot.mirror, kept)
    installed = Installed(
        fingerprint, names(found, wish), kept, state=await _state(slot, kept), env=later, in_use=True, only_for=only_for
    )
    write_installed(slot, installed)
    return installed


def environment(found: Sequence[Found], wish: Install, store: Path) -> dict[str, str]:
    """Return what leads package managers to a store: those found, or all for a command of the repository's own."""
    asked = ECOSYSTEMS if wish.run else [ecosystem for ecosystem, _ in found]
    return {name: value for ecosystem in asked for name, value in ecosystem.env(store).items()}


async def _state(slot: Slot, kept: tuple[str, ...]) -> str:
    _throw_scratch(slot, kept)
    return state(slot.path, kept)


async def _run(
    slot: Slot,
    folder: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    wish: Install,
    mode: Mode,
    store: Path,
    private: Sequence[str],
    stop: asyncio.Event | None,
) -> None:
    shown = (argv[3:4] or argv[2:3])[0] if argv[:2] == ("sh", "-c") else " ".join(argv)  # a script's name is its $0
    shown += f" (in {folder})" if folder else ""
    if "/" not in argv[0] and shutil.which(argv[0], path=PATH) is None:
        raise InstallFailed(f"`{shown}` could not start: `{argv[0]}` is not on this host.")
    box = Box(
        mode=mode,
        workdir=slot.path,
        home=slot.home,
        writable=(store,),
        hidden=(slot.mirror.parents[1],),
        network="open",
    )
    inside = ("sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder, *argv) if folder else argv
    async with way_out(box, private=private) as box:
        command, whole = wrap(box, inside, env={"CI": "true", **env})
        done = await proc.run(*command, cwd=slot.path, env=whole, limit_s=wish.limit_s, cancelled=stop)
    if done.cancelled:
        raise InstallStopped(shown)
    if done.timed_out:
        raise InstallFailed(f"`{shown}` did not finish in {wish.limit_s:.0f} s:\n{done.output[-TAIL_BYTES:]}")
    if done.exit_code != 0:
        raise InstallFailed(f"`{shown}` ended with exit code {done.exit_code}:\n{done.output.strip()[-TAIL_BYTES:]}")


def projects(paths: Collection[str], wish: Install) -> list[Found]:
    """Return what is to be installed for a commit."""
    return detect(paths, ECOSYSTEMS, scripts=wish.scripts) if wish.enabled else []


def names(found: Sequence[Found], wish: Install) -> tuple[str, ...]:
    """Return what installs where, in words."""
    return (wish.run,) if wish.run else tuple(f"{ecosystem.NAME}:{project.folder}" for ecosystem, project in found)


def can_build_on(standing: Installed, found: Sequence[Found], wish: Install) -> bool:
    """Return whether the next install may start from what the last one left: the same managers in the same folders."""
    takes_out = not any(ecosystem.NAME in NEVER_TAKES_OUT for ecosystem, _ in found)
    return takes_out and standing.projects == names(found, wish)


def made(root: Path, tracked: Collection[str]) -> tuple[str, ...]:
    """Return the folders of dependencies that stand in folders of tracked files, with none of their own tracked."""
    folders = {""}
    for path in tracked:
        while path := path.rpartition("/")[0]:
            folders.add(path)
    names = sorted({keep for ecosystem in ECOSYSTEMS for keep in ecosystem.KEEP})
    found = [f"{folder}/{name}" if folder else name for folder in sorted(folders) for name in names]
    real = [f for f in found if f not in folders and f not in tracked and _is_real(root, f)]
    return tuple(f for f in real if not any(f.startswith(f"{other}/") for other in real))


def _is_real(root: Path, path: str) -> bool:
    """Return whether a path is a folder, or a file that may be kept, and no part of it a link."""
    parts = path.split("/")
    is_there = (root / path).is_file() if parts[-1] in clean.KEPT_FILES else (root / path).is_dir()
    return is_there and not any(root.joinpath(*parts[: n + 1]).is_symlink() for n in range(len(parts)))
