"""Have git write files anew that it would take for right: it goes by their times, and not by how they were written.

`.gitattributes` say how files are written (line ends, encodings, ids), and git never writes one again only because
those changed. What a job did to a file and somebody put into the index counts as right as well.
"""

import hashlib
from pathlib import Path

from bot.slots.index import Tracked, changed_since


def attributes(tracked: Tracked) -> str:
    """Return the hash of all `.gitattributes` of a commit."""
    lines = (f"{path}\0{tracked[path]}\0" for path in tracked if path.endswith(".gitattributes"))
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


def note(record: Path, tracked: Tracked) -> None:
    """Note that every file of a worktree was written as the commit's own attributes say."""
    record.write_text(attributes(tracked))


def forget(record: Path, root: Path, index: Path, tracked: Tracked, *, since: Path) -> bool:
    """Take away what the next reset is to write anew; return whether there is any.

    That is everything where the attributes are not those of `record`, else what was touched since `since` was. The
    worktree must have been swept, so that no parent of a path is a link. Raises OSError.
    """
    known = record.read_text() if record.exists() else ""
    if known != attributes(tracked):
        record.unlink(missing_ok=True)  # until all is written, nothing is known
        index.unlink(missing_ok=True)
        return True
    if not since.exists():
        return False
    touched = set(changed_since(index, int(since.stat().st_ctime), tracked)) - set(tracked.modules)
    for path in touched:
        (root / path).unlink(missing_ok=True)
    return bool(touched)
