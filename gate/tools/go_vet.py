"""go vet, go build and staticcheck-like tools: silent, so go is asked how many files the packages have (`go list`)."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Invocation, Ran, total

NAME = "go vet"
KIND = "lint"

_FORMAT = "{{len .GoFiles}} {{len .CgoFiles}} {{len .TestGoFiles}} {{len .XTestGoFiles}}"


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is `go vet`."""
    return argv[0] == "go" and argv[1:2] == ("vet",)


def read(ran: Ran) -> Counts:
    """Return how many Go files were looked at."""
    if ran.exit_code != 0:
        return Counts()
    files = total([_files(invocation, ran) for invocation in ran.invocations])
    return Counts(files=files, hollow="go vet looked at no file" if files == 0 else "")


def _files(invocation: Invocation, ran: Ran) -> int | None:
    words = [w for w in invocation.words[1:] if not w.startswith("-") or w.startswith("-tags")]
    answer = ran.asker.ask(["go", "list", "-f", _FORMAT, *words], cwd=invocation.cwd)
    return None if answer is None else sum(int(n) for n in answer.split())
