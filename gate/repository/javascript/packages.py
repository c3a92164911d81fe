"""The packages of a repository that people wrote: each package.json, its scripts, and which package a file belongs to."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gate.repository.tree import NOT_SOURCE, Tree


class Member(NamedTuple):
    """One package.json; `folder` is `.` for that of the root."""

    folder: str
    path: str
    name: str
    scripts: Mapping[str, str]
    found: Mapping[str, Any]

    def depends(self, *names: str) -> bool:
        """Return whether one of the packages is a dependency of any kind."""
        keys = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        return any(isinstance(t := self.found.get(key), dict) and name in t for key in keys for name in names)


def packages(tree: Tree) -> Mapping[str, Member]:
    """Return the packages by their folders."""
    return tree.once("packages of JavaScript", lambda: _read(tree))


def home(tree: Tree, path: str) -> str:
    """Return the folder of the package that a file belongs to, `.` where there is none."""
    known = packages(tree)
    folder = path.rpartition("/")[0]
    while folder and folder not in known:
        folder = folder.rpartition("/")[0]
    return folder or "."


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies below it."""
    return folder in (".", "") or path == folder or path.startswith(f"{folder}/")


def script_line(tree: Tree, member: Member, name: str) -> int | None:
    """Return the line of a script in its package.json."""
    start = tree.line_of(member.path, '"scripts"') or 1
    return tree.line_of(member.path, f'"{name}"', start)


def _read(tree: Tree) -> dict[str, Member]:
    found = dict[str, Member]()
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        if name != "package.json" or not NOT_SOURCE.isdisjoint(folder.split("/")):
            continue
        package = tree.json(path)
        if package is not None:
            scripts = package.get("scripts")
            texts = {k: v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}
            found[folder or "."] = Member(folder or ".", path, str(package.get("name") or ""), texts, package)
    return found
