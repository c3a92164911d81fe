"""What turbo and nx take into account before they replay a task from their cache, and files that a task reads beside that."""

import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import normpath
from typing import Any, NamedTuple

from gate.commands.packages import Package
from gate.commands.resolve import resolve
from gate.patterns import later
from gate.repository.javascript.configs import table
from gate.repository.javascript.globs import matches_any
from gate.repository.javascript.tests import test_files
from gate.repository.javascript.workspace import Asked, chosen, workspace_of
from gate.repository.tree import Tree

# program: what its settings are called, up to the first star
_CONFIGS: Mapping[str, tuple[str, ...]] = {
    "eslint": ("eslint.config.", ".eslintrc"), "jest": ("jest.config.",), "vitest": ("vitest.config.", "vite.config."), "tsc": ("tsconfig",),
    "vue-tsc": ("tsconfig",), "playwright": ("playwright.config.",), "mocha": (".mocharc.",), "biome": ("biome.json",), "prettier": (".prettierrc", "prettier.config."),
    "stylelint": (".stylelintrc", "stylelint.config."), "cypress": ("cypress.config.",), "vite": ("vite.config.",), "next": ("next.config.", "tsconfig"),
}  # fmt: skip
_TESTS = {"jest", "vitest", "mocha", "playwright", "cypress"}
_UPWARDS = later(r"""["'](?:<rootDir>/)?((?:\.\./)+[\w@./-]{1,200})["']""")
_ENDINGS = ("", ".js", ".ts", ".mjs", ".cjs", ".json", ".mts", "/index.js", "/index.ts")
_FORCED = {"--force", "--skip-nx-cache", "--skipNxCache", "--disableNxCache"}


class Replayed(NamedTuple):
    """A task of one package: what it reads beside what its cache knows, and where its inputs are written."""

    task: str
    path: str
    line: int | None
    missed: tuple[str, ...]


class _Inputs(NamedTuple):
    own: Sequence[str] | None  # globs below the package; None for all of its files
    shared: Sequence[str]  # globs below the root


def replayed(tree: Tree, asked: Asked) -> Iterator[Replayed]:
    """Yield the tasks of turbo or nx that would be replayed although a file changed which they read."""
    root = tree.relative(asked.command.cwd)
    if root != "." or asked.program not in ("turbo", "nx") or _FORCED & set(asked.command.argv):
        return
    path = "turbo.json" if asked.program == "turbo" else "nx.json"
    config = tree.json(path) if path in tree.known else None
    space = workspace_of(tree, asked.command)
    for task in asked.tasks if config else ():
        for package in chosen(space, asked.filters, asked.command):
            folder = tree.relative(package.path)
            inputs = (
                _turbo(tree, config, folder, package.name, task)
                if path == "turbo.json"
                else _nx(tree, config, folder, task)
            )
            if folder == "." or inputs is None or not isinstance(package.scripts.get(task), str):
                continue
            missed = tuple(sorted(p for p in _read(tree, package, task, folder) if not _is_known(p, folder, inputs)))
            if missed:
                yield Replayed(
                    task,
                    path,
                    tree.line_of(path, "inputs", tree.line_of(path, f'"{task}"') or 1)
                    or tree.line_of(path, f'"{task}"'),
                    missed,
                )


def _turbo(tree: Tree, config: Any, folder: str, name: str, task: str) -> _Inputs | None:
    """Return what turbo hashes; None where it keeps no cache, or the package has settings of its own."""
    tasks = table(config, "tasks") or table(config, "pipeline")
    settings = (table(tasks, f"{name}#{task}") or table(tasks, task)) if isinstance(tasks, Mapping) else None
    if not isinstance(settings, Mapping) or settings.get("cache") is False or f"{folder}/turbo.json" in tree.known:
        return None
    shared = [*_words(config.get("globalDependencies")), "package.json", "turbo.json"]
    inputs = settings.get("inputs")
    words = _words(inputs)
    shared += [w.partition("/")[2] for w in words if w.startswith("$TURBO_ROOT$/")]
    if not isinstance(inputs, list) or not words or "$TURBO_DEFAULT$" in words:
        return _Inputs(None, [*shared, *_from(folder, words)])
    return _Inputs(
        ["package.json", "turbo.json", *(w for w in words if not w.startswith("$"))], [*shared, *_from(folder, words)]
    )


