"""jest: `Tests: 1 failed, 2 skipped, 3 passed, 6 total`; with `--json` and a silent reporter its JSON."""

from collections.abc import Sequence

from gate.tools.formats import is_asked_to_print, read_printed
from gate.tools.tool import Counts, Ran, closing_line, numbers, per_line, tally

NAME = "jest"
KIND = "test"

_CLOSING = closing_line(r"Tests: +(?P<counts>(?:\d+ [a-z]+, )*\d+ total)")
_NONE = per_line(r"^No tests found")
_STARTERS = {
    "react-scripts",
    "craco",
    "react-app-rewired",
    "ng",
    "vue-cli-service",
    "wp-scripts",
    "tsdx",
    "kcd-scripts",
}


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is a jest run, also through the frameworks that start it."""
    if argv[0] in _STARTERS:
        return "test" in argv[1:2] or "test:unit" in argv[1:2]
    return argv[0] in {"jest", "jest-cli"} and not {"--listTests", "--version", "--showConfig"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed."""
    lines = [] if is_asked_to_print(ran) else ran.closing(_CLOSING)
    if not lines:
        printed = read_printed(NAME, ran)
        if printed is not None:
            return printed
        return Counts(tests=0, hollow="jest found no tests") if _NONE.search(ran.output) else Counts()
    found = [numbers(line["counts"]) for line in lines]
    failed = sum(n.get("failed", 0) for n in found)
    left_out = sum(n.get("skipped", 0) + n.get("todo", 0) + n.get("pending", 0) for n in found)
    return tally(NAME, sum(n.get("passed", 0) for n in found) + failed, skipped=left_out, failed=failed)
