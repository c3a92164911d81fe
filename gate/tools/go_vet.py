"""go vet: silent, so after a passing step go is asked how many files the packages have (`go list`, 0.1-1 s)."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Invocation, Ran, asked

NAME = "go vet"
KIND = "lint"

_FORMAT = "{{len .GoFiles}} {{len .CgoFiles}} {{len .TestGoFiles}} {{len .XTestGoFiles}}"


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is `go vet`."""
    return argv[0] == "go" and argv[1:2] == ("vet",)


def read(ran: Ran) -> Counts:
    """Return how many Go files were looked at."""
    return count_files(NAME, ran)


def count_files(tool: str, ran: Ran) -> Counts:
    """Return how many files the packages of a Go command line have, tests included."""
    if ran.exit_code != 0:
        return Counts()
    files = asked([_files(invocation, ran) for invocation in ran.invocations])
    return Counts(files=files, hollow=f"{tool} looked at no file" if files == 0 else "")


def _files(invocation: Invocation, ran: Ran) -> int | None:
    packages = [w for w in invocation.words if w.startswith((".", "/")) or "/..." in w]
    tags = [w for w in invocation.words if w.startswith("-tags=")]
    default = "./..." if invocation.argv[0] == "golangci-lint" else "."
    answer = ran.asker.ask(["go", "list", "-f", _FORMAT, *tags, *(packages or [default])], cwd=invocation.cwd)
    return None if answer is None else sum(int(n) for n in answer.split())
