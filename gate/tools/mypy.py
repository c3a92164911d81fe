"""mypy: `Success: no issues found in 3 source files`, `Found 1 error in 1 file (checked 3 source files)`."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, hidden

NAME = "mypy"
KIND = "typecheck"

_CLOSING = closing_line(
    r"(?:Success: no issues found in|Found \d+ errors? in \d+ files? \(checked) (?P<files>\d+) source files?"
)
_ERRORS = closing_line(r"(?:Success: no issues found|Found (\d+) errors? in \d+ files?)")
_NONE = closing_line(r"There are no \.py\[i\] files in|Nothing to do\?!")


def matches(argv: Sequence[str]) -> bool:
    """Return whether mypy checks something."""
    if argv[0] == "dmypy":
        return bool({"run", "check"} & set(argv[1:2]))
    return argv[0] == "mypy" and not {"--version", "-V", "--help", "-h"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return how many source files mypy checked."""
    lines = ran.closing(_CLOSING)
    if lines:
        files = sum(int(line["files"]) for line in lines)
        return Counts(files=files, failed=hidden(ran, _ERRORS), hollow="" if files else "mypy checked no file")
    return Counts(files=0, hollow="mypy found no file to check") if _NONE.search(ran.output) else Counts()
