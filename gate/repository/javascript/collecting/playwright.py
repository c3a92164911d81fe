"""What Playwright collects: https://playwright.dev/docs/api/class-testconfig (testDir, testMatch, testIgnore, projects)."""

from collections.abc import Callable
from typing import Any

from gate.repository.javascript.collecting.collection import Collection, below, read_words
from gate.repository.javascript.configs import config_in, is_whole, join, line_of, load
from gate.repository.javascript.globs import matches
from gate.repository.javascript.values import Pattern
from gate.repository.patterns import searches
from gate.repository.tree import Tree
from gate.tools.tool import Invocation

RUNNER = "playwright"
_MATCH = ("**/*.@(spec|test).?(c|m)[jt]s?(x)",)
_VALUES = frozenset({
    "-c", "--config", "-g", "--grep", "-gv", "--grep-invert", "--reporter", "--project", "-j", "--workers", "--retries",
    "--shard", "--timeout", "--output", "--trace", "--global-timeout", "--max-failures", "--repeat-each", "--tsconfig",
})  # fmt: skip
_ENDINGS = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs")


def collect(tree: Tree, run: Invocation) -> list[Collection] | None:
    """Return what a run collects, one for each project; None where that cannot be known from files."""
    words = read_words(run.words, values=_VALUES)
    if "--project" in words.options or run.argv[1:2] != ("test",):
        return None
    cwd = tree.relative(run.cwd)
    named = words.last("-c", "--config")
    path = join(cwd, named) if named else config_in(tree, cwd, "playwright.config", _ENDINGS)
    if path in tree.folders and path:
        path = config_in(tree, path, "playwright.config", _ENDINGS)
    config: Any = load(tree, path) if path in tree.known and path else {}
    if not isinstance(config, dict) or not is_whole(config) or (named and path not in tree.known):
        return None
    listed = config.get("projects")
    if listed is not None and (not isinstance(listed, list) or not all(isinstance(p, dict) for p in listed)):
        return None
    folder = (path or "").rpartition("/")[0] or ("." if path else cwd)
    collections = list[Collection]()
    for project in listed or [{}]:
        one = _settle(tree, folder, path or "", {**config, **project})
        if one is None:
            return None
        filters = words.alone[1:]
        collections.append(_filtered(one, filters) if filters else one)
    return collections


def _settle(tree: Tree, folder: str, path: str, config: Any) -> Collection | None:
    top = config.get("testDir", ".")
    fits = _reader(config.get("testMatch", list(_MATCH)))
    out = _reader(config.get("testIgnore", []))
    if not isinstance(top, str) or fits is None or out is None:
        return None
    start = join(folder, top)

    def inside(file: str) -> bool:
        return below(file, start) is not None and fits(file)

    match = config.get("testMatch", _MATCH)
    shown = [str(getattr(m, "source", m)) for m in (match if isinstance(match, list | tuple) else [match])]
    key = "testMatch" if "testMatch" in config else "testDir"
    return Collection(
        RUNNER, folder, (f"{top}/", *shown) if top != "." else tuple(shown), path, line_of(tree, path, config, key) if path else None,
        inside, out, ask="npx playwright test --list", globals=False,
    )  # fmt: skip


def _reader(value: Any) -> Callable[[str], bool] | None:
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(v, str | Pattern) for v in listed):
        return None

    def fits(file: str) -> bool:
        return any(
            searches(v.source, f"/R/{file}") is not False if isinstance(v, Pattern) else matches(f"R/{file}", v if v.startswith("**") else f"**/{v}")
            for v in listed
        )  # fmt: skip

    return fits


def _filtered(one: Collection, filters: list[str]) -> Collection:
    return one._replace(
        fits=lambda file: any(searches(f.removeprefix("./"), f"/R/{file}", ignore_case=True) is not False for f in filters) and one.fits(file),
        patterns=tuple(filters), path="", line=None,
    )  # fmt: skip
