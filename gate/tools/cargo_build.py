"""cargo build: `Compiling x v0.1.0` for each crate; nothing for one from the cache: then unknown."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line

NAME = "cargo build"
KIND = "build"

_CRATE = closing_line(r"Compiling \S+ v")


def matches(argv: Sequence[str]) -> bool:
    """Return whether cargo compiles something, documentation too."""
    words = [word for word in argv[1:] if not word.startswith("+")]
    return argv[0] == "cargo" and words[:1] in (["build"], ["b"], ["doc"])


def read(ran: Ran) -> Counts:
    """Return how many crates were compiled anew."""
    return Counts(files=len(_CRATE.findall(ran.output)) or None)
