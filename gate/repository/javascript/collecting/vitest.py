"""What vitest collects: https://vitest.dev/config/ (include, exclude, dir, root, projects, workspaces)."""

from collections.abc import Iterator, Sequence
from typing import Any

from gate.repository.javascript.collecting.collection import Collection, Words, below, read_words, strings
from gate.repository.javascript.configs import config_in, is_whole, join, line_of, load, table
from gate.repository.javascript.globs import matches, matches_any
from gate.repository.javascript.values import Table, Unknown
from gate.repository.tree import Tree
from gate.strangers import json_of
from gate.tools.tool import Invocation

RUNNER = "vitest"
_INCLUDE = ("**/*.{test,spec}.?(c|m)[jt]s?(x)",)
_NEVER = ("**/node_modules/**", "**/.git/**")
_ENDINGS = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs")
_VALUES = frozenset({
    "-c", "--config", "-r", "--root", "--dir", "-t", "--testNamePattern", "--reporter", "--outputFile", "--environment",
    "--pool", "--project", "--exclude", "--mode", "--shard", "--maxWorkers", "--minWorkers", "--testTimeout", "--hookTimeout",
    "--retry", "--bail", "--coverage.provider", "--coverage.reporter", "--workspace", "--browser.name", "--maxConcurrency",
    "--silent", "--logHeapUsage", "--teardownTimeout", "--poolOptions.threads.maxThreads", "--coverage.reportsDirectory",
})  # fmt: skip
_COMMANDS = {"run", "watch", "dev", "related", "bench", "typecheck"}
_MOST_PROJECTS = 300


def collect(tree: Tree, run: Invocation) -> list[Collection] | None:
    """Return what a run collects, one for each project; None where that cannot be known from files."""
    words = words_of(run.argv)
    if {"--project", "--changed", "--browser"} & set(words.options) or "related" in words.alone[:1]:
        return None if "--changed" not in words.options else []
    if words.alone[:1] in (["bench"], ["list"], ["init"]):
        return []
    cwd = tree.relative(run.cwd)
    root = join(cwd, words.last("-r", "--root") or ".")
    path = config_path(tree, cwd, words)
    config = load(tree, path) if path else Table()
    collections = list[Collection]()
    for one in _projects(tree, root, path or "", config, words):
        if one is None:
            return None
        collections.append(one)
    filters = words.alone[1:] if words.alone[:1] and words.alone[0] in _COMMANDS else words.alone
    return [_filtered(c, filters) for c in collections]


def words_of(argv: Sequence[str]) -> Words:
    """Return the options of a command line of vitest, and what stands alone in it."""
    return read_words([w for w in argv[1:] if w != "--silent"], values=_VALUES)


def config_path(tree: Tree, cwd: str, words: Words) -> str | None:
    """Return the configuration that a run takes, None where the repository has none."""
    root, named = join(cwd, words.last("-r", "--root") or "."), words.last("-c", "--config")
    tried = [join(root, named), join(cwd, named)] if named else [_config_of(tree, root)]
    return next((path for path in tried if path in tree.known), None)


def _config_of(tree: Tree, root: str) -> str | None:
    return config_in(tree, root, "vitest.config", _ENDINGS) or config_in(tree, root, "vite.config", _ENDINGS)


def _projects(tree: Tree, root: str, path: str, config: Any, words: Words) -> Iterator[Collection | None]:
    test = config.get("test", Table()) if isinstance(config, dict) else None
    if not isinstance(test, dict):
        yield None
        return
    source, listed = _listed(tree, root, path, test)
    if listed is None:
        yield _settle(tree, root, path, config, words)
        return
    if not isinstance(listed, list) or not getattr(listed, "whole", True):
        yield None
        return
    dropped = [p[1:] for p in listed if isinstance(p, str) and p.startswith("!")]
    for project in listed[:_MOST_PROJECTS]:
        if isinstance(project, dict):
            yield _inline(tree, root, source, config, project, words)
        elif not isinstance(project, str):
            yield None
        elif not project.startswith("!"):
            yield from _named(tree, root, project, dropped, words)


def _listed(tree: Tree, root: str, path: str, test: Any) -> tuple[str, Any]:
    """Return the projects of a configuration, or of the workspace's own file, and the file that names them."""
    listed = test.get("projects", test.get("workspace"))
    if isinstance(listed, str):
        return join(root, listed), load(tree, join(root, listed))
    own = config_in(tree, root, "vitest.workspace", (*_ENDINGS, ".json")) if listed is None else None
    return (own, _workspace(tree, own)) if own else (path, listed)


