"""Show of a slot that was given back what is true of it: nothing of the job runs in it, git's own files are as made."""

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from bot.slots.clean import Unclean
from bot.slots.own import EXCLUDE, GIT_FILES, hooks, is_ours
from bot.slots.plain import OTHER, read


@dataclass(frozen=True, slots=True)
class Proof:
    """What was checked when a slot was given back."""

    clean: bool
    checks: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """What a worktree was when it was made: a folder swapped under the same name is not it any more."""

    device: int
    inode: int
    pointer: str
    git: str  # hash of git's configuration and hooks, and of what leads it elsewhere, of mirror and worktree


def made(root: Path, git_dir: Path, mirror: Path) -> Made:
    """Look at a worktree as it is now. Raises Unclean where it is not even a folder with a plain `.git` file."""
    found, pointer = root.lstat(), root / ".git"
    if not root.is_dir() or root.is_symlink():
        raise Unclean("the worktree is no folder any more")
    if pointer.is_symlink() or not pointer.is_file():
        raise Unclean("the worktree's .git file is gone or is something else")
    if read(git_dir / "HEAD") in (None, OTHER):
        raise Unclean("the worktree's HEAD is something else than a file")
    return Made(found.st_dev, found.st_ino, pointer.read_text(errors="replace"), _git_files(git_dir, mirror))


def keep(path: Path, what: Made) -> None:
    """Write down what a worktree was when it was made."""
    path.write_text(json.dumps([what.device, what.inode, what.pointer, what.git]))


def kept(path: Path) -> Made | None:
    """Return what was written down; None where nothing legible was."""
    try:
        return Made(*json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def differences(before: Made, now: Made) -> list[str]:
    """Return what of a worktree is not as it was made, in words."""
    said = {"device": "its device", "inode": "its folder", "pointer": "its .git file", "git": "git's configuration"}
    return [words for name, words in said.items() if getattr(before, name) != getattr(now, name)]


def _git_files(git_dir: Path, mirror: Path) -> str:
    digest = hashlib.sha256()
    for folder in (mirror, git_dir):
        for name in (*GIT_FILES, *hooks(folder)):
            digest.update(f"{name.rpartition('/')[2]}\0".encode(errors="surrogateescape"))
            data = read(f"{folder}/{name}")
            # of the excluded paths, ours change with what is kept
            if data and not (folder == mirror and name == EXCLUDE and is_ours(mirror, EXCLUDE)):
                digest.update(data)
    return digest.hexdigest()


def users_of(root: Path) -> list[str]:
    """Return the processes that stand in a folder, run from it, or have a file of it open or in memory; not our own."""
    found: list[str] = []
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            path = _used(entry.path, str(root))
            if path is not None:
                found.append(f"process {entry.name} uses {path}")
    return found


def _used(process: str, root: str) -> str | None:
    links = [f"{process}/cwd", f"{process}/exe", f"{process}/root"]
    with contextlib.suppress(OSError):
        links += [fd.path for fd in os.scandir(f"{process}/fd")]
    for link in links:
        with contextlib.suppress(OSError):  # it ended, or is not ours to look at
            target = str(Path(link).readlink())
            if target == root or target.startswith(f"{root}/") or target == f"{root} (deleted)":
                return target
    return _mapped(process, root)


def _mapped(process: str, root: str) -> str | None:
    """Return a file of the folder that a process has in its memory: it can write it without holding it open."""
    with contextlib.suppress(OSError):
        maps = Path(process, "maps").read_bytes()
        at = maps.find(f" {root}/".encode())
        if at >= 0:
            return maps[at + 1 :].split(b"\n", 1)[0].decode(errors="replace")
    return None
