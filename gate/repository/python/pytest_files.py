"""Which files pytest and unittest collect, by their settings and the paths that they are given."""

from collections.abc import Iterator
from fnmatch import fnmatch
from typing import NamedTuple

from gate.integrity.configs import PYTHON
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.python.config import Settings, below, paths_of, runs, settings
from gate.repository.tree import Tree
from gate.tools.tool import Invocation

_VALUES = frozenset({
    "-k", "-m", "-n", "-p", "-c", "-o", "-W", "-r", "--deselect", "--ignore", "--ignore-glob", "--cov-report", "--junitxml", "--tb",
    "--durations", "--maxfail", "--dist", "--rootdir", "--confcutdir", "--basetemp", "--color", "--timeout", "--import-mode", "--log-level",
    "--cov-config", "--junit-xml", "--override-ini", "--numprocesses", "--reruns", "--config-file", "--ds", "--cov-fail-under", "--splits", "--group",
})  # fmt: skip
_BARRED = ["*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}"]


class Collected(NamedTuple):
    """One run of pytest: the files that it takes for tests, and those below its paths whose names it does not fit."""

    at: Check
    settings: Settings | None
    patterns: tuple[str, ...]
    files: frozenset[str]
    passed_over: tuple[str, ...]


def collected(repo: Repository) -> tuple[Collected, ...] | None:
    """Return what each run collects; None where a run's words or a hook leave that open."""
    return repo.tree.once("pytest-collected", lambda: _all(repo))


def _all(repo: Repository) -> tuple[Collected, ...] | None:
    if any(_collects_itself(repo.tree.text(path) or "") for path in repo.tree.named("**/conftest.py")):
        return None
    found = list[Collected]()
    for at, run, folder in runs(repo, "pytest", "unittest"):
        is_pytest = run.tool.NAME == "pytest"
        words = paths_of(run, _VALUES if is_pytest else frozenset({"-p", "-t", "-s", "-k"}))
        if (
            any("$" in w or "*" in w or "{" in w for w in run.words)
            or "--pyargs" in run.argv
            or "python_files" in " ".join(run.argv)
        ):
            return None
        if not is_pytest:
            if run.argv[0] != "unittest":
                return None  # Django's
            script = _script(repo.tree, at, run)
            if script:
                found.append(Collected(at, None, (), frozenset({script}), ()))
            else:
                found.append(_unittest(repo.tree, at, list(run.argv), folder, words))
            continue
        own = settings(repo.tree, PYTHON["pytest"], folder)
        root = own.folder if own else folder
        patterns = (own.words("python_files") if own else []) or ["test_*.py", "*_test.py"]
        barred = (own.words("norecursedirs") if own else []) or _BARRED
        named = [below(folder, w.partition("::")[0]) for w in words]
        listed = [below(root, p) for p in own.words("testpaths")] if own and folder == root else []
        starts = named or [s for s in listed if s in repo.tree.folders or s in repo.tree.known or "*" in s] or [folder]
        inside = [p for p in _python(repo.tree) if any(_in(p, s) for s in starts) and not _is_barred(p, barred, starts)]
        taken = {p for p in inside if p in named or any(_fits(p, pattern) for pattern in patterns)}
        found.append(Collected(at, own, tuple(patterns), frozenset(taken), tuple(p for p in inside if p not in taken)))
    return tuple(found)


def _script(tree: Tree, at: Check, run: Invocation) -> str:
    """Return the file that runs its own tests, `python tests.py`; empty for `python -m unittest`."""
    if len(run.argv) > 1 or run.launcher[-2:] == ("python", "-m"):
        return ""
    started = [c for c in at.commands if c.argv[0] == "python" and c.cwd == run.cwd]
    paths = [tree.relative(run.cwd / w) for c in started for w in c.argv[1:] if w.endswith(".py")]
    return next((p for p in paths if p in tree.known), "")


def _unittest(tree: Tree, at: Check, argv: list[str], folder: str, words: list[str]) -> Collected:
    named = [w for w in words if w != "discover"]
    start = argv[argv.index("-s") + 1] if "-s" in argv[:-1] else named[0] if "discover" in words and named else "."
    pattern = argv[argv.index("-p") + 1] if "-p" in argv[:-1] else "test*.py"
    if named and "discover" not in words:
        paths = {below(folder, n if n.endswith(".py") else n.replace(".", "/") + ".py") for n in named}
        return Collected(at, None, (pattern,), frozenset(p for p in _python(tree) if p in paths), ())
    inside = [p for p in _python(tree) if _in(p, below(folder, start))]
    taken = {p for p in inside if _fits(p, pattern)}
    return Collected(at, None, (pattern,), frozenset(taken), tuple(p for p in inside if p not in taken))


def _python(tree: Tree) -> list[str]:
    return tree.once("python-files", lambda: list(tree.sources(".py")))


def _in(path: str, start: str) -> bool:
    return not start or path == start or path.startswith(f"{start}/") or ("*" in start and fnmatch(path, f"{start}*"))


def _fits(path: str, pattern: str) -> bool:
    return fnmatch(path if "/" in pattern else path.rpartition("/")[2], f"*{pattern}" if "/" in pattern else pattern)


def _is_barred(path: str, barred: list[str], starts: list[str]) -> bool:
    folders = path.split("/")[:-1]
    whole = ["/".join(folders[:end]) for end in range(1, len(folders) + 1)]
    return any(fnmatch(f if "/" in p else f.rpartition("/")[2], p) for f in whole if f not in starts for p in barred)


def _collects_itself(text: str) -> bool:
    return "pytest_collect_file" in text or "pytest_pycollect" in text


def test_files(tree: Tree) -> Iterator[str]:
    """Yield the files that look like tests by their name."""
    return (
        p for p in _python(tree) if p.rpartition("/")[2].startswith("test") or p.endswith(("_test.py", "_tests.py"))
    )
