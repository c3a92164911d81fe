"""Close a command into a box: own processes, own HOME and /tmp, the slot writable and little else visible."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Mode = Literal["bubblewrap", "off"]


@dataclass(frozen=True, slots=True)
class Box:
    """Where a command may write and read, and whether it may reach the network."""

    mode: Mode
    workdir: Path  # writable, and where commands start
    home: Path  # writable; HOME of the commands, also holds their /tmp
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    network: Literal["none", "registries", "open"] = "none"
    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None


def wrap(box: Box, argv: Sequence[str], *, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the argv and the environment that run `argv` inside the box."""
    if box.mode == "off":
        return list(argv), dict(env)
    raise NotImplementedError
