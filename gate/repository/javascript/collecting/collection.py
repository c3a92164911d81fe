"""Which files one run of a test runner collects, as its configuration and its command line say."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Collection(NamedTuple):
    """What one run, or one project of it, takes for tests.

    `folder` is what it is responsible for; `patterns` are those that people wrote, at `path` and `line`. `fits` says
    whether the patterns name a file, `leaves_out` whether something said so takes it away again.
    """

    runner: str
    folder: str
    patterns: tuple[str, ...]
    path: str
    line: int | None
    fits: Callable[[str], bool]
    leaves_out: Callable[[str], bool] = lambda _: False
    ask: str = ""  # the command that lists what is collected
    globals: bool = True  # whether tests need not import what they call

    def takes(self, file: str) -> bool:
        """Return whether the run collects a file, named from the repository's root."""
        return self.fits(file) and not self.leaves_out(file)


class Words(NamedTuple):
    """A command line: the values of its options, and what stands alone."""

    options: dict[str, list[str]]
    alone: list[str]

    def last(self, *names: str) -> str | None:
        """Return the value that was given last to one of the options."""
        return next((v for name in names for v in reversed(self.options.get(name, []))), None)


def read_words(words: Sequence[str], *, values: frozenset[str], lists: frozenset[str] = frozenset()) -> Words:
    """Take a command line apart; `values` take the next word, `lists` all words up to the next option."""
    options, alone, rest = dict[str, list[str]](), list[str](), list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return Words(options, [*alone, *rest])
        if not word.startswith("-") or word == "-":
            alone.append(word)
            continue
        name, equals, value = word.partition("=")
        given = options.setdefault(name, [])
        if equals:
            given.append(value)
        elif name in lists:
            while rest and not rest[0].startswith("-"):
                given.append(rest.pop(0))
        elif name in values and rest:
            given.append(rest.pop(0))
        else:
            given.append("")
    return Words(options, alone)


def strings(value: object) -> list[str] | None:
    """Return a word or a list of words as a list, None for anything else."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(v, str) for v in value) and getattr(value, "whole", True):
        return list(value)
    return None


def below(path: str, folder: str) -> str | None:
    """Return a path relative to a folder, None where it is not below it."""
    if folder in (".", ""):
        return path
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else None
