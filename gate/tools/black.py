"""black: `3 files would be left unchanged.`, `1 file would be reformatted, ...`."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, per_line

NAME = "black"
KIND = "lint"

_COUNT = per_line(r"\b(\d+) files? (?:would be )?(?:left unchanged|reformatted|failed to reformat)")
_NONE = per_line(r"No Python files are present to be formatted|No Path provided\. Nothing to do")


def matches(argv: Sequence[str]) -> bool:
    """Return whether black looks at files."""
    return argv[0] == "black" and "--version" not in argv


def read(ran: Ran) -> Counts:
    """Return how many files black looked at."""
    found = _COUNT.findall(ran.output)
    if found:
        return Counts(files=sum(int(n) for n in found))
    return Counts(files=0, hollow="black looked at no file") if _NONE.search(ran.output) else Counts()
