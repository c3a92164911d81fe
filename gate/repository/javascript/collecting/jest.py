"""What jest collects: https://jestjs.io/docs/configuration (testMatch, testRegex, roots, projects, ...)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gate.repository.javascript.collecting.collection import Collection, Words, below, read_words, strings
from gate.repository.javascript.configs import config_in, is_whole, join, line_of, load, table
from gate.repository.javascript.globs import matches
from gate.repository.javascript.packages import is_below
from gate.repository.javascript.values import Pattern, Table, Unknown
from gate.repository.patterns import searches
from gate.repository.tree import Tree
from gate.strangers import json_of
from gate.tools.tool import Invocation

RUNNER = "jest"
_MATCH = ("**/__tests__/**/*.?([mc])[jt]s?(x)", "**/?(*.)+(spec|test).?([mc])[jt]s?(x)")
_ENDINGS = ("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "node")
_SCRIPTS_MATCH = ("src/**/__tests__/**/*.{js,jsx,ts,tsx}", "src/**/*.{spec,test}.{js,jsx,ts,tsx}")
_VALUES = frozenset({
    "-c", "--config", "--rootDir", "-t", "--testNamePattern", "--env", "--testEnvironment", "-w", "--maxWorkers", "--shard",
    "--coverageDirectory", "--outputFile", "--testTimeout", "--cacheDirectory", "--coverageProvider", "--preset", "--runner",
    "--testRunner", "--changedSince", "--seed", "--maxConcurrency", "--testResultsProcessor", "--workerIdleMemoryLimit",
})  # fmt: skip
_LISTS = frozenset({
    "--roots", "--testMatch", "--testRegex", "--testPathIgnorePatterns", "--projects", "--selectProjects", "--ignoreProjects",
    "--reporters", "--coverageReporters", "--collectCoverageFrom", "--setupFiles", "--setupFilesAfterEnv", "--modulePaths",
    "--moduleDirectories", "--testPathPattern", "--testPathPatterns",
})  # fmt: skip
_PLAIN_PRESETS = (
    "ts-jest",
    "react-native",
    "jest-expo",
    "jest-preset-angular",
    "@swc/jest",
    "@react-native/jest-preset",
    "jest-puppeteer",
)
_ROOT = "/R"  # where the repository is said to lie, for patterns that look at whole paths
_GIVEN = ("roots", "testMatch", "testRegex", "testPathIgnorePatterns")
_MOST_PROJECTS = 200


def collect(tree: Tree, run: Invocation) -> list[Collection] | None:
    """Return what a run collects, one for each project; None where that cannot be known from files."""
    words = words_of(run.argv)
    cwd = tree.relative(run.cwd)
    if run.argv[0] == "react-scripts":
        return _react_scripts(tree, cwd, words)
    if run.argv[0] not in ("jest", "jest-cli") or {"--selectProjects", "--ignoreProjects", "--filter"} & set(
        words.options
    ):
        return None
    found = config_of(tree, cwd, words)
    if found is None:
        return None
    folder, path, config = found
    given = {k: v for k in _GIVEN if (v := words.options.get(f"--{k}"))}
    root_dir = words.last("--rootDir")
    if root_dir:
        folder = join(cwd, root_dir)
    projects = words.options.get("--projects")
    listed = list(projects) if projects else table(config, "projects")
    collections = list[Collection]()
    for place in _projects(tree, folder, path, config, listed):
        one = None if place is None else _settle(tree, *place, given)
        if one is None:
            return None
        collections.append(one)
    patterns = [*words.options.get("--testPathPattern", []), *words.options.get("--testPathPatterns", [])]
    patterns += [w for w in words.alone if w != "test" or run.argv[0] == "jest"]
    by_path = "--runTestsByPath" in words.options
    return [_filtered(c, patterns, cwd, by_path=by_path) for c in collections]


def words_of(argv: Sequence[str]) -> Words:
    """Return the options of a command line of jest, and what stands alone in it."""
    return read_words(argv[1:], values=_VALUES, lists=_LISTS)


def config_of(tree: Tree, cwd: str, words: Words) -> tuple[str, str, Any] | None:
    """Return the folder, the file and the settings that jest starts from."""
    named = words.last("-c", "--config")
    if named and named.lstrip().startswith("{"):
        inline = json_of(named)
        return None if inline is None else (cwd, "", inline)
    if named:
        return _of_file(tree, join(cwd, named))
    folder = cwd
    while True:
        found = _of_folder(tree, folder)
        if found:
            return found
        if folder in (".", "") or folder.startswith(".."):
            return None
        folder = folder.rpartition("/")[0] or "."


def _of_folder(tree: Tree, folder: str) -> tuple[str, str, Any] | None:
    path = config_in(tree, folder, "jest.config", (".js", ".ts", ".mjs", ".cjs", ".json", ".mts", ".cts"))
    if path:
        return _of_file(tree, path)
    path = join(folder, "package.json")
    package = tree.json(path) if path in tree.known else None
    return None if package is None else (folder, path, package.get("jest", Table()))


def _of_file(tree: Tree, path: str) -> tuple[str, str, Any] | None:
    if path not in tree.known:
        return None
    config = load(tree, path)
    if path.rpartition("/")[2] == "package.json":
        config = table(config, "jest")
    return path.rpartition("/")[0] or ".", path, config


def _projects(tree: Tree, folder: str, path: str, config: Any, listed: Any) -> Iterator[tuple[str, str, Any] | None]:
    """Yield the places of the projects; the configuration itself where it names none; None for what is unknown."""
    if not listed:
        yield (folder, path, config) if listed is None or isinstance(listed, list) else None
        return
    if not isinstance(listed, list) or not getattr(listed, "whole", True):
        yield None
        return
    root = _root_dir(folder, config)
    for project in listed[:_MOST_PROJECTS]:
        if isinstance(project, dict):
            yield folder, path, {"rootDir": root, **project} if "rootDir" not in project else project
        elif isinstance(project, str):
            yield from _named(tree, root, project.replace("<rootDir>", "."))
        else:
            yield None


def _named(tree: Tree, root: str, pattern: str) -> Iterator[tuple[str, str, Any] | None]:
    target = join(root, pattern)
    if target in tree.known:
        yield _of_file(tree, target)
        return
    folders = ["."] if target == "." else [f for f in sorted(tree.folders) if f == target or matches(f, target)]
    files = [p for p in tree.files if "*" in target and p.endswith((".js", ".json", ".ts")) and matches(p, target)]
    yield from (_of_file(tree, file) for file in files)
    yield from (found for f in folders if (found := _of_folder(tree, f)) or not files)


def _root_dir(folder: str, config: Any) -> str:
    named = table(config, "rootDir")
    return join(folder, named.replace("<rootDir>", ".")) if isinstance(named, str) else folder


def _settle(tree: Tree, folder: str, path: str, config: Any, given: Mapping[str, Any]) -> Collection | None:
    if not isinstance(config, dict) or isinstance(config.get("rootDir"), Unknown):
        return None
    root = _root_dir(folder, config)
    preset = _preset(tree, root, config.get("preset"))
    read = (
        None
        if preset is None
        else _read({**preset, **config, **given}, whole=is_whole(config), regex="testMatch" not in given)
    )
    if read is None:
        return None
    here = f"{_ROOT}/{root}" if root != "." else _ROOT
    globs, regexes, out = (
        [text.replace("<rootDir>", here) for text in texts] for texts in (read.globs, read.patterns, read.out)
    )
    tops = [join(root, r.replace("<rootDir>", ".")) for r in read.roots]

    def fits(file: str) -> bool:
        whole = f"{_ROOT}/{file}"
        if not any(is_below(file, top) for top in tops) or file.rpartition(".")[2] not in read.endings:
            return False
        return any(searches(p, whole) is not False for p in regexes) if regexes else _globbed(whole, globs)

    def leaves_out(file: str) -> bool:
        return any(searches(p, f"{_ROOT}/{file}") is not False for p in out)

    key = next((k for k in ("testMatch", "testRegex", "roots") if k in config), "")
    return Collection(
        RUNNER, root, tuple(read.patterns or read.globs), path if key else "", line_of(tree, path, config, key) if key and path else None,
        fits, leaves_out, ask=f"npx jest --listTests{'' if root == '.' else f' --rootDir {root}'}",
    )  # fmt: skip


class _Settings(NamedTuple):
    globs: list[str]
    patterns: list[str]
    roots: list[str]
    out: list[str]
    endings: list[str]


def _read(config: Mapping[str, Any], *, whole: bool, regex: bool) -> _Settings | None:
    """Return the settings that select tests, None where one of them is computed."""
    match, pattern = config.get("testMatch"), config.get("testRegex") if regex else None
    if match is None and not pattern and not whole:
        return None
    globs, roots = strings(match if match is not None else list(_MATCH)), strings(config.get("roots", ["<rootDir>"]))
    patterns, endings = _patterns(pattern), strings(config.get("moduleFileExtensions", list(_ENDINGS)))
    out, barred = (
        _patterns(config.get("testPathIgnorePatterns", ["/node_modules/"])),
        _patterns(config.get("modulePathIgnorePatterns")),
    )
    if globs is None or roots is None or patterns is None or endings is None or out is None or barred is None:
        return None
    return _Settings(globs, patterns, roots, [*out, *barred], endings)


def _globbed(whole: str, globs: list[str]) -> bool:
    """Return whether a path of the file system fits, and none of the globs that begin with `!`."""
    out = [g for g in globs if g.startswith("!") and not g.startswith("!(")]
    return any(matches(whole, g) for g in globs if g not in out) and not any(matches(whole, g[1:]) for g in out)


def _preset(tree: Tree, root: str, name: Any) -> Mapping[str, Any] | None:
    """Return the settings of a preset: of the repository's own, none for those that collect as jest does by itself."""
    if name is None:
        return {}
    if not isinstance(name, str):
        return None
    if name.startswith((".", "<rootDir>", "/")):
        target = join(root, name.replace("<rootDir>", "."))
        for path in (target, *(f"{target}/jest-preset.{end}" for end in ("js", "cjs", "json", "ts")), f"{target}.js"):
            if path in tree.known:
                found = load(tree, path)
                return found if isinstance(found, dict) and is_whole(found) else None
        return None
    return {} if name.startswith(_PLAIN_PRESETS) else None


