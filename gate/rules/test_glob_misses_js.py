"""Files hold tests that no pattern of their runner collects (JavaScript, TypeScript)."""

from collections.abc import Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.javascript.collecting import by_scripts, gated, reached, whereabouts
from gate.repository.javascript.collecting.collection import Collection
from gate.repository.javascript.packages import home, is_below, packages
from gate.repository.javascript.tests import ANY, test_files
from gate.repository.opening import Repository

ID = "test-glob-misses"
SUMMARY = (
    "files hold tests (`describe`, `it`, `test` of the runner that the gate runs), and no pattern of it collects them:\n"
    "jest, vitest, mocha, `node --test`, Playwright, bun, with their projects and workspaces. They are green for ever.\n"
    "Next: widen the pattern, or rename the files. A warning where the configuration leaves them out by name."
)
_FAMILIES = {
    "jest": "jest",
    "vitest": "vitest",
    "mocha": "mocha",
    "node --test": "node",
    "playwright": "playwright",
    "bun": "bun",
}
_WILD = later(r"[*?{}()\[\]+!]")
_NOT_RUN = {
    "template",
    "templates",
    "__mocks__",
    "stubs",
    "examples",
    "example",
    "demo",
    "demos",
    "cypress",
    "sandbox",
    "playground",
}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each set of patterns, with all files that it misses."""
    collected = gated(repo)
    if not collected.runs:
        return
    missed: dict[tuple[int, bool], list[str]] = {}
    for file, family in test_files(repo.tree).items():
        at, named = _owner(repo, file, family)
        if at is not None:
            missed.setdefault((at, named), []).append(file)
    for (at, named), files in missed.items():
        one, where, command = collected.runs[at]
        yield _finding(one, f"{where.name}: ", whereabouts(repo, one, where, command), files, named=named)


def _owner(repo: Repository, file: str, family: str) -> tuple[int | None, bool]:
    """Return which run should have collected a file and does not, and whether it leaves the file out by name."""
    runs, unknown = gated(repo)
    fitting = [i for i, (one, _, _) in enumerate(runs) if _fits(one, family)]
    if any(runs[i][0].takes(file) for i in fitting) or not _NOT_RUN.isdisjoint(file.split("/")[:-1]):
        return None, False
    owners = [i for i in fitting if is_below(file, runs[i][0].folder) and _is_home(repo, file, runs[i][0].folder)]
    if not owners or any(is_below(file, folder) for folder in unknown):
        return None, False
    if file in reached(repo) or _is_sample(repo, file, family):
        return None, False  # a file that is collected imports it, or reads it
    if any(one.takes(file) for one in by_scripts(repo)):
        return None, False  # script-not-wired names the script that would run it
    at = max(owners, key=lambda i: len(runs[i][0].folder))
    return at, any(runs[i][0].fits(file) for i in owners)


def _is_sample(repo: Repository, file: str, family: str) -> bool:
    """Return whether a file says nobody's name and lies beside a test that is collected by a name without wildcards.

    A folder of samples each has its `format.test.js`, which reads the others.
    """
    if family != ANY:
        return False
    names = {p.rpartition("/")[2] for one, _, _ in gated(repo).runs for p in one.patterns if "/" in p}
    folder = file.rpartition("/")[0]
    return any(
        not _WILD.search(name) and f"{folder}/{name}" in repo.tree.known and file != f"{folder}/{name}"
        for name in names
    )


def _fits(one: Collection, family: str) -> bool:
    return family == _FAMILIES[one.runner] or (
        family == ANY and one.globals and one.runner in ("jest", "mocha", "vitest")
    )


def _is_home(repo: Repository, file: str, folder: str) -> bool:
    """Return whether a file belongs to the package of a folder: a package between them has tests of its own."""
    own = home(repo.tree, file)
    if is_below(folder, own):
        return True
    member = packages(repo.tree)[own]
    return not member.scripts and not member.found.get("devDependencies") and not member.found.get("dependencies")


def _finding(one: Collection, who: str, where: tuple[str, int | None], files: list[str], *, named: bool) -> Finding:
    patterns = ", ".join(f"`{p}`" for p in one.patterns[:4]) + (", …" if len(one.patterns) > 4 else "")
    many = f"{len(files)} files" if len(files) > 1 else "1 file"
    if named:
        message = f"{who}{one.runner} is told to leave out {many} with tests"
    else:
        message = f"{who}{one.runner} collects only {patterns}, so the tests in {many} never run"
    return Finding(
        ID, Level.WARNING if named else Level.ERROR, message, *where, tuple(sorted(files)), len(files),
        fix="run them in another step, or delete them" if named else "widen the pattern, or rename the files", reproduce=one.ask,
    )  # fmt: skip
