"""The scripts that run-s, run-p, npm-run-all and concurrently are given, by names and by patterns."""

import re
from collections.abc import Iterable, Iterator, Sequence

from gate.repository.javascript.globs import matches

SEVERAL = ("run-s", "run-p", "npm-run-all", "npm-run-all2", "concurrently")
_VALUES = {"--max-parallel", "--npm-path", "-n", "--names", "-c", "--prefix-colors", "-l", "--prefix-length", "-m", "--max-processes", "-s", "--success", "-p",
           "--prefix", "-t", "--timestamp-format", "--restart-tries", "--restart-after", "--hide", "--teardown", "-h"}  # fmt: skip
_FLAGS = {"-s", "-p", "-n", "-c", "-l"}  # of npm-run-all, which take no value there
_PREFIX = re.compile(r"^(?:npm|pnpm|yarn|bun):")


def asked_scripts(argv: Sequence[str]) -> Iterator[str]:
    """Yield the names and patterns of scripts on a command line, without their arguments."""
    rest, is_concurrently = list(argv[1:]), argv[0] == "concurrently"
    while rest:
        word = rest.pop(0)
        if word == "--":
            return
        if word.startswith("-"):
            if word in _VALUES and (is_concurrently or word not in _FLAGS) and rest:
                rest.pop(0)
        elif not is_concurrently:
            yield word.split(" ")[0]
        elif _PREFIX.match(word):
            yield _PREFIX.sub("", word).split(" ")[0]


def fitting(pattern: str, scripts: Iterable[str]) -> list[str]:
    """Return the scripts that a pattern stands for: `lint:*`, `test:**`, `!(x)`."""
    whole = re.sub(r"\(!.*\)$", "", pattern)  # concurrently's way to leave some out
    glob = whole.replace(":", "/")
    return [name for name in scripts if name == whole or matches(name.replace(":", "/"), glob)]


def is_pattern(name: str) -> bool:
    """Return whether a word is a pattern and no name."""
    return any(sign in name for sign in "*?[(!{")
