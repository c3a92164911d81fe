"""package.json files: scripts, and the packages of a workspace."""

import fnmatch
import functools
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gate.commands.scripts import read_inside
from gate.globs import matches
from gate.strangers import json_of, yaml_of

_MOST_PACKAGES = 300
_MOST_FOLDERS = 5000
_SKIPPED = {"node_modules", ".git", ".venv", "target", "dist"}


class Package(NamedTuple):
    """One package.json."""

    path: Path
    name: str = ""
    scripts: Mapping[str, str] = MappingProxyType({})
    found: Mapping[str, Any] = MappingProxyType({})


def load_package(folder: Path, root: Path) -> Package | None:
    """Return the package of this folder, None when it has no readable package.json."""
    found = load_json(folder / "package.json", root)
    if found is None:
        return None
    scripts = found.get("scripts")
    texts = {k: v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}
    return Package(folder, str(found.get("name") or ""), texts, found)


def load_json(path: Path, root: Path) -> dict[str, Any] | None:
    """Return the object of a JSON file inside the repository, None where there is none that can be read.

    Each command of a workspace asks for all of its members; a file that has not changed is not read again.
    """
    try:
        now = path.stat()
    except (OSError, ValueError):
        return None
    return _read_json(path, root, (now.st_dev, now.st_ino, now.st_mtime_ns, now.st_ctime_ns, now.st_size))


@functools.lru_cache(maxsize=2000)
def _read_json(path: Path, root: Path, state: tuple[int, ...]) -> dict[str, Any] | None:
    del state
    data = read_inside(path, root)
    if data is None:
        return None
    found = json_of(data)
    return found if isinstance(found, dict) else None


def nearest_package(cwd: Path, root: Path) -> Package | None:
    """Return the package that `npm run` would use here: the nearest one upwards, inside the repository."""
    for folder in (cwd, *cwd.parents):
        package = load_package(folder, root)
        if package is not None:
            return package
        if folder == root:
            return None
    return None


def workspace_packages(cwd: Path, root: Path) -> tuple[Package, ...]:
    """Return the member packages of the workspace around cwd, without its root; empty when there is none."""
    for folder in (cwd, *cwd.parents):
        patterns = _patterns(folder, root)
        if patterns:
            return tuple(_members(folder, patterns, root))
        if folder == root:
            break
    return ()


def _patterns(folder: Path, root: Path) -> list[str]:
    data = read_inside(folder / "pnpm-workspace.yaml", root)
    if data is not None:
        found = yaml_of(data)
        listed = found.get("packages") if isinstance(found, dict) else None
        if isinstance(listed, list):
            return [str(item) for item in listed]
    package = load_package(folder, root)
    listed = package.found.get("workspaces") if package else None
    if isinstance(listed, dict):
        listed = listed.get("packages")
    if not isinstance(listed, list):
        listed = (load_json(folder / "lerna.json", root) or {}).get("packages")
    return [str(item) for item in listed] if isinstance(listed, list) else []


def _members(folder: Path, patterns: list[str], root: Path) -> Iterator[Package]:
    excluded = [pattern[1:].strip("/") for pattern in patterns if pattern.startswith("!")]
    seen = set[Path]()
    for pattern in patterns:
        if pattern.startswith("!"):
            continue
        for path in folders(folder, pattern):
            relative = path.relative_to(folder).as_posix()
            if path in seen or any(fnmatch.fnmatch(relative, e) for e in excluded):
                continue
            package = load_package(path, root)
            if package is not None and path != folder:
                seen.add(path)
                yield package
            if len(seen) >= _MOST_PACKAGES:
                return


def folders(base: Path, pattern: str) -> list[Path]:
    """Return the folders below base that a pattern names; never above it, through links or into node_modules."""
    found = [base]
    for part in pattern.split("/"):
        if part in {"", "."}:
            continue
        if part == "..":
            return []
        if part == "**":
            found = [below for folder in found for below in _all_below(folder)]
        else:
            found = [child for folder in found for child in _children(folder) if fnmatch.fnmatch(child.name, part)]
        found = found[:_MOST_FOLDERS]
    return [] if found == [base] else sorted(found)


def _all_below(folder: Path) -> Iterator[Path]:
    open_ = [folder]
    for _ in range(_MOST_FOLDERS):
        if not open_:
            return
        current = open_.pop()
        yield current
        open_ += _children(current)


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.is_dir(follow_symlinks=False) and e.name not in _SKIPPED]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def select(packages: tuple[Package, ...], pattern: str, base: Path) -> tuple[Package, ...]:
    """Return the packages that a filter names: a name or glob of names, a folder (`./x`, `{x}`), with `...` around."""
    if pattern.startswith("!"):
        dropped = select(packages, pattern[1:], base)
        return tuple(p for p in packages if p not in dropped)
    core = pattern.split("[")[0].replace("...", "").strip("^")
    if not core:
        return packages  # only "changed since": any of them
    if core.startswith("{") and core.endswith("}"):
        core = "./" + core[1:-1]
    if core.startswith((".", "/")):
        folder = os.path.normpath(base / core)
        return tuple(p for p in packages if matches(os.path.normpath(p.path), folder))
    fits = _name(core)
    return tuple(p for p in packages if fits.match(p.name))


@functools.cache
def _name(pattern: str) -> re.Pattern[str]:
    """Return what fits a pattern of names, with its scope or without: `@x/!(a|b)*` is all of @x but a and b."""
    parts = re.split(r"(!\([^()]*\))", pattern)
    whole = "".join(
        f"(?!(?:{'|'.join(map(re.escape, part[2:-1].split('|')))}))" if i % 2 else fnmatch.translate(part)[4:-3]
        for i, part in enumerate(parts)
    )
    return re.compile(rf"(?s:(?:@[^/]*/)?{whole})\Z" if not pattern.startswith("@") else rf"(?s:{whole})\Z")
