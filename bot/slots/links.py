"""Which symlinks a commit's tree holds, and where in the repository they lead."""

import os
import posixpath
from pathlib import Path

from bot.slots import git
from bot.tickets.claims import EVERYTHING

MOST = 200  # links of a repository; more are as good as one to everywhere


async def read_links(mirror: Path, sha: str, tree: Path) -> tuple[tuple[str, str], ...]:
    """Return (link, target) for each symlink of a commit that leads to within the repository.

    `tree` is a worktree that stands at the commit. Links to links are followed to where they end.
    """
    done = await git.call("ls-tree", "-r", "-z", sha, git_dir=mirror)
    names = [entry.partition("\t")[2] for entry in done.output.split("\0") if entry.startswith("120000 ")]
    if len(names) > MOST:
        return tuple((name, EVERYTHING) for name in names[:MOST])
    named = {name: os.readlink(tree / name) for name in names if (tree / name).is_symlink()}  # noqa: PTH115 as text
    found = ((name, _end(name, named)) for name in named)
    return tuple((name, target) for name, target in found if target is not None)


def _end(name: str, named: dict[str, str]) -> str | None:
    """Return where a link leads in the end; None where that is outside of the repository or nowhere."""
    at = name
    for _ in range(len(named) + 1):
        link = next((link for link in named if at == link or at.startswith(f"{link}/")), None)
        if link is None:
            return at or EVERYTHING
        at = posixpath.normpath(posixpath.join("/", posixpath.dirname(link), named[link]) + at[len(link) :])
        if posixpath.isabs(named[link]) or _depth(posixpath.dirname(link), named[link]) < 0:
            return None
        at = at.strip("/")
    return None  # a circle


def _depth(folder: str, target: str) -> int:
    """Return how deep below the root a relative target comes at its highest; below zero it leaves the repository."""
    depth = least = len([part for part in folder.split("/") if part])
    for part in target.split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        least = min(least, depth)
    return least
