"""A piece of shell text that a command stands for."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gate.commands.shell import PLAIN, Options


class Part(NamedTuple):
    """Text to read on, where it runs, what launches its programs, and whether it surely runs.

    A `fresh` part starts a process of its own, so it inherits no launcher. `options` are those of the shell that reads
    it; `binds` unless its runner passes over a failure, which is then `lost` by something.
    """

    text: str
    cwd: Path
    launcher: tuple[str, ...] = ()
    sure: bool = True
    fresh: bool = False
    options: Options = PLAIN
    binds: bool = True
    env: tuple[tuple[str, str], ...] = ()
    lost: str = ""


def join(words: Sequence[str]) -> str:
    """Return words as shell text."""
    return shlex.join(words)


def skip_options(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """Return words without leading options; `with_value` names those that take the next word as their value."""
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option == "--":
            break
        if option in with_value and rest:
            rest.pop(0)
    return rest


def option_values(words: Sequence[str], names: frozenset[str]) -> list[str]:
    """Return the values of options, written as `--name value` or `--name=value`; stops at `--`."""
    found = list[str]()
    for i, word in enumerate(words):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in names and equals:
            found.append(value)
        elif word in names and i + 1 < len(words):
            found.append(words[i + 1])
    return found
