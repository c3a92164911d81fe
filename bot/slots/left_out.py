"""Say what of a commit a slot does not hold: the content of submodules, and of files that Git LFS keeps elsewhere.

Both lie in places that the commit names itself: another repository, another server. A change would choose where the
service goes with its token, so neither is fetched.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from bot.slots.index import Tracked

ATTRIBUTES = ".gitattributes"
MOST_BYTES = 1024**2  # read of one file of attributes
SHOWN = 5
_LFS = re.compile(r"""^[ \t]*("(?:[^"\\]|\\.)+"|[^\s#"]\S*)[ \t](?:.*[ \t])?filter=lfs(?=\s|$)""", re.MULTILINE)


def left_out(root: Path, tracked: Tracked) -> tuple[str, ...]:
    """Return one sentence for submodules and one for Git LFS, where a commit has them.

    `tracked` are the paths that stand in `root`, with mode and blob.
    """
    attributes = [path for path in tracked if path.endswith(ATTRIBUTES)]
    patterns = [
        f"{path.rpartition('/')[0]}/{found}".lstrip("/")
        for path in attributes
        if path.rpartition("/")[2] == ATTRIBUTES and tracked[path].startswith("100")
        for found in lfs_patterns(_text(root / path))
    ]
    said = []
    if tracked.modules:
        said.append(f"submodules are empty folders: {some(tracked.modules)}")
    if patterns:
        said.append(f"files of Git LFS are pointers, not their content: {some(patterns)}")
    return tuple(said)


def lfs_patterns(attributes: str) -> list[str]:
    """Return the patterns that a file of attributes gives to Git LFS."""
    return [found.strip('"') for found in _LFS.findall(attributes)]


def some(names: Sequence[str]) -> str:
    """Return the first names for people to read, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"`{name}`" for name in names[:SHOWN]) + more


def _text(path: Path) -> str:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        return file.read(MOST_BYTES).decode(errors="replace")
