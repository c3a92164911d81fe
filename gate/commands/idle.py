"""Commands that can do nothing: they only print or succeed, so no state of a repository changes their exit code."""

import re
from pathlib import Path

from gate.commands.resolve import resolve

NOTHING = "its command can do nothing, so its exit code proves nothing"
_IDLE = r"(?:/(?:usr/)?bin/)?true|:(?:\s.*)?|exit(?:\s+0)?|(?:echo|printf)(?:\s.*)?"
_SCRIPTS = ("npm", "pnpm", "yarn", "bun")  # what these run is read whole; a Makefile may hold what cannot be read


def does_nothing(command: str) -> bool:
    """Return whether a command as it is written only prints or succeeds."""
    if any(sign in command for sign in ("$(", "`", "<", ">")):
        return False
    parts = [part.strip() for part in re.split(r"[;&|\n]+", command)]
    return all(re.fullmatch(_IDLE, part) for part in parts if part and not part.startswith("#"))


def is_idle(command: str, cwd: Path, *, root: Path) -> bool:
    """Return whether a step's command does nothing, also through the scripts of a package.json."""
    if does_nothing(command):
        return True
    found = [part.argv for part in resolve(command, cwd, root=root)]
    leaves = [argv for argv in found if argv[0] not in _SCRIPTS]
    return bool(leaves) and all(re.fullmatch(_IDLE, " ".join(argv), re.DOTALL) for argv in leaves)
