"""A file of PHP holds tests, and no suite of PHPUnit that runs takes it."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.phpunit_suites import PhpRun, configurations, php_runs

ID = "test-glob-misses"
SUMMARY = (
    "PHPUnit takes the folders of its suites, and in them only names that end in `Test.php`: tests in `tests/AT.php`, or in a "
    "folder that no suite names, never run.\nA warning where a suite has the file and no command runs that suite.\n"
    "Next: rename the file, or name its folder in a suite."
)
_CLASS = re.compile(r"^(?:(?:final|readonly)[ \t]+)*+class[ \t]+\w+\s+extends\s+[\w\\]{0,200}TestCase\b", re.M)
_CASE = re.compile(r"^[ \t]*(?:public\s+)?function\s+test\w*\s*\(|^[ \t]*\*\s*@test\b|^[ \t]*#\[(?:\w+\\)*Test\b", re.M)
_ASIDE = {
    "_files",
    "_fixtures",
    "stubs",
    "stub",
    "data",
    "_data",
    "resources",
    "fixtures",
    "fixture",
    "end-to-end",
    "static-analysis",
    "phpstan",
    "psalm",
    "mock",
    "mocks",
}
_TESTS = {"tests", "test", "unit", "integration", "functional", "feature"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each configuration that runs, with the files that it does not take."""
    runs = php_runs(repo, repo.gate)
    if not runs or any(p.rpartition("/")[2].startswith("codeception.") for p in repo.tree.files):
        return
    known, every = configurations(repo.tree), php_runs(repo, repo.checks)
    if every is None:
        return
    homes = _homes(repo)
    for config in dict.fromkeys(r.config for r in runs):
        own = [r for r in runs if r.config == config]
        groups: dict[Level, list[str]] = {}
        for path in homes.get(config.rpartition("/")[0], []):
            if any(s.takes(path) or s.leaves_out(path) for r in own for s in r.suites) or not _has_tests(repo, path):
                continue
            if not any(s.takes(path) for r in runs for s in r.suites):
                asked = any(s.takes(path) for suites in known.values() for s in suites)
                other = any(s.takes(path) for r in every for s in r.suites)
                groups.setdefault(Level.NOTE if other else Level.WARNING if asked else Level.ERROR, []).append(path)
        for level, files in groups.items():
            yield _finding(own[0], files, level)


def _finding(run: PhpRun, files: list[str], level: Level) -> Finding:
    held = [p for p in files if any(s.holds(p) for s in run.suites)]
    why = {Level.ERROR: "no suite takes them" if not held else "their names do not end as the suite asks"}
    return Finding(
        ID, level, f"{run.at.name}: tests that never run: {why.get(level, 'no command runs their suite')}", run.config, 1,
        files=tuple(sorted(files)), count=len(files), fix="rename the files to …Test.php, or name their folder in a suite",
        reproduce=f"phpunit -c {run.config} --list-tests | grep {files[0].rpartition('/')[2].removesuffix('.php')}",
    )  # fmt: skip


def _homes(repo: Repository) -> dict[str, list[str]]:
    """Return the PHP files in folders of tests, by the folder of the configuration that is nearest to each."""
    places = {c.rpartition("/")[0] for c in configurations(repo.tree)}
    found: dict[str, list[str]] = {}
    for path in repo.tree.sources(".php"):
        folder = path.rpartition("/")[0]
        parts = folder.lower().split("/")
        if not _ASIDE.isdisjoint(parts) or _TESTS.isdisjoint(parts):
            continue
        while folder and folder not in places:
            folder = folder.rpartition("/")[0]
        found.setdefault(folder, []).append(path)
    return found


def _has_tests(repo: Repository, path: str) -> bool:
    text = repo.tree.text(path) or ""
    return _CLASS.search(text) is not None and _CASE.search(text) is not None
