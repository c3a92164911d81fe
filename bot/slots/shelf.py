"""Where caches lie between jobs: beside the worktree, out of every job's reach; lent to a gate, copied for an agent."""

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from bot.slots import clean, copying, git, own
from bot.slots.caches import CHECKED, TOOLS, Ground, Place, typescript_wrote_output
from bot.slots.git import GitError
from bot.slots.slot import Slot

Use = Literal["none", "copy", "lend"]  # an agent works on a copy, a gate on the cache itself, strangers on none
MOST_BYTES = 4 * 1024**3  # of one cache; a bigger one is not kept
MOST_FILES = 200_000
COPIED_BYTES = 512 * 1024**2  # a bigger one is not copied for an agent: that would cost what it saves
COPIED_FILES = 20_000
CONFIG_BYTES = 1024**2  # read of a configuration
INFO_BYTES = 64 * 1024**2  # read of a .tsbuildinfo
LINTS = (".eslintcache", ".cache_*", "eslint", "eslint*cache*")  # ESLint's, inside folders that many tools share


@dataclass(frozen=True, slots=True)
class Kept:
    """One cache on the shelf, or why there is none."""

    path: str  # in the worktree
    tool: str
    key: str
    sha: str  # the commit whose gate left it
    at: float
    bytes: int = 0
    files: int = 0
    quarantined: str = ""  # why it must not be used while the key stays


@dataclass(frozen=True, slots=True)
class Lent:
    """One cache that a job found in its worktree."""

    path: str
    tool: str
    key: str


def kept(slot: Slot) -> list[Kept]:
    """Return what is on the shelf of a slot, by path."""
    found = []
    for about in slot.shelf.glob("*/about.json"):
        with contextlib.suppress(OSError, ValueError, TypeError):
            found.append(Kept(**json.loads(about.read_text())))
    return sorted(found, key=lambda k: k.path)


def throw(slot: Slot, path: str) -> None:
    """Throw one cache away, with what is known of it."""
    if slot.shelf.is_dir():
        clean.throw(_box(slot, path), slot.trash)


async def lend(slot: Slot, ground: Ground, use: Use) -> list[Lent]:
    """Put the caches that are valid at a commit into the worktree, which stands clean at it; drop the others."""
    if use == "none" or not slot.shelf.is_dir():
        return []
    lent: list[Lent] = []
    changed: dict[str, tuple[str, ...]] = {}
    for found in kept(slot):
        place = ground.place(found.path)
        if place is None or ground.key(place) != found.key:
            throw(slot, found.path)
        elif not found.quarantined:
            if found.sha not in changed:
                changed[found.sha] = await _changed(slot, found.sha, ground.sha)
            with contextlib.suppress(OSError):
                if await _put(slot, found, use):
                    lent.append(Lent(found.path, found.tool, found.key))
    _renew(slot.path, {path for paths in changed.values() for path in paths})
    own.hide(slot.mirror, (one.path for one in lent))
    return lent


async def _changed(slot: Slot, before: str, now: str) -> tuple[str, ...]:
    """Return what differs since a cache was made; all of it where that commit is gone."""
    try:
        return () if before == now else await git.changed_paths(slot.mirror, before, now)
    except GitError:
        return tuple((await git.tracked(slot.tree))[0])


def _renew(root: Path, paths: Iterable[str]) -> None:
    """Set the times of files to now: a job can give what it wrote an old one, and many tools believe times."""
    for path in paths:
        with contextlib.suppress(OSError), _parent(root, path) as fd:
            os.utime(path.rpartition("/")[2], dir_fd=fd, follow_symlinks=False)


async def _put(slot: Slot, found: Kept, use: Use) -> bool:
    content = _box(slot, found.path) / "content"
    name = found.path.rpartition("/")[2]
    with _parent(slot.path, found.path, make=True) as fd:
        with contextlib.suppress(FileNotFoundError):
            os.lstat(name, dir_fd=fd)
            return False  # something stands there
        if use == "copy":
            small = found.bytes <= COPIED_BYTES and found.files <= COPIED_FILES
            return small and await copying.copy(content, slot.path / found.path)
        with _folder(content.parent) as shelf:
            clean.move("content", shelf, name, fd, is_folder=content.is_dir())
    throw(slot, found.path)  # what is known of it: it comes back when the gate has ended, or not at all
    return True


async def take(slot: Slot, ground: Ground, *, now: float) -> dict[str, str]:
    """Take the caches that a gate left at a commit onto the shelf; return those that were not kept, with the why."""
    refused: dict[str, str] = {}
    why = {name: await _refusal(slot, ground, name) for name in CHECKED}
    for place in _places(slot.path, ground):
        said = why.get(place.tool.name) or _quarantined(slot, ground, place)
        if not said:
            try:
                said = _take(slot, ground, place, now=now, prune=bool(why["eslint"]))
            except OSError as error:
                said = f"it could not be taken: {error.strerror}"
        if said:
            refused[place.path] = said
    return refused


async def _refusal(slot: Slot, ground: Ground, tool: str) -> str:
    """Return why a tool's cache is not believed anywhere in this repository."""
    known = next(t for t in TOOLS if t.name == tool)
    for folder in ground.projects():
        texts = {}
        for path in ground.config(known, folder):
            texts[path] = (await git.read_first(slot.mirror, ground.sha, (path,)))[:CONFIG_BYTES]
        said = CHECKED[tool](texts)
        if said:
            return said
    return ""


