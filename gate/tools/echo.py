"""echo and printf: nothing of evidence, but a command that prints the closing line of a tool that it also runs lies."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Invocation, Ran

NAME = "echo"
KIND = "runner"


def matches(argv: Sequence[str]) -> bool:
    """Return whether a number is printed."""
    return argv[0] in {"echo", "printf"} and any(char.isdigit() for word in argv[1:] for char in word)


def read(ran: Ran) -> Counts:
    """Return nothing: printing is no work."""
    del ran
    return Counts()


def printed(invocations: Sequence[Invocation]) -> str:
    """Return what the echo and printf commands among these print, as far as their words tell."""
    lines = [" ".join(i.argv[1:]) for i in invocations if matches(i.argv)]
    return "\n".join(lines).replace("\\n", "\n").replace("\\t", "\t").replace("%%", "%")
