"""PHPUnit, paratest and pest: `OK (3 tests, 5 assertions)`, or `Tests: 3, Assertions: 3, Skipped: 1.`"""

import re
from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, numbers, tally

NAME = "phpunit"
KIND = "test"

_CLOSING = closing_line(
    r"OK \((?P<ok>\d+) tests?, \d+ assertions?\)"
    r"|Tests: (?P<tests>\d+), Assertions: \d+(?P<rest>(?:, [A-Za-z ]+: \d+)*)\.?"
    r"|Tests: +(?P<pest>\d+ [a-z]+(?:, \d+ [a-z]+)*) \(\d+ assertions?\)"
)
_NONE = closing_line(r"No tests (?:executed!|found)|^ *INFO +No tests found")


def matches(argv: Sequence[str]) -> bool:
    """Return whether PHP tests run."""
    if argv[0] == "artisan" or argv[:2] == ("php", "artisan"):
        return "test" in argv[1:3]
    program = argv[1].rsplit("/", 1)[-1] if argv[0] == "php" and len(argv) > 1 else argv[0]
    known = program in {"phpunit", "paratest", "pest", "simple-phpunit", "phpunit.phar"}
    return known and not {"--version", "--list-tests"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed; risky ones ran, skipped and incomplete ones did not."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts(tests=0, hollow="phpunit executed no test") if _NONE.search(ran.output) else Counts()
    tests = skipped = failed = 0
    for line in lines:
        if line["ok"]:
            tests += int(line["ok"])
            continue
        if line["pest"]:
            n = numbers(line["pest"])
            failed += n.get("failed", 0)
            skipped += n.get("skipped", 0) + n.get("todo", 0) + n.get("incomplete", 0)
            tests += n.get("passed", 0) + n.get("failed", 0) + n.get("risky", 0) + n.get("warnings", 0)
            continue
        named = {word.strip().lower(): int(n) for word, n in re.findall(r", ([A-Za-z ]+): (\d+)", line["rest"])}
        left_out = named.get("skipped", 0) + named.get("incomplete", 0)
        skipped += left_out
        failed += named.get("failures", 0) + named.get("errors", 0)
        tests += int(line["tests"]) - left_out
    return tally(NAME, tests, skipped=skipped, failed=failed)
