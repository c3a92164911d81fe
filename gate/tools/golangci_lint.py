"""golangci-lint and staticcheck: no count, so go is asked how many files the packages have."""

from collections.abc import Sequence

from gate.tools.go_vet import count_files
from gate.tools.tool import Counts, Ran

NAME = "golangci-lint"
KIND = "lint"


def matches(argv: Sequence[str]) -> bool:
    """Return whether Go code is linted."""
    return argv[0] == "staticcheck" or (argv[0] == "golangci-lint" and "run" in argv[1:])


def read(ran: Ran) -> Counts:
    """Return how many Go files were looked at."""
    return count_files(NAME, ran)