def _nx(tree: Tree, config: Any, folder: str, task: str) -> _Inputs | None:
    """Return what nx hashes by `targetDefaults`; None where it has no inputs there, or the project has its own."""
    settings = table(config, "targetDefaults", task)
    inputs = _words(table(settings, "inputs"))
    own = f"{folder}/project.json"
    told = (tree.text(own) or "") + (tree.text(f"{folder}/package.json") or "")
    if not inputs or table(settings, "cache") is False or '"inputs"' in told or '"namedInputs"' in told:
        return None
    names = table(config, "namedInputs")
    todo, met, globs = list(inputs), set[str](), list[str]()
    while todo:
        word = todo.pop(0)
        if word in met or word.startswith("^"):
            continue
        met.add(word)
        if isinstance(names, Mapping) and word in names:
            todo += _words(names[word])
        elif word == "default":
            globs.append("{projectRoot}/**/*")
        else:
            globs.append(word)
    mine = [g.replace("{projectRoot}/", "") for g in globs if "{projectRoot}/" in g]
    shared = [g.replace("{workspaceRoot}/", "") for g in globs if g.startswith("{workspaceRoot}/")]
    return _Inputs(
        sorted(mine, key=lambda g: g.startswith("!")),
        [*shared, "nx.json", "package.json", "tsconfig.base.json", "tsconfig.json"],
    )


def _words(value: Any) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _from(folder: str, words: Sequence[str]) -> list[str]:
    return [normpath(f"{folder}/{w}") for w in words if w.startswith("../")]


def _is_known(path: str, folder: str, inputs: _Inputs) -> bool:
    if path.startswith(f"{folder}/"):
        return inputs.own is None or _fits(path[len(folder) + 1 :], inputs.own)
    return _fits(path, inputs.shared)


def _fits(path: str, globs: Sequence[str]) -> bool:
    plain = [g.removeprefix("./").rstrip("/") for g in globs]
    return matches_any(path, plain) or any(path.startswith(f"{g}/") for g in plain if "*" not in g)


def _read(tree: Tree, package: Package, task: str, folder: str) -> Iterator[str]:
    """Yield the files that the tools of a task surely read: their settings, what these name above the package, its tests."""
    programs = {c.argv[0] for c in resolve(str(package.scripts[task]), package.path, root=tree.root)}
    stems = tuple(stem for p in programs for stem in _CONFIGS.get(p, ()))
    for name in _names(tree).get(folder, ()) if stems else ():
        if name.startswith(stems):
            yield f"{folder}/{name}"
            yield from _above(tree, f"{folder}/{name}", folder)
    if _TESTS & programs:
        yield from (p for p in test_files(tree) if p.startswith(f"{folder}/"))


def _names(tree: Tree) -> Mapping[str, list[str]]:
    def make() -> dict[str, list[str]]:
        found = dict[str, list[str]]()
        for path in tree.files:
            folder, _, name = path.rpartition("/")
            found.setdefault(folder, []).append(name)
        return found

    return tree.once("names by folder", make)


def _above(tree: Tree, path: str, folder: str) -> Iterator[str]:
    """Yield the files outside of its package that a configuration names, if they are no other package's."""
    text = re.sub(r"^[ \t]*//.*$", "", tree.text(path) or "", flags=re.M)
    for match in _UPWARDS.finditer(text):
        target = normpath(f"{folder}/{match[1]}")
        found = next((f"{target}{e}" for e in _ENDINGS if f"{target}{e}" in tree.known), "")
        if found and not found.startswith((f"{folder}/", "../")) and not _is_of_package(tree, found):
            yield found


def _is_of_package(tree: Tree, path: str) -> bool:
    above = path.rpartition("/")[0]
    while above:
        if f"{above}/package.json" in tree.known:
            return True
        above = above.rpartition("/")[0]
    return False
