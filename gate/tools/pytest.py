"""pytest: its junit report where that collides with nothing of the user's, and its closing line.

The report is asked for through PYTEST_ADDOPTS, only for a step with exactly one pytest: two would write one file. Its
family is xunit1, since under xunit2 `record_property` warns, which `-W error` would turn into a failure. It is not
asked for where the command, the configuration or the environment mentions junit. The report takes tests that passed
although they were expected to fail (xpass) for passes, so the closing line is read beside it. A test with tests of its
own (pytester) prints closing lines, too; the outer one comes last.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from gate.commands.scripts import read_inside
from gate.tools.formats import read_junit_files
from gate.tools.tool import Counts, Invocation, Ran, per_line

NAME = "pytest"
KIND = "test"

_NAMES = {"pytest", "py.test", "pytest-3"}
_CONFIGS = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
_REPORT = "pytest.xml"
_WORDS = r"passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed|subtests failed"
_COUNTS = rf"\d+ (?:{_WORDS})(?:, \d+ (?:{_WORDS}))*"
_CLOSING = per_line(
    rf"^(?:[^\n=]*[>|:\]] )?=*[ ]?(?P<counts>{_COUNTS}|no tests (?:ran|collected)(?: \(\d+ deselected\))?)"
    rf"(?:, \d+ warnings?)? in \d[\d.:]*s?(?: \([\d:, a-z]+\))?[ ]?=*$"
    r"|^Results \([\d.]+s\):\n(?P<sugar>(?:\s+\d+ .*\n?)+)"
)
_NOTHING = 5  # exit code: no tests collected


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is pytest, unless it only collects or explains."""
    return argv[0] in _NAMES and not {"--version", "-V", "--help", "-h"} & set(argv)


def environment(invocations: Sequence[Invocation], scratch: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that makes pytest write its junit report into scratch."""
    present = env.get("PYTEST_ADDOPTS", "")
    if len(invocations) != 1 or not invocations[0].sure or "junit" in present:
        return {}
    if any("junit" in word for word in invocations[0].argv) or _mentions_junit(invocations[0].cwd):
        return {}
    report = shlex.quote(str(scratch / _REPORT))
    return {"PYTEST_ADDOPTS": f"{present} --junitxml={report} -o junit_family=xunit1".strip()}


def read(ran: Ran) -> Counts:
    """Return what pytest executed: passed, failed and errors; xfail and non-strict xpass are not results."""
    closing = _read_closing(ran)
    report = read_junit_files([ran.scratch / _REPORT], since=ran.since)
    if report is not None:
        tests, skipped, failed = report
        unexpected = closing["xpassed"] if closing is not None else 0
        return _counts(tests - unexpected, skipped + unexpected, failed)
    if closing is not None:
        return _counts(closing["tests"], closing["skipped"], closing["failed"])
    if ran.exit_code == _NOTHING:
        return Counts(tests=0, hollow="pytest collected no tests")
    return Counts()


def _counts(tests: int, skipped: int, failed: int) -> Counts:
    if tests > 0:
        return Counts(tests=tests, skipped=skipped, failed=failed)
    reason = (
        f"pytest executed no test: {skipped} skipped or expected to fail" if skipped else "pytest collected no tests"
    )
    return Counts(tests=0, skipped=skipped, failed=failed, hollow=reason)


def _read_closing(ran: Ran) -> dict[str, int] | None:
    lines = ran.closing(_CLOSING)
    if not lines:
        return None
    found = {"tests": 0, "skipped": 0, "failed": 0, "xpassed": 0}
    for line in lines:
        text = line["counts"] or line["sugar"] or ""
        n = {word: int(count) for count, word in re.findall(r"(\d+) (subtests \w+|[a-z]+)", text)}
        failed = n.get("failed", 0) + n.get("error", 0) + n.get("errors", 0)
        found["tests"] += n.get("passed", 0) + failed
        found["failed"] += failed
        found["skipped"] += n.get("skipped", 0) + n.get("xfailed", 0) + n.get("xpassed", 0)
        found["xpassed"] += n.get("xpassed", 0)
    return found


def _mentions_junit(cwd: Path) -> bool:
    for folder in (cwd, *cwd.parents):
        if any(b"junit" in (read_inside(folder / name, folder) or b"") for name in _CONFIGS):
            return True
        if (folder / ".git").exists():
            return False
    return False
