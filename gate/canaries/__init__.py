"""How a file of each language is broken on purpose: one module each, listed in CANARIES.

Every break carries a mark, a word that is unique to the file, so that what a check says can be traced to it.
"""

import importlib
import os
from collections.abc import Mapping

from gate.canaries.canary import Canary

CANARIES = (
    "python", "typescript", "declarations", "javascript", "components", "go", "rust", "java", "kotlin", "csharp", "c",
    "ruby", "php", "shell", "makefile", "json", "yaml", "toml", "css", "markdown",
)  # fmt: skip
PLUMBING = ("canary",)


def all_canaries() -> tuple[Canary, ...]:
    """Return the whole family."""
    return tuple(importlib.import_module(f"gate.canaries.{name}") for name in CANARIES)


class Aviary:
    """Knows which canary is for which file."""

    def __init__(self) -> None:
        self._by_end: Mapping[str, Canary] = {end: c for c in all_canaries() for end in c.FILES.split()}
        self._by_program: Mapping[str, Canary] = {name: c for c in all_canaries() for name in c.PROGRAMS.split()}

    def find(self, path: str, first_line: str) -> Canary | None:
        """Return the canary for a file, by its name or by the program in its first line; None where there is none."""
        name = path.rpartition("/")[2]
        parts = name.split(".")
        ends = [name, *("." + ".".join(parts[at:]) for at in range(1, len(parts)))]
        found = next((self._by_end[end] for end in ends if end in self._by_end), None)
        if found is None and first_line.startswith("#!"):
            words = [word.rpartition("/")[2] for word in first_line[2:].split()]
            names = [w for w in words if w != "env" and not w.startswith("-")]
            return self._by_program.get(names[0].rstrip("0123456789."), None) if names else None
        return found


def describe(path: str) -> str:
    """Return what kind of file nobody here can break, in words."""
    name = path.rpartition("/")[2]
    end = os.path.splitext(name)[1]  # noqa: PTH122 a name, not a path
    return f"no canary breaks {end} files" if end else f"no canary breaks a file named {name}"
