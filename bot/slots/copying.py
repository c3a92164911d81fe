"""Copy what lies beside worktrees, and see how much it is; no link is followed."""

import contextlib
import os
from pathlib import Path

from bot.sandbox import proc

LIMIT_S = 60.0


async def copy(content: Path, to: Path) -> bool:
    """Copy a file or a folder, sharing blocks where the file system can; False where that failed or took too long."""
    done = await proc.run(
        "cp", "-a", "--no-clobber", "--reflink=auto", "--", str(content), str(to), cwd=content.parent,
        env={"PATH": "/usr/bin:/bin"}, limit_s=LIMIT_S,
    )  # fmt: skip
    return done.exit_code == 0


def measure(path: Path, most_bytes: int, most_files: int) -> tuple[int, int]:
    """Return bytes and files of a tree, following no link; counting ends where there are too many."""
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_size, 1
    total, files, todo = 0, 0, [str(path)]
    while todo and total <= most_bytes and files <= most_files:
        with contextlib.suppress(OSError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                files += 1
                total += entry.stat(follow_symlinks=False).st_size
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
    return total, files
