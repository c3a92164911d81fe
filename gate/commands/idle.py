"""Commands that can do nothing: they only print or succeed, so no state of a repository changes their exit code."""

import re
from collections.abc import Sequence
from pathlib import Path

from gate.commands.resolve import resolve

NOTHING = "its command can do nothing, so its exit code proves nothing"
_SCRIPTS = ("npm", "pnpm", "yarn", "bun")  # what these run is read whole; a Makefile may hold what cannot be read


def does_nothing(command: str) -> bool:
    """Return whether a command as it is written only prints or succeeds."""
    if any(sign in command for sign in ("$(", "`", "<", ">")):
        return False
    parts = [part.strip() for part in re.split(r"[;&|\n]+", command)]
    return all(_only_says(part.split()) for part in parts if part and not part.startswith("#"))


def is_idle(command: str, cwd: Path, *, root: Path) -> bool:
    """Return whether a step's command does nothing, also through the scripts of a package.json."""
    if does_nothing(command):
        return True
    found = [part.argv for part in resolve(command, cwd, root=root)]
    leaves = [argv for argv in found if argv[0] not in _SCRIPTS]
    return bool(leaves) and all(_only_says(argv) for argv in leaves)


def _only_says(words: Sequence[str]) -> bool:
    """Return whether a command prints or succeeds, whatever it is given."""
    match words[0]:
        case ":" | "echo" | "printf":
            return True
        case "exit":
            return list(words[1:]) in ([], ["0"])
        case name:
            return name in {"true", "/bin/true", "/usr/bin/true"} and len(words) == 1
