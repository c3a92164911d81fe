"""bun test: ` 3 pass`, ` 1 skip`, ` 0 fail`, then `Ran 4 tests across 1 file.`"""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, tally

NAME = "bun test"
KIND = "test"

_RAN = closing_line(r"Ran (?P<tests>\d+) tests? across (?P<files>\d+) files?")
_COUNT = closing_line(r"(?P<count>\d+) (?P<word>pass|fail|skip|todo|errors?)$")


def matches(argv: Sequence[str]) -> bool:
    """Return whether bun's own test runner runs."""
    return argv[0] == "bun" and argv[1:2] == ("test",)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    lines = ran.closing(_RAN)
    if not lines:
        return Counts()
    start = 0
    totals = {"pass": 0, "fail": 0, "skip": 0, "todo": 0}
    for line in lines:
        last = {m["word"]: int(m["count"]) for m in _COUNT.finditer(ran.output, start, line.start())}
        start = line.end()
        for word in totals:
            totals[word] += last.get(word, 0)
    return tally(NAME, totals["pass"] + totals["fail"], skipped=totals["skip"] + totals["todo"], failed=totals["fail"])
