"""Workspaces of Cargo as they stand in manifests: members, those that a plain command takes, and what they build.

https://doc.rust-lang.org/cargo/reference/workspaces.html
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple

from gate.repository.places import inside
from gate.repository.tree import NOT_SOURCE, Tree

_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies")
_TEST = re.compile(
    r"#\[(?:[\w:]+::)?(?:test|rstest|test_case|quickcheck|proptest|test_log|sqlx_test)\b[^\n]*\]|\bproptest!"
)


class Crate(NamedTuple):
    """A package: its folder (empty for the root), its name, and its manifest."""

    folder: str
    name: str
    table: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Return the path of its manifest."""
        return f"{self.folder}/Cargo.toml" if self.folder else "Cargo.toml"


class Workspace(NamedTuple):
    """Packages that are built together; `default` are the folders that a command at the root takes by itself."""

    folder: str
    members: Mapping[str, Crate]
    default: frozenset[str]
    has_default: bool = False  # it says `default-members`
    shared: Mapping[str, Any] = MappingProxyType({})  # dependencies that members have in common


def workspace_at(tree: Tree, folder: str) -> Workspace | None:
    """Return the workspace to which a folder belongs, one of a single package where there is no other."""
    home = _upward(tree, folder)
    if home is None:
        return None
    at: str | None = home
    while at is not None:
        found = tree.once(f"cargo {at}", lambda at=at: _read(tree, at))  # type: ignore[misc]
        if found is not None and (home in found.members or home == at):
            return found
        at = _upward(tree, at.rpartition("/")[0]) if at else None
    own = _crate(tree, home)
    return Workspace(home, {home: own}, frozenset({home})) if own else None


def sources_of(tree: Tree, crate: Crate) -> list[str]:
    """Return the Rust files of a package, without those of packages below it."""
    return _by_package(tree).get(crate.folder, [])


def tests_in(tree: Tree, path: str) -> bool:
    """Return whether a Rust file holds tests."""
    return _TEST.search(tree.text(path) or "") is not None


def tables(found: object) -> list[Mapping[str, Any]]:
    """Return the tables of an array of them, none where it is something else."""
    return [t for t in found if isinstance(t, Mapping)] if isinstance(found, list) else []


def strings(found: object) -> list[str]:
    """Return the texts of a list."""
    return [t for t in found if isinstance(t, str)] if isinstance(found, list) else []


def dependencies(crate: Crate) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the dependencies that are tables, with their keys, of all kinds and targets."""
    places = [crate.table, *(t for t in _mapping(crate.table.get("target")).values() if isinstance(t, Mapping))]
    for place in places:
        for kind in _DEPENDENCIES:
            for name, value in _mapping(place.get(kind)).items():
                yield str(name), value if isinstance(value, Mapping) else {}


def _by_package(tree: Tree) -> dict[str, list[str]]:
    def make() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in tree.sources(".rs"):
            home = _upward(tree, path.rpartition("/")[0])
            if home is not None:
                found.setdefault(home, []).append(path)
        return found

    return tree.once("cargo sources", make)


def _upward(tree: Tree, folder: str) -> str | None:
    """Return the nearest folder, from one upwards, that has a manifest."""
    while True:
        if (f"{folder}/Cargo.toml" if folder else "Cargo.toml") in tree.known:
            return folder
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def _table(tree: Tree, folder: str) -> Mapping[str, Any]:
    return tree.toml(f"{folder}/Cargo.toml" if folder else "Cargo.toml") or {}


def _crate(tree: Tree, folder: str) -> Crate | None:
    table = _table(tree, folder)
    package = table.get("package", table.get("project"))
    name = package.get("name") if isinstance(package, Mapping) else None
    return Crate(folder, name, table) if isinstance(name, str) else None


def _read(tree: Tree, folder: str) -> Workspace | None:
    table = _table(tree, folder)
    own = table.get("workspace")
    if not isinstance(own, Mapping):
        return None
    excluded = [f for e in strings(own.get("exclude")) if (f := inside(folder, e)) is not None]
    homes = [
        p.rpartition("/")[0] for p in tree.known if p.endswith("/Cargo.toml") and NOT_SOURCE.isdisjoint(p.split("/"))
    ]
    named = sorted({h for glob in strings(own.get("members")) for h in _fitting(folder, glob, homes)})
    members: dict[str, Crate] = {}
    waiting = [folder, *named]
    while waiting:
        at = waiting.pop()
        left_out = any(at == e or at.startswith(f"{e}/") for e in excluded) and at not in named
        if at in members or left_out or not _is_below(at, folder) or (crate := _crate(tree, at)) is None:
            continue
        members[at] = crate
        waiting += _by_path(crate, _mapping(own.get("dependencies")), folder)
    default = own.get("default-members")
    if isinstance(default, list):
        chosen = {h for glob in strings(default) for h in _fitting(folder, glob, [*homes, folder])}
    else:
        chosen = {folder} if folder in members else set(members)
    return Workspace(folder, members, frozenset(chosen), isinstance(default, list), _mapping(own.get("dependencies")))


def _by_path(crate: Crate, shared: Mapping[str, Any], root: str) -> list[str]:
    """Return the folders of the dependencies that are named by their path: they are members, too."""
    found = list[str | None]()
    for name, value in dependencies(crate):
        common = _mapping(shared.get(name))
        if isinstance(value.get("path"), str):
            found.append(inside(crate.folder, value["path"]))
        elif value.get("workspace") is True and isinstance(common.get("path"), str):
            found.append(inside(root, common["path"]))
    return [f for f in found if f is not None]


def _fitting(folder: str, glob: str, homes: list[str]) -> list[str]:
    wanted = inside(folder, glob)
    if wanted is None:
        return []
    parts = wanted.split("/")
    return [
        h
        for h in homes
        if h == wanted
        or ("**" in parts and fnmatchcase(h, wanted.replace("**", "*")))
        or (len(h.split("/")) == len(parts) and all(map(fnmatchcase, h.split("/"), parts)))
    ]


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
