"""Which files mypy and pyright look at, by their settings, the paths that they are given, and what those import."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any, NamedTuple

from gate.integrity.configs import PYTHON
from gate.integrity.options import covers
from gate.patterns import later
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.patterns import searches
from gate.repository.python.config import Settings, below, paths_of, product, runs, settings
from gate.repository.tree import Tree
from gate.tools.tool import Invocation

_VALUES = frozenset({
    "-m", "-p", "--module", "--package", "--exclude", "--config-file", "--python-version", "--platform", "--follow-imports",
    "--cache-dir", "--disable-error-code", "--enable-error-code", "--junit-xml", "--python-executable", "--custom-typeshed-dir",
    "--shadow-file", "--always-true", "--always-false", "--txt-report", "--html-report", "--xml-report", "--project",
})  # fmt: skip
_IMPORT = later(r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*\(?([\w, \t*]*)|import[ \t]+([\w., \t]+))", re.M)


class Typed(NamedTuple):
    """One run of a type checker; `seen` are the files of the product that it looks at."""

    at: Check
    settings: Settings | None
    tool: str
    seen: frozenset[str]


def typed(repo: Repository) -> tuple[Typed, ...] | None:
    """Return the runs of mypy; None where a run's words leave open what it looks at, or pyright looks too."""
    return repo.tree.once("typed", lambda: _typed(repo))


def _typed(repo: Repository) -> tuple[Typed, ...] | None:
    found = list[Typed]()
    for at, run, folder in runs(repo, "mypy", "pyright"):
        if run.tool.NAME == "pyright" or any(sign in w for w in run.words for sign in "$*{`"):
            return None
        own = mypy_settings(repo.tree, run, folder)
        targets = _targets(repo.tree, run, own, folder)
        excluded = _excluded(run, own)
        root = own.folder if own else ""
        named = {p for p in product(repo.tree) if any(p == t or p.startswith(f"{t}/") or not t for t in targets)}
        seen = {
            p
            for p in named
            if p in targets
            or not any(searches(e, text) for e in excluded for text in (below("", p[len(root) :]), f"/{p}"))
        }
        follow = next((w.partition("=")[2] for w in run.words if w.startswith("--follow-imports=")), "") or str(
            (own.table if own else {}).get("follow_imports") or "normal"
        )
        if follow == "normal":
            seen |= set(_imported(repo.tree, seen))
        found.append(Typed(at, own, run.tool.NAME, frozenset(seen)))
    return tuple(found)


def mypy_settings(tree: Tree, run: Invocation, folder: str) -> Settings | None:
    """Return the settings of one run of mypy."""
    given = next((run.argv[n + 1] for n, w in enumerate(run.argv[:-1]) if w == "--config-file"), "")
    given = given or next((w.partition("=")[2] for w in run.argv if w.startswith("--config-file=")), "")
    if given:
        keys = ("tool", "mypy") if given.endswith(".toml") else ("mypy",)
        return settings(tree, ((given.removeprefix("./"), keys),), folder)
    places = tuple((name, keys or ("mypy",)) for name, keys in PYTHON["mypy"])
    return settings(tree, places, folder)


def sections(tree: Tree, own: Settings) -> Iterator[tuple[list[str], Mapping[str, Any], str]]:
    """Yield the settings of single modules: their patterns, the table, and a text by which its line is found."""
    if own.path.endswith(".toml"):
        overrides = own.table.get("overrides")
        for table in overrides if isinstance(overrides, list) else ():
            if isinstance(table, Mapping):
                modules = table.get("module")
                names = [modules] if isinstance(modules, str) else modules if isinstance(modules, list) else []
                yield [str(n) for n in names], table, str(names[0]) if names else ""
        return
    for name, table in (tree.ini(own.path) or {}).items():
        if name.startswith("mypy-"):
            yield name.removeprefix("mypy-").split(","), table, f"[{name}]"


def module(path: str) -> str:
    """Return the dotted name of a file, without the folder `src` or `lib` before it."""
    name = re.sub(r"^(?:[\w-]+/)*?(?:src|lib)/", "", path).removesuffix(".py").removesuffix("/__init__")
    return name.replace("/", ".")


def fits(name: str, pattern: str) -> bool:
    """Return whether a module's name fits a pattern of mypy's settings: `app.*` is `app`, too."""
    return fnmatch(name, pattern) or (pattern.endswith(".*") and name == pattern[:-2])


def _targets(tree: Tree, run: Invocation, own: Settings | None, folder: str) -> set[str]:
    words = paths_of(run, _VALUES)
    found = {below(folder, w) for w in words}
    packages = [run.argv[n + 1] for n, w in enumerate(run.argv[:-1]) if w in ("-p", "-m", "--package", "--module")]
    if not found and not packages and own:
        found = {below(own.folder, w.rstrip("/")) for w in own.words("files")}
        packages = [*own.words("packages"), *own.words("modules")]
        found |= {p for pattern in list(found) if "*" in pattern for p in product(tree) if covers(pattern, p)}
    for name in packages:
        path = name.replace(".", "/")
        found |= {
            f
            for f in (path, f"src/{path}", f"lib/{path}", f"{path}.py", f"src/{path}.py")
            if f in tree.folders or f in tree.known
        }
    return found


def _excluded(run: Invocation, own: Settings | None) -> list[str]:
    value = own.table.get("exclude") if own else None
    texts = [str(v) for v in value] if isinstance(value, list) else [value] if isinstance(value, str) and value else []
    texts += [run.argv[n + 1] for n, w in enumerate(run.argv[:-1]) if w == "--exclude"]
    texts += [w.partition("=")[2] for w in run.argv if w.startswith("--exclude=")]
    return texts


def _imported(tree: Tree, start: Iterable[str]) -> Iterator[str]:
    """Yield the files of the product that others import, and those that these import."""
    files = tree.once("python-modules", lambda: {module(p): p for p in product(tree)})
    todo, met = list(start), set(start)
    while todo:
        path = todo.pop()
        for name in _names(module(path), path.endswith("__init__.py"), tree.text(path) or ""):
            other = files.get(name)
            if other and other not in met:
                met.add(other)
                todo.append(other)
                yield other


def _names(own: str, is_package: bool, text: str) -> Iterator[str]:
    for match in _IMPORT.finditer(text):
        if match[3]:
            yield from (part.split(" as ")[0].strip() for part in match[3].split(","))
            continue
        dots = len(match[1]) - len(match[1].lstrip("."))
        base = own.split(".")[: len(own.split(".")) - dots + is_package] if dots else []
        name = ".".join([*base, *([match[1].lstrip(".")] if match[1].lstrip(".") else [])])
        yield name
        yield from (f"{name}.{part.split(' as ')[0].strip()}" for part in match[2].split(","))
