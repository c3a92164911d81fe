"""Limits of coverage in the configurations of jest, vitest, nyc and c8, and whether a run measures and compares."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gate.commands.resolve import Command
from gate.repository.checks import Check
from gate.repository.javascript.collecting import jest, vitest
from gate.repository.javascript.configs import config_in, is_whole, join, line_of, load, table
from gate.repository.javascript.packages import packages
from gate.repository.javascript.values import Unknown
from gate.repository.opening import Repository
from gate.repository.tree import Tree

_KEYS = ("branches", "lines", "functions", "statements")
_FILES = {"nyc": (".nycrc", "nyc.config"), "c8": (".c8rc", ".nycrc")}


class Limits(NamedTuple):
    """Limits of a configuration for a tool. `measures` and `all_files` are None where that cannot be known."""

    tool: str
    path: str
    line: int | None
    measures: bool | None
    all_files: bool | None = True
    option: str = "--coverage"
    is_meant: bool = False  # the configuration itself says that nothing is compared


def limits(repo: Repository) -> Iterator[tuple[Check, Command, Limits]]:
    """Yield what each run of the gate has of them, and each configuration of nyc that no run starts."""
    for at in repo.gate:
        for command in at.commands:
            read = _READERS.get(command.argv[0])
            found = read(repo.tree, command) if read else None
            if found is not None:
                yield at, command, found


def unused(repo: Repository) -> Iterator[tuple[Check, Limits]]:
    """Yield the limits of nyc and c8 that would fail a run, in packages that the gate tests without them."""
    tested = {
        repo.tree.relative(c.cwd): at
        for at in repo.gate
        for c in at.commands
        if c.argv[0] in ("mocha", "ava", "tape", "tap")
    }
    started = {(repo.tree.relative(c.cwd), c.argv[0]) for at in repo.checks for c in at.commands}
    for member in packages(repo.tree).values():
        at = tested.get(member.folder)
        for tool in ("nyc", "c8") if at else ():
            path, config = _settings(repo.tree, member.folder, tool)
            used = any((member.folder, name) in started for name in ("nyc", "c8", "tap"))
            if (
                at
                and path
                and not used
                and _is_on(config)
                and any(key in config for key in _KEYS)
                and member.depends(tool)
            ):
                yield at, Limits(tool, path, _line(repo.tree, path, config), False)


def _jest(tree: Tree, command: Command) -> Limits | None:
    words = jest.words_of(command.argv)
    found = jest.config_of(tree, tree.relative(command.cwd), words)
    if found is None or not isinstance(found[2], Mapping):
        return None
    _, path, config = found
    given = "--coverageThreshold" in words.options
    threshold = config.get("coverageThreshold")
    if not given and (not isinstance(threshold, dict) or not threshold):
        return None
    on = any(o in words.options and words.options[o][-1] != "false" for o in ("--coverage", "--collectCoverage"))
    own = config.get("collectCoverage")
    unknown = own is None and not is_whole(config)
    measures = on or (own is True) or (None if isinstance(own, Unknown) or unknown else False)
    from_files = "--collectCoverageFrom" in words.options or "collectCoverageFrom" in config or "projects" in config
    line = line_of(tree, path, config, "coverageThreshold") if path and not given else None
    return Limits("jest", "" if given else path, line, measures, from_files or (None if unknown else False))


def _vitest(tree: Tree, command: Command) -> Limits | None:
    path = vitest.config_path(tree, tree.relative(command.cwd), vitest.words_of(command.argv))
    config = load(tree, path) if path else None
    coverage = table(config, "test", "coverage")
    found = table(coverage, "thresholds")
    if not path or not isinstance(found, dict) or not any(k in found for k in (*_KEYS, "100", "perFile")):
        return None
    names = {w.partition("=")[0] for w in command.argv}
    on = (
        any(n == "--coverage" or n.startswith("--coverage.") for n in names)
        and "--coverage.enabled=false" not in command.argv
    )
    own = coverage.get("enabled")
    measures = (
        on or own is True or (None if isinstance(own, Unknown) or (own is None and not is_whole(coverage)) else False)
    )
    return Limits("vitest", path, line_of(tree, path, coverage, "thresholds"), measures)


def _istanbul(tree: Tree, command: Command) -> Limits | None:
    tool, argv = command.argv[0], command.argv
    words = [w for w in argv[1:] if not w.startswith("-")]
    if words[:1] in (["report"], ["check-coverage"], ["instrument"], ["merge"]):
        return None
    path, config = _settings(tree, tree.relative(command.cwd), tool)
    if any(
        w.startswith(("--check-coverage", "--100", "--checkCoverage", "--nycrc-path", "--config", "-c")) for w in argv
    ):
        return None
    given = any(w.partition("=")[0] in [f"--{k}" for k in _KEYS] for w in argv)
    if not given and not any(key in config for key in _KEYS):
        return None
    measures = True if _is_on(config) else None if config.get("extends") or not is_whole(config) else False
    place = ("", None) if given else (path, _line(tree, path, config))
    return Limits(tool, *place, measures, option="--check-coverage", is_meant=_given(config) is False)


def _is_on(config: Mapping[str, Any]) -> bool:
    return _given(config) is True


def _given(config: Mapping[str, Any]) -> Any:
    return config.get("check-coverage", config.get("checkCoverage"))


def _line(tree: Tree, path: str, config: Mapping[str, Any]) -> int | None:
    return line_of(tree, path, config, next((k for k in _KEYS if k in config), "lines"))


def _settings(tree: Tree, folder: str, tool: str) -> tuple[str, Mapping[str, Any]]:
    for stem in _FILES[tool]:
        path = config_in(tree, folder, stem, ("", ".json", ".yaml", ".yml", ".js", ".cjs", ".mjs"))
        found = load(tree, path) if path else None
        if path and isinstance(found, dict):
            return path, found
    path = join(folder, "package.json")
    package = tree.json(path) if path in tree.known else None
    own = next((o for key in (tool, "nyc") if isinstance(o := table(package, key), dict)), None)
    return (path, own) if own is not None else ("", {})


_READERS = {"jest": _jest, "vitest": _vitest, "nyc": _istanbul, "c8": _istanbul}
