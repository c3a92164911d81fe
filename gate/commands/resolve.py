"""Follow a command to the programs it really runs. Reads files of the repository; executes nothing.

Each expander turns one command line into the shell text that it stands for: `npm run x` into the script's text,
`make x` into the recipe, `uv run x` into `x`. What nobody expands is a program. Bounded in depth and in number, and
safe against scripts that call themselves.
"""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gate.commands.part import Part
from gate.commands.shell import Options, Simple, split

_DEEPEST = 12
_MOST = 400

STRICT = Options(errexit=True, pipefail=True)

Expander = Callable[[tuple[str, ...], Path, Path], "Sequence[Part] | None"]

# module: the programs that it may follow, "" for any; the first that knows a command line is taken
EXPANDERS: Mapping[str, str] = {
    "wrappers": "",
    "javascript": "npm pnpm yarn bun node nodejs next start-server-and-test concurrently run-p run-s wireit npm-run-all"
    " npm-run-all2 turbo lerna nx",
    "makefile": "make gmake",
    "python": "python tox nox hatch pdm poe poethepoet pixi",
    "taskfiles": "just task go-task mise deno composer",
    "containers": "docker podman nerdctl docker-compose",
    "scripts": "",
}


class Command(NamedTuple):
    """One program as it is started: `argv[0]` is its bare name, `program` as written, `launcher` what starts it.

    `env` is what was put before it and before what starts it; it `binds` when its failure makes the whole text fail;
    else `lost` says by what: as `Simple` does, or `-`, the sign by which make and tox pass over a failure.
    """

    argv: tuple[str, ...]
    cwd: Path
    launcher: tuple[str, ...] = ()
    program: str = ""
    env: tuple[tuple[str, str], ...] = ()
    sure: bool = True
    binds: bool = True
    lost: str = ""


def resolve(text: str, cwd: Path, *, root: Path, options: Options | None = None) -> tuple[Command, ...]:
    """Return every program that shell text runs, in order; commands that were expanded stand before what they run.

    `options` are those of the shell that reads the text; left out, failures count as with `bash -eo pipefail`.
    """
    walk = _Walk(root)
    walk.text(Part(text, cwd, options=options or STRICT), frozenset(), 0)
    return tuple(walk.found)


class _Walk:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.found: list[Command] = []

    def text(self, part: Part, seen: frozenset[tuple[tuple[str, ...], Path]], depth: int) -> None:
        places = [part.cwd]
        for simple in split(part.text, part.options):
            del places[simple.depth + 1 :]
            while len(places) <= simple.depth:
                places.append(places[-1])
            if simple.words[0] in {"cd", "pushd"}:
                places[simple.depth] = _change(places[simple.depth], simple)
                continue
            self._command(simple, part._replace(cwd=places[simple.depth]), seen, depth)

    def _command(self, simple: Simple, part: Part, seen: frozenset[tuple[tuple[str, ...], Path]], depth: int) -> None:
        if len(self.found) >= _MOST:
            return
        sure, binds = part.sure and simple.sure, part.binds and simple.binds
        lost = part.lost or simple.lost
        env = (*part.env, *simple.env)
        argv = (_bare(simple.words[0]), *simple.words[1:])
        self.found.append(Command(argv, part.cwd, part.launcher, simple.words[0], env, sure, binds, lost))
        key = (argv, part.cwd)
        if depth >= _DEEPEST or key in seen:
            return
        raw = (simple.words[0], *simple.words[1:])
        for inner in self._expand(argv, raw, part.cwd):
            launcher = inner.launcher if inner.launcher or inner.fresh else part.launcher
            if launcher[:1] == argv[:1]:
                launcher = (simple.words[0], *launcher[1:])
            inner = inner._replace(
                launcher=launcher, sure=sure and inner.sure, binds=binds and inner.binds, env=(*env, *inner.env),
                lost=lost or ("" if inner.binds else "-"),
            )  # fmt: skip
            self.text(inner, seen | {key}, depth + 1)

    def _expand(self, argv: tuple[str, ...], raw: tuple[str, ...], cwd: Path) -> Iterator[Part]:
        for name, programs in EXPANDERS.items():
            if programs and argv[0] not in programs.split():
                continue
            expand: Expander = importlib.import_module(f"gate.commands.{name}").expand  # few are met in a run
            parts = expand(raw if name == "scripts" else argv, cwd, self.root)
            if parts is not None:
                yield from parts
                return


def _change(cwd: Path, simple: Simple) -> Path:
    target = next((word for word in simple.words[1:] if not word.startswith("-")), "")
    return (cwd / target) if target and "$" not in target else cwd


def _bare(word: str) -> str:
    """Return a program's bare name: `./node_modules/.bin/jest` is `jest`, `$(PYTHON)` is `python`."""
    if word.startswith("$") and re.fullmatch(r"\$[({]?\w*(?:PY|PYTHON)\w*(?::-[^}]*)?[)}]?", word, re.IGNORECASE):
        return "python"
    if word in {"$npm_execpath", "${npm_execpath}"}:
        return "npm"
    if word == "jlpm":  # the yarn that JupyterLab brings
        return "yarn"
    name = word.rsplit("/", 1)[-1].rsplit("\\", 1)[-1]
    stem, dot, suffix = name.rpartition(".")
    name = stem if dot and suffix in {"exe", "cmd", "bat", "ps1"} else name
    return "python" if name.rstrip("0123456789.") in {"python", "pypy"} or name == "py" else name
