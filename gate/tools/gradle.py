"""gradle: prints no count, so the reports of its test tasks are read (`build/test-results`).

A report counts when this run wrote it, or when gradle says that its task is up to date or comes from the cache.
"""

import itertools
import re
from collections.abc import Sequence

from gate.tools.formats import read_junit_files
from gate.tools.tool import PREFIX, Counts, Ran, closing_line, per_line, tally

NAME = "gradle"
KIND = "test"

_TASK = per_line(
    PREFIX
    + r"(?:> Task )?:(?:\S+:)?(?P<name>\w*[tT]est\w*)(?: (?P<state>NO-SOURCE|UP-TO-DATE|FROM-CACHE|SKIPPED|FAILED))?$"
)
_RUN = closing_line(r"(?P<tests>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?")
_OTHERS = per_line(r"(?i)^(?:compile|process|jar|assemble|dex|merge|generate).*|.*classes$")


def matches(argv: Sequence[str]) -> bool:
    """Return whether gradle runs tests; `build` and `check` do, unless tests are excluded."""
    wanted = tasks(argv)
    runs = wanted & {"check", "build"} or any(re.fullmatch(r"test|\w*Tests?", word) for word in wanted)
    return bool(runs) and not skips_tests(argv)


def tasks(argv: Sequence[str]) -> set[str]:
    """Return the bare names of the tasks on a gradle command line, none for another program."""
    if argv[0] not in {"gradle", "gradlew"}:
        return set()
    excluded = {i + 1 for i, word in enumerate(argv) if word in {"-x", "--exclude-task"}}
    named = (word for i, word in enumerate(argv[1:], start=1) if i not in excluded and not word.startswith("-"))
    return {word.rsplit(":", 1)[-1] for word in named}


def skips_tests(argv: Sequence[str]) -> bool:
    """Return whether the test task is excluded."""
    pairs = itertools.pairwise(argv)
    return any(flag in {"-x", "--exclude-task"} and name.rsplit(":", 1)[-1] == "test" for flag, name in pairs)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed in all test tasks."""
    states = [m["state"] for m in _TASK.finditer(ran.output) if not _OTHERS.match(m["name"])]
    cached = any(state in {"UP-TO-DATE", "FROM-CACHE"} for state in states)
    pattern = "build/test-results/**/TEST-*.xml"
    folders = {invocation.cwd for invocation in ran.invocations}
    files = {p for folder in folders for depth in ("", "*/", "*/*/") for p in folder.glob(depth + pattern)}
    found = read_junit_files(sorted(files), since=0 if cached else ran.since)
    if found is not None:
        return tally(NAME, found[0], skipped=found[1], failed=found[2])
    completed = list(_RUN.finditer(ran.output))
    if completed:
        tests, failed, skipped = (sum(int(m[i] or 0) for m in completed) for i in (1, 2, 3))
        return tally(NAME, tests - skipped, skipped=skipped, failed=failed)
    if states and all(state in {"NO-SOURCE", "SKIPPED"} for state in states):
        return Counts(tests=0, hollow="gradle executed no test: its test tasks have no sources or were skipped")
    return Counts()
