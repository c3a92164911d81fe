"""cargo clippy and cargo check: `Checking x v0.1.0` for each crate; nothing for one from the cache: then unknown."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line

NAME = "cargo clippy"
KIND = "lint"

_BROKEN = closing_line(r"error: could not compile `")
_CRATE = closing_line(r"(?:Checking|Compiling) \S+ v")


def matches(argv: Sequence[str]) -> bool:
    """Return whether cargo checks without running anything."""
    words = [word for word in argv[1:] if not word.startswith("+")]
    return argv[0] == "cargo" and words[:1] in (["clippy"], ["check"], ["c"])


def read(ran: Ran) -> Counts:
    """Return how many crates were checked anew."""
    hidden = 0 if ran.exit_code else len(_BROKEN.findall(ran.output))
    return Counts(files=len(_CRATE.findall(ran.output)) or None, failed=hidden or None)
