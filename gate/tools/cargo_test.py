"""cargo test: one `test result:` line for each test binary; cargo nextest: its summary.

Only the last such line of a binary is its own, since tests may print others. A target without the harness prints none.
"""

import re
from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, tally

NAME = "cargo test"
KIND = "test"

_BINARY = closing_line(r"(?:Running (?:unittests )?[^\n]+ \([^\n]+\)|Doc-tests \S+)$")
_RUNNING = closing_line(r"running \d+ tests?$")
_RESULT = closing_line(
    r"test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored;"
)
_NEXTEST = closing_line(r"Summary \[[^\]]*\] (?P<run>\d+)(?:/\d+)? tests? run: (?P<rest>[^\n]*)")


def matches(argv: Sequence[str]) -> bool:
    """Return whether Rust tests run."""
    words = [word for word in argv[1:] if not word.startswith("+")]
    if argv[0] == "cargo-nextest" or (argv[0] == "cargo" and words[:1] == ["nextest"]):
        return "run" in argv or "r" in words[1:2]
    if argv[0] == "cargo" and words[:1] in (["llvm-cov"], ["tarpaulin"]):
        return not {"report", "clean", "show-env", "--no-run"} & set(words)
    if argv[0] == "cross":
        return words[:1] == ["test"]
    return argv[0] == "cargo" and words[:1] in (["test"], ["t"]) and not {"--no-run", "--list"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed in all test binaries."""
    summaries = ran.closing(_NEXTEST)
    if summaries:
        n = [
            {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|skipped)", s["rest"])}
            for s in summaries
        ]
        skipped, failed = (sum(x.get(word, 0) for x in n) for word in ("skipped", "failed"))
        return tally(NAME, sum(int(s["run"]) for s in summaries), skipped=skipped, failed=failed)
    results = _results(ran.output)
    if not results:
        return Counts()
    passed, failed, ignored = (sum(int(r[key]) for r in results) for key in ("passed", "failed", "ignored"))
    return tally(NAME, passed + failed, skipped=ignored, failed=failed)


def _results(output: str) -> list[re.Match[str]]:
    """Return the last result of each test binary; with -q only `running N tests` tells where one begins."""
    starts = [match.start() for match in _BINARY.finditer(output)]
    starts = starts or [match.start() for match in _RUNNING.finditer(output)]
    ends = [*starts[1:], len(output)][: len(starts)]
    found = []
    for start, end in zip(starts, ends, strict=True):
        found += list(_RESULT.finditer(output, start, end))[-1:]
    return found