def _workspace(tree: Tree, path: str) -> Any:
    if path.endswith(".json"):
        return json_of(tree.text(path) or "")  # a list, where others are objects
    return load(tree, path)


def _inline(tree: Tree, root: str, path: str, config: Any, project: Any, words: Words) -> Collection | None:
    extends = project.get("extends")
    base: Any = Table()
    if extends is True:
        base = {k: v for k, v in config.get("test", {}).items() if k not in ("projects", "workspace", "name")}
    elif isinstance(extends, str):
        found = load(tree, join(root, extends))
        if not isinstance(found, dict):
            return None
        base = found.get("test", Table())
    elif extends not in (None, False):
        return None
    test = project.get("test", Table())
    if not isinstance(test, dict) or not isinstance(base, dict):
        return None
    merged = Table()
    merged.take(base if isinstance(base, Table) else _as_table(base))
    merged.take(test)
    for key in ("include", "exclude"):  # lists of both are joined
        if extends and isinstance(base.get(key), list) and isinstance(test.get(key), list):
            merged[key] = [*base[key], *test[key]]
    return _settle(tree, root, path, {"test": merged, "root": project.get("root", ".")}, words)


def _as_table(found: Any) -> Table:
    made = Table()
    made.update(found)
    return made


def _named(tree: Tree, root: str, pattern: str, dropped: list[str], words: Words) -> Iterator[Collection | None]:
    target = join(root, pattern)
    out = [join(root, d) for d in dropped]
    if target in tree.known:
        files, folders = [target], []
    else:
        found = [f for f in sorted(tree.folders) if matches(f, target.rstrip("/")) and not matches_any(f, out)]
        folders = (
            ["."] if target == "." else [f for f in found if f"{f}/package.json" in tree.known or _config_of(tree, f)]
        )
        files = [
            p for p in tree.files if "*" in target and "config" in p and matches(p, target) and not matches_any(p, out)
        ]
    for path in files:
        config = load(tree, path)
        yield _settle(tree, path.rpartition("/")[0] or ".", path, config, words) if isinstance(config, dict) else None
    for folder in folders:
        own = _config_of(tree, folder)
        config = load(tree, own) if own else Table()
        yield _settle(tree, folder, own or "", config, words) if isinstance(config, dict) else None


def _settle(tree: Tree, root: str, path: str, config: Any, words: Words) -> Collection | None:
    test, top = table(config, "test"), table(config, "root")
    test = Table() if test is None else test
    if not isinstance(test, dict) or not is_whole(config):
        return None
    if "include" not in test and not is_whole(test):
        return None
    top = test.get("root", top if top is not None else ".")
    folder = (
        join(root, top)
        if isinstance(top, str)
        else root
        if isinstance(top, Unknown) and "dirname" in top.text
        else None
    )
    include, out = strings(test.get("include", list(_INCLUDE))), _strings_of(test.get("exclude"))
    inside = words.last("--dir") or test.get("dir")
    if folder is None or include is None or isinstance(inside, Unknown):
        return None
    start = join(folder, inside) if isinstance(inside, str) else folder
    out = [*out, *(words.options.get("--exclude", []))]

    def fits(file: str) -> bool:
        inner = below(file, start)
        return inner is not None and matches_any(inner, include)

    def leaves_out(file: str) -> bool:
        inner = below(file, start) or file
        return any(matches(inner, g) or matches(inner, f"{g.rstrip('/')}/**") for g in out) or matches_any(
            inner, _NEVER
        )

    return Collection(
        RUNNER, folder, tuple(include), path, line_of(tree, path, test, "include") if path else None, fits, leaves_out,
        ask=f"npx vitest list --filesOnly{'' if folder == '.' else f' --root {folder}'}", globals=test.get("globals") is not None,
    )  # fmt: skip


def _strings_of(value: Any) -> list[str]:
    """Return the words of a list, also of one in which something else (`configDefaults.exclude`) is spread."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _filtered(one: Collection, filters: list[str]) -> Collection:
    if not filters:
        return one
    plain = [f.removeprefix("./") for f in filters]
    return one._replace(
        fits=lambda file: any(f in f"/{file}" for f in plain) and one.fits(file),
        patterns=tuple(filters),
        path="",
        line=None,
    )
