"""Where tools of Python find their settings: the first file, from a folder upwards, that has their table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.tree import Tree
from gate.tools.tool import Invocation

# folders of Python files that are no product: nobody promised to check them
ASIDE = frozenset({
    "tests", "test", "testing", "docs", "doc", "examples", "example", "samples", "demo", "demos", "bench", "benchmark", "benchmarks",
    "scripts", "script", "tools", "migrations", "alembic", "notebooks", "tutorials", "ci", "conf", "_vendor", "vendored", "_vendored",
    "extern", "data", "contrib", "typings", "stubs", "proto", "e2e", "integration", "playground", "recipes", "hack",
})  # fmt: skip
_LOOSE = {
    "setup.py",
    "conftest.py",
    "noxfile.py",
    "manage.py",
    "tasks.py",
    "fabfile.py",
    "dodo.py",
    "versioneer.py",
    "_version.py",
}


class Settings(NamedTuple):
    """A table of settings, the file that holds it, and the folder (empty for the root) for which it counts."""

    path: str
    folder: str
    table: Mapping[str, Any]

    def words(self, key: str) -> list[str]:
        """Return a setting as a list: of a list, of lines, or of words with commas or blanks between them."""
        value = self.table.get(key)
        if isinstance(value, list):
            return [str(v) for v in value]
        return str(value).replace(",", " ").split() if isinstance(value, str) else []

    def is_on(self, key: str) -> bool:
        """Return whether a switch is set."""
        return str(self.table.get(key, "")).lower() in ("true", "yes", "on", "1")


def settings(tree: Tree, places: Sequence[tuple[str, tuple[Any, ...]]], folder: str) -> Settings | None:
    """Return the settings that count in a folder, None where there are none."""
    while True:
        for name, keys in places:
            path = f"{folder}/{name}" if folder else name
            if path in tree.known and (found := _read(tree, path, keys)) is not None:
                return Settings(path, folder, found)
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def runs(repo: Repository, *names: str) -> Iterator[tuple[Check, Invocation, str]]:
    """Yield each run of some tools, with the folder (empty for the root) in which it starts."""
    for at in repo.checks:
        for run in at.runs:
            if run.tool.NAME in names:
                folder = repo.tree.relative(run.cwd)
                yield at, run, "" if folder == "." or folder.startswith("..") else folder


def paths_of(run: Invocation, values: frozenset[str] = frozenset()) -> list[str]:
    """Return the words of a run that are no options; `values` are options whose next word is their value."""
    found, skip = list[str](), False
    for word in run.words:
        if skip:
            skip = False
        elif word in values:
            skip = True
        elif not word.startswith("-"):
            found.append(word)
    return found


def below(folder: str, path: str) -> str:
    """Return a path as it is named from a folder, plain."""
    parts = [p for p in f"{folder}/{path}".split("/") if p not in ("", ".")]
    while ".." in parts[1:]:
        at = parts.index("..", 1)
        del parts[at - 1 : at + 1]
    return "/".join(parts)


def product(tree: Tree) -> list[str]:
    """Return the Python files that people ship: none of tests, docs, examples, scripts or generated folders."""
    return tree.once("python-product", lambda: [p for p in tree.sources(".py") if _is_product(p)])


def _is_product(path: str) -> bool:
    *folders, name = path.split("/")
    if name in _LOOSE or name.startswith("test_") or name.endswith(("_test.py", "_pb2.py", "_pb2_grpc.py")):
        return False
    return not any(
        f.lower() in ASIDE
        or f.startswith((".", "test_", "tests_", "docs_", "doc_", "examples_"))
        or f.endswith("_tests")
        for f in folders
    ) and bool(folders)


def _read(tree: Tree, path: str, keys: tuple[str, ...]) -> Mapping[str, Any] | None:
    found: Any = tree.toml(path) if path.endswith(".toml") else tree.ini(path)
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None
