"""Configurations of JavaScript tools, written as modules, JSON or YAML, with what they import from the repository."""

import posixpath
from collections.abc import Mapping
from typing import Any

from gate.repository.javascript.literals import read_module
from gate.repository.javascript.values import Table, Unknown
from gate.repository.tree import Tree

CODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts")
_TRIED = ("", *CODE, ".json", "/index.js", "/index.ts")
_DEEPEST = 5
UNREAD = Unknown("")


def load(tree: Tree, path: str) -> Any:
    """Return what a configuration holds: a mapping, a list, or an Unknown where it is computed or cannot be read."""
    if path.endswith((".json", ".jsonc", "rc")):
        found = tree.json(path) if (tree.text(path) or "").lstrip()[:1] in ("{", "/") else tree.yaml(path)
        return UNREAD if found is None else found
    if path.endswith((".yml", ".yaml")):
        found = tree.yaml(path)
        return UNREAD if found is None else found
    return exports(tree, path).get("default", UNREAD)


def exports(tree: Tree, path: str, depth: int = 0) -> Mapping[str, Any]:
    """Return what a module of the repository exports, by name."""

    def make() -> Mapping[str, Any]:
        text = tree.text(path)
        return (
            {} if text is None else read_module(text, lambda spec, name: _imported(tree, path, spec, name, depth + 1))
        )

    return tree.once(f"exports {path}", make) if depth <= _DEEPEST else {}


def imports(tree: Tree, path: str, spec: str) -> str | None:
    """Return the file of the repository that a module imports by a relative name, None where it is no such file."""
    if not spec.startswith("."):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), spec))
    swapped = target[: -len(".js")] + ".ts" if target.endswith(".js") else target
    return next((t for end in _TRIED for t in (target + end, swapped + end) if t in tree.known), None)


def config_in(tree: Tree, folder: str, stem: str, endings: tuple[str, ...] = CODE) -> str | None:
    """Return the file in a folder that a tool takes for its configuration: `jest.config` with one of the endings."""
    return next((path for end in endings if (path := join(folder, stem + end)) in tree.known), None)


def join(folder: str, name: str) -> str:
    """Return a path below a folder of the repository, `.` for its root; a leading `..` stays."""
    return posixpath.normpath(posixpath.join(folder, name))


def table(value: Any, *keys: str) -> Any:
    """Return what stands under keys, one in another; None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def is_whole(value: Any) -> bool:
    """Return whether all keys of a mapping are known."""
    return isinstance(value, Mapping) and (not isinstance(value, Table) or value.whole)


def line_of(tree: Tree, path: str, value: Any, key: str) -> int | None:
    """Return where a key of a configuration stands."""
    lines: Mapping[str, int] = getattr(value, "lines", {})
    found = tree.line_of(path, key)
    return lines[key] if key in lines and key in _line(tree, path, lines[key]) else found


def _line(tree: Tree, path: str, number: int) -> str:
    lines = (tree.text(path) or "").splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _imported(tree: Tree, path: str, spec: str, name: str, depth: int) -> Any:
    target = imports(tree, path, spec)
    if target is None:
        return Unknown(spec if name in ("default", "*") else f"{spec}#{name}")
    if target.endswith(".json"):
        return tree.json(target) or UNREAD
    found = exports(tree, target, depth)
    if name == "*":
        return found.get("default", UNREAD) if set(found) <= {"default"} else _all(found)
    return found.get(name, Unknown(f"{spec}#{name}"))


def _all(found: Mapping[str, Any]) -> Table:
    whole = Table()
    default = found.get("default")
    if isinstance(default, dict):
        whole.take(default)
    whole.update({name: value for name, value in found.items() if name not in whole})
    return whole
