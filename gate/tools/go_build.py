"""go build: silent, so go is asked how many files the packages have, as for go vet."""

from collections.abc import Sequence

from gate.tools.go_vet import count_files
from gate.tools.tool import Counts, Ran

NAME = "go build"
KIND = "build"


def matches(argv: Sequence[str]) -> bool:
    """Return whether Go packages are compiled."""
    return argv[0] == "go" and argv[1:2] in (("build",), ("install",))


def read(ran: Ran) -> Counts:
    """Return how many Go files were compiled."""
    return count_files(NAME, ran)