def _places(root: Path, ground: Ground) -> list[Place]:
    """Return where something lies that is to be kept."""
    found = {place.path: place for place in ground.named() if os.path.lexists(root / place.path)}
    for folder in ground.projects():
        for tool in TOOLS:
            for pattern in tool.paths:
                above, _, last = f"{folder}/{pattern}".lstrip("/").rpartition("/")
                for name in _matching(root, above, last) if ground.fits(tool, folder) else ():
                    path = f"{above}/{name}" if above else name
                    place = ground.place(path)
                    if place is not None:
                        found[path] = place
    inside = [p for p in found if any(p.startswith(f"{other}/") for other in found)]
    return [place for path, place in found.items() if path not in inside]


def _matching(root: Path, folder: str, pattern: str) -> list[str]:
    if "*" not in pattern:
        return [pattern] if os.path.lexists(root / folder / pattern) else []
    with contextlib.suppress(OSError):
        return [p.name for p in (root / folder).glob(pattern)]
    return []


def _quarantined(slot: Slot, ground: Ground, place: Place) -> str:
    for found in kept(slot):
        if found.path == place.path and found.key == ground.key(place):
            return found.quarantined
    return ""


def _take(slot: Slot, ground: Ground, place: Place, *, now: float, prune: bool) -> str:
    """Move one cache onto the shelf; return why not, where it was left to the sweep."""
    name = place.path.rpartition("/")[2]
    box = _box(slot, place.path)
    with _parent(slot.path, place.path) as fd:
        entry = os.lstat(name, dir_fd=fd)
        is_folder = stat.S_ISDIR(entry.st_mode)
        if not is_folder and not (stat.S_ISREG(entry.st_mode) and entry.st_nlink == 1):
            return "it is neither a folder nor a file of its own"
        throw(slot, place.path)
        box.mkdir(parents=True)
        with _folder(box) as shelf:
            clean.move(name, fd, "content", shelf, is_folder=is_folder)
    content = box / "content"
    bytes_, files = copying.measure(content, MOST_BYTES, MOST_FILES)
    said = "" if bytes_ <= MOST_BYTES and files <= MOST_FILES else f"it has more than {MOST_BYTES:,} bytes"
    if place.tool.name == "typescript":
        said = said or _buildinfo(content)
    if said:
        throw(slot, place.path)
        return said
    if is_folder:
        _prune(slot, content, lints=prune)
    about = Kept(place.path, place.tool.name, ground.key(place), ground.sha, now, bytes_, files)
    (box / "about.json").write_text(json.dumps(asdict(about)))
    return ""


def _buildinfo(path: Path) -> str:
    if not path.is_file() or path.stat().st_size > INFO_BYTES:
        return "it is no file that can be read"
    return typescript_wrote_output(path.read_bytes())


def _prune(slot: Slot, folder: Path, *, lints: bool) -> None:
    """Take out of a folder what its own tool's rules refuse: ESLint's results, and build notes of what was written."""
    for path in _below(folder, levels=2):
        is_lint = lints and any(fnmatchcase(path.name, pattern) for pattern in LINTS)
        if is_lint or (path.suffix == ".tsbuildinfo" and not path.is_symlink() and _buildinfo(path)):
            clean.throw(path, slot.trash)


def _below(folder: Path, *, levels: int) -> list[Path]:
    """Return what lies in a folder and its folders, entering no link."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found = [(Path(entry.path), entry.is_dir(follow_symlinks=False)) for entry in entries]
        inner = [path for path, is_folder in found if is_folder] if levels > 1 else []
        return [path for path, _ in found] + [p for folder in inner for p in _below(folder, levels=levels - 1)]
    return []


def quarantine(slot: Slot, lent: Iterable[Lent], reason: str, *, now: float) -> None:
    """Keep caches from being used for as long as their keys stay; what they held is thrown away."""
    for one in lent:
        throw(slot, one.path)
        box = _box(slot, one.path)
        box.mkdir(parents=True)
        about = Kept(one.path, one.tool, one.key, "", now, quarantined=reason)
        (box / "about.json").write_text(json.dumps(asdict(about)))


def forgive(slot: Slot) -> None:
    """Forget every quarantine of a slot's caches."""
    for found in kept(slot):
        if found.quarantined:
            throw(slot, found.path)


def _box(slot: Slot, path: str) -> Path:
    return slot.shelf / hashlib.sha256(os.fsencode(path)).hexdigest()[:20]


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[int]:
    fd = os.open(path, clean.FOLDER_FLAGS)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _parent(root: Path, path: str, *, make: bool = False) -> Iterator[int]:
    """Yield the open folder that holds a path, reached without following a link. Raises OSError."""
    with contextlib.ExitStack() as stack:
        fd = os.open(root, clean.FOLDER_FLAGS)
        stack.callback(os.close, fd)
        for part in path.split("/")[:-1]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=fd)
            fd = os.open(part, clean.FOLDER_FLAGS, dir_fd=fd)
            stack.callback(os.close, fd)
        yield fd
