"""Meet what a job may have put in place of a file: nothing is followed, nothing waited for."""

import os
import stat
from collections.abc import Collection
from pathlib import Path

OTHER = b"\0not a file"  # what is read of a link, a folder, a FIFO, or what may not be read


def read(path: str | Path) -> bytes | None:
    """Return what a plain file holds, None where nothing stands, OTHER for anything else."""
    try:  # pathlib's open costs three times as much, and every lease reads some twenty files
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return OTHER
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return OTHER
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)


def is_kept_by_git(path: str | Path) -> bool:
    """Return whether git can keep what stands at a path: a file or a link."""
    mode = os.lstat(path).st_mode
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def take_away_odd(root: Path, names: Collection[str]) -> None:
    """Remove what is neither file, link nor folder and has one of these names, in any folder: git would wait for it."""
    for _, _, files, fd in os.fwalk(root):  # follows no link, however deep it goes
        for name in files:
            if name in names:
                mode = os.lstat(name, dir_fd=fd).st_mode
                if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
                    os.unlink(name, dir_fd=fd)
