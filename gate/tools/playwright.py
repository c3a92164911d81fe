"""Playwright Test: `3 passed (2.1s)` with failed, flaky, skipped and interrupted before it; or its JSON.

Retries that helped (flaky) count as executed once. A test that is expected to fail is strict here and counts.
"""

from collections.abc import Sequence

from gate.tools.formats import read_printed
from gate.tools.tool import PREFIX, Counts, Ran, closing_line, per_line, tally

NAME = "playwright"
KIND = "test"

_LINE = PREFIX + r"(?P<count>\d+) (?P<word>failed|flaky|skipped|passed|interrupted|did not run)\b(?: \([^)\n]*\))?$"
_CLOSING = per_line(_LINE)
_STATS = per_line(r'"expected": (\d+),\s*"skipped": (\d+),\s*"unexpected": (\d+),\s*"flaky": (\d+)')
_RUNNING = closing_line(r"Running (\d+) tests? using \d+ workers?")


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is `playwright test`."""
    return argv[0] == "playwright" and argv[1:2] == ("test",) and "--list" not in argv


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    stats = ran.closing(_STATS)
    if stats:
        expected, skipped, failed, flaky = (sum(int(line[i]) for line in stats) for i in (1, 2, 3, 4))
        return tally(NAME, expected + failed + flaky, skipped=skipped, failed=failed)
    runs = _runs(ran.output)
    if not runs:
        printed = read_printed(NAME, ran)
        if printed is not None:
            return printed
        nothing = "No tests found" in ran.output or any("--pass-with-no-tests" in i.argv for i in ran.invocations)
        return Counts(tests=0, hollow="playwright found no tests") if nothing else Counts()
    if all(invocation.sure for invocation in ran.invocations):
        runs = runs[-len(ran.invocations) :]
    failed = sum(n.get("failed", 0) + n.get("interrupted", 0) for n in runs)
    done = sum(n.get("passed", 0) + n.get("flaky", 0) for n in runs) + failed
    return tally(NAME, done, skipped=sum(n.get("skipped", 0) + n.get("did not run", 0) for n in runs), failed=failed)


def _runs(output: str) -> list[dict[str, int]]:
    """Return the closing words of each run, from its `Running N tests` on; within a run the last of a word counts."""
    starts = [match.end() for match in _RUNNING.finditer(output)]
    ends = [*starts[1:], len(output)][: len(starts)]
    return [
        {m["word"]: int(m["count"]) for m in _CLOSING.finditer(output, start, end)}
        for start, end in zip(starts, ends, strict=True)
    ]
