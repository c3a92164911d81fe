"""How much room is left for slots, and how much they take."""

import os
import shutil
from pathlib import Path

LOW_BYTES = 1024**3
LOW_INODES = 10_000
GB = 1024**3


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
