"""Maven with surefire or failsafe: `Tests run: 3, ...` at the end of each module; with -q its report files."""

from collections.abc import Sequence

from gate.tools.formats import read_junit_files
from gate.tools.tool import Counts, Line, Ran, closing_line, tally

NAME = "maven surefire"
KIND = "test"

_GOALS = {"test", "package", "verify", "install", "deploy", "integration-test"}
_MODULE = Line(
    r"^[^\n]{0,40}?Tests run: (?P<run>\d+), "
    r"Failures: (?P<failures>\d+), Errors: (?P<errors>\d+), Skipped: (?P<skipped>\d+)$"
)
_NONE = closing_line(r"(?:No tests to run\.|Tests are skipped\.|No tests were executed)")


def matches(argv: Sequence[str]) -> bool:
    """Return whether Maven goes through its test phase."""
    goals = {word for word in argv[1:] if not word.startswith("-")}
    return argv[0] in {"mvn", "mvnw", "mvnd"} and bool(
        _GOALS & goals or any(goal.startswith(("surefire:", "failsafe:")) for goal in goals)
    )


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
