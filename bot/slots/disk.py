"""How much room is left for slots, how much they take, and how fast the disk makes small files."""

import os
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LOW_BYTES = 1024**3
LOW_INODES = 10_000
GB = 1024**3
LIMIT_S = 0.5
MOST_FILES = 2000
NETWORK = ("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "drvfs", "virtiofs", "ceph", "glusterfs")


def low_disk(path: Path, *, least_bytes: int = LOW_BYTES) -> str:
    """Return why no work may start on this disk; empty where there is room."""
    while not path.exists():
        path = path.parent
    free = shutil.disk_usage(path).free
    if free < least_bytes:
        return f"The disk is low: {free / GB:.1f} GB free, {least_bytes / GB:.1f} GB are needed to start work."
    found = os.statvfs(path)
    if found.f_files and found.f_favail < LOW_INODES:
        return f"The disk is low: it has room for {found.f_favail:,} more files, {LOW_INODES:,} are needed."
    return ""


def size_bytes(path: Path) -> int:
    """Return what a folder takes on the disk, following no link."""
    total, todo = 0, [str(path)]
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
        except OSError:
            continue  # it went while we looked
    return total


@dataclass(frozen=True, slots=True)
class Speed:
    """Small files a second: made, looked at, deleted."""

    create: float
    stat: float
    delete: float


def measure(folder: Path, *, clock: Callable[[], float] = time.perf_counter) -> Speed:
    """Make, look at and delete small files for at most half a second each."""
    place = folder / f".measure-{secrets.token_hex(6)}"
    place.mkdir(parents=True)
    try:
        made: list[Path] = []
        began = clock()
        while len(made) < MOST_FILES and clock() - began < LIMIT_S:
            path = place / str(len(made))
            path.write_bytes(b"x" * 100)
            made.append(path)
        create = len(made) / max(clock() - began, 1e-9)
        stat = _rate(made, Path.stat, clock)
        return Speed(create, stat, _rate(made, Path.unlink, clock))
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _rate(paths: list[Path], act: Callable[[Path], object], clock: Callable[[], float]) -> float:
    began, done = clock(), 0
    for path in paths:
        act(path)
        done += 1
        if clock() - began > LIMIT_S:
            break
    return done / max(clock() - began, 1e-9)


@dataclass(frozen=True, slots=True)
class Mount:
    """What a folder lies on."""

    kind: str  # ext4, overlay, nfs4, ...
    options: str

    @property
    def is_slow(self) -> bool:
        """Return whether this kind is known to be slow with many small files."""
        return self.kind in NETWORK


def mount_of(path: Path, *, table: Path = Path("/proc/self/mounts")) -> Mount:
    """Return the file system that a folder lies on."""
    best, found, inside = -1, Mount("unknown", ""), str(path.resolve())
    try:
        lines = table.read_text(errors="replace").splitlines()
    except OSError:
        return found
    for line in lines:
        _, point, kind, options, *_ = line.split(" ")
        if (inside == point or inside.startswith(f"{point.rstrip('/')}/")) and len(point) >= best:
            best, found = len(point), Mount(kind, options)
    return found
