"""What the copy's checks find around them: variables that name the copy, caches of their own, Pythons led to it."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gate.commands.resolve import resolve
from gate.errors import UsageError
from gate.policy import Step
from gate.tools.ask import Asker

# where a tool may find an answer of another run: switched off, or a folder of the copy's own
_OFF = {
    "TURBO_FORCE": "true", "NX_SKIP_NX_CACHE": "true", "NX_DAEMON": "false", "NX_NO_CLOUD": "true",
    "RUFF_NO_CACHE": "true", "BABEL_DISABLE_CACHE": "1", "NODE_DISABLE_COMPILE_CACHE": "1",
}  # fmt: skip
_FOLDERS = (
    "MYPY_CACHE_DIR", "BLACK_CACHE_DIR", "TURBO_CACHE_DIR", "NX_CACHE_DIRECTORY",
    "GOLANGCI_LINT_CACHE", "RUBOCOP_CACHE_ROOT",
)  # fmt: skip
_DROPPED = (
    "TURBO_TOKEN", "TURBO_TEAM", "TURBO_API", "NX_CLOUD_ACCESS_TOKEN", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR",
    "PYTHONPYCACHEPREFIX", "PWD", "OLDPWD",
)  # fmt: skip
_TEXT_BYTES = 1_000_000  # of a script of a virtual environment
# what an interpreter imports from: its path, what setuptools maps, and other finders that hold a path
_ASK_PYTHON = """import json, sys
maps = [[*getattr(m, "MAPPING", {}).items(), *((n, p) for n, ps in getattr(m, "NAMESPACES", {}).items() for p in ps)]
        for n, m in list(sys.modules.items()) if n.startswith("__editable__")]
others = [[type(f).__module__, str(getattr(f, "__dict__", ""))] for f in sys.meta_path if not isinstance(f, type)]
print(json.dumps([sys.path, sum(maps, []), others]))"""


class Move(NamedTuple):
    """From the original to the copy: text that names the one is made to name the other."""

    root: Path
    tree: Path

    def text(self, text: str) -> str:
        """Return text in which the original's path, whole, is the copy's."""
        return re.sub(rf"{re.escape(os.fspath(self.root))}(?![\w.-])", lambda _: os.fspath(self.tree), text)

    def step(self, step: Step) -> Step:
        """Return a step that names the copy where it named the original."""
        return step._replace(run=self.text(step.run), env={name: self.text(v) for name, v in step.env.items()})


def environment(env: Mapping[str, str], move: Move, own: Path) -> dict[str, str]:
    """Return the variables for the copy's steps; `own` is a folder for caches and temporary files."""
    kept = {name: move.text(v) for name, v in env.items() if name not in _DROPPED and not name.startswith("GIT_")}
    folders = {name: str(own / name.lower()) for name in _FOLDERS}
    temporary = {name: str(own / "tmp") for name in ("TMPDIR", "TMP", "TEMP")}
    (own / "tmp").mkdir(parents=True, exist_ok=True)
    gradle = {"GRADLE_OPTS": f"{kept.get('GRADLE_OPTS', '')} -Dorg.gradle.caching=false".strip()}
    return {**kept, **_OFF, **folders, **temporary, **gradle}


def relocate(environment: Path, move: Move) -> None:
    """Make a copied virtual environment the copy's own: scripts, paths and notes in it name the original."""
    scripts = [p for name in ("bin", "Scripts") for p in (environment / name).glob("*")]
    packages = [p for p in environment.glob("[Ll]ib*/**/site-packages") if p.is_dir() and not p.is_symlink()]
    notes = ("*.pth", "*.egg-link", "__editable__*.py", "*.dist-info/direct_url.json")
    paths = [p for folder in packages for pattern in notes for p in folder.glob(pattern)]
    for path in (environment / "pyvenv.cfg", *scripts, *paths):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < _TEXT_BYTES:
            data = path.read_bytes()
            text = data.decode("utf-8", "surrogateescape")
            moved = move.text(text)
            if moved != text and b"\0" not in data:
                path.write_bytes(moved.encode("utf-8", "surrogateescape"))


def lead_python(steps: Sequence[Step], move: Move, env: Mapping[str, str], asker: Asker, inner: Sequence[Path]) -> str:
    """Return what PYTHONPATH must hold so that no Python of the steps imports the original; empty where none does.

    `inner` are the copy's own virtual environments. Raises UsageError where an installation cannot be led.
    """
    added = dict[str, None]()
    for python in _pythons(steps, move.tree, env, inner):
        answer = asker.ask([python, "-c", _ASK_PYTHON], cwd=move.tree.parent, limit_s=20)
        if answer is not None:
            added |= dict.fromkeys(_led(python, json.loads(answer), move))
    return os.pathsep.join([*added, *filter(None, [env.get("PYTHONPATH", "")])]) if added else ""


def _led(python: str, found: Sequence[Any], move: Move) -> Iterable[str]:
    """Yield the folders of the copy that stand for those of the original from which an interpreter imports."""
    paths, mapped, finders = found
    root = os.fspath(move.root)
    for path in paths:
        if move.text(path) != path:
            yield move.text(path)
    for name, path in mapped:
        moved = Path(move.text(path))
        if os.fspath(moved) != path:
            if moved.name.removesuffix(".py") != name.rpartition(".")[2]:
                raise _cannot_be_led(python, f"{name} at {path}", root)
            yield os.fspath(moved.parents[name.count(".")])
    for module, holds in finders:
        if move.text(holds) != holds and not module.startswith("__editable__"):
            raise _cannot_be_led(python, f"the finder {module}", root)


def _cannot_be_led(python: str, what: str, root: str) -> UsageError:
    return UsageError(
        f"expected a Python that can import a copy, got {python}, in which {what} is installed from {root} itself: "
        "what is broken in the copy would not be seen. Mend: install it into a .venv inside the repository"
    )


def _pythons(steps: Sequence[Step], tree: Path, env: Mapping[str, str], inner: Sequence[Path]) -> list[str]:
    """Return the interpreters that the steps may start, each by the path that tells its environment."""
    search = env.get("PATH", os.defpath)
    programs = {"python3", "python"}
    for step in steps:
        for command in resolve(step.run, tree / step.cwd, root=tree):
            programs |= {
                os.fspath(command.cwd / word) if "/" in word else word
                for word in (command.program, *command.launcher[:1])
            }
    programs |= {os.fspath(folder / "bin" / "python") for folder in inner}
    if "VIRTUAL_ENV" in env:
        programs.add(os.path.join(env["VIRTUAL_ENV"], "bin", "python"))  # noqa: PTH118 as it is written
    found = (shutil.which(program, path=search) for program in programs if program)
    return sorted({python for path in found if path and (python := _interpreter(path, search))})


def _interpreter(program: str, search: str) -> str | None:
    """Return the Python that runs a program: itself, or what its first lines name."""
    if re.fullmatch(r"(?:python|pypy)[\d.]*(?:\.exe)?", os.path.basename(program)):  # noqa: PTH119
        return program
    try:
        with open(program, "rb") as file:  # noqa: PTH123
            head = file.read(1024).decode("utf-8", "replace")
    except OSError:
        return None
    # a path that is too long for a first line stands in the second: `'''exec' "/path/python" "$0" "$@"`
    line = re.match(r"#!([^\n]*)(?:\n'''exec' ([^\n]*))?", head)
    if line is None:
        return None
    try:
        words = shlex.split(line[2] or line[1])
    except ValueError:
        return None
    named = next((w for w in words if re.search(r"(?:python|pypy)[\d.]*$", w)), None)
    return shutil.which(named, path=search) if named else None
