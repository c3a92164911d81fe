"""Maven with surefire or failsafe: `Tests run: 3, ...` at the end of each module; with -q its report files."""

import re
from collections.abc import Sequence

from gate.tools.formats import read_junit_files
from gate.tools.tool import Counts, Ran, closing_line, per_line, tally

NAME = "maven surefire"
KIND = "test"

_GOALS = {"test", "package", "verify", "install", "deploy", "integration-test"}
_MODULE = per_line(
    r"^[^\n]{0,40}?Tests run: (?P<run>\d+), "
    r"Failures: (?P<failures>\d+), Errors: (?P<errors>\d+), Skipped: (?P<skipped>\d+)$"
)
_NONE = closing_line(r"(?:No tests to run\.|Tests are skipped\.|No tests were executed)")


def matches(argv: Sequence[str]) -> bool:
    """Return whether Maven goes through its test phase; with a flag that skips tests it is a build."""
    wanted = goals(argv)
    tests = _GOALS & wanted or any(goal.startswith(("surefire:", "failsafe:")) for goal in wanted)
    return bool(tests) and not skips_tests(argv)


def goals(argv: Sequence[str]) -> set[str]:
    """Return the goals of a Maven command line, none for another program."""
    if argv[0] not in {"mvn", "mvnw", "mvnd"}:
        return set()
    return {word for word in argv[1:] if not word.startswith("-")}


def skips_tests(argv: Sequence[str]) -> bool:
    """Return whether a flag skips the tests."""
    return any(re.match(r"-D(?:skipTests|maven\.test\.skip)(?:=true)?$", word) for word in argv)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed in all modules."""
    modules = list(_MODULE.finditer(ran.output))
    if modules:
        run, skipped = (sum(int(m[key]) for m in modules) for key in ("run", "skipped"))
        failed = sum(int(m["failures"]) + int(m["errors"]) for m in modules)
        return tally(NAME, run - skipped, skipped=skipped, failed=failed)
    folders = {invocation.cwd for invocation in ran.invocations}
    pattern = "target/*-reports/TEST-*.xml"
    files = {p for folder in folders for depth in ("", "*/", "*/*/") for p in folder.glob(depth + pattern)}
    found = read_junit_files(sorted(files), since=ran.since)
    if found is not None:
        return tally(NAME, found[0], skipped=found[1], failed=found[2])
    return Counts(tests=0, hollow="maven ran no tests") if _NONE.search(ran.output) else Counts()