def _patterns(value: Any) -> list[str] | None:
    """Return regular expressions as their sources."""
    listed = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(v, str | Pattern) for v in listed) or not getattr(listed, "whole", True):
        return None
    return [v.source if isinstance(v, Pattern) else v for v in listed if v]


def _filtered(one: Collection, patterns: list[str], cwd: str, *, by_path: bool) -> Collection:
    if not patterns:
        return one
    named = {join(cwd, p) for p in patterns}

    def fits(file: str) -> bool:
        chosen = (
            file in named
            if by_path
            else any(searches(p.removeprefix("./"), f"{_ROOT}/{file}", ignore_case=True) is not False for p in patterns)
        )
        return chosen and one.fits(file)

    return one._replace(fits=fits, patterns=tuple(patterns), path="", line=None)


def _react_scripts(tree: Tree, cwd: str, words: Words) -> list[Collection] | None:
    path = join(cwd, "package.json")
    settings = table(tree.json(path), "jest") or {}
    if not isinstance(settings, dict) or {"testMatch", "testRegex", "roots", "projects"} & set(settings):
        return None

    def fits(file: str) -> bool:
        inner = below(file, cwd)
        return inner is not None and any(matches(inner, g) for g in _SCRIPTS_MATCH)

    one = Collection(
        RUNNER,
        cwd,
        _SCRIPTS_MATCH,
        path,
        tree.line_of(path, "react-scripts"),
        fits,
        ask="npx react-scripts test --listTests",
    )
    return [_filtered(one, words.alone[1:], cwd, by_path=False)]
