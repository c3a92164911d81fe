"""pre-commit (and prek): one line for each hook. What is counted as `files` are the hooks that had files to look at."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line

NAME = "pre-commit"
KIND = "lint"

_HOOK = closing_line(r"[^\n]*?\.{3,}(?:\([^)\n]*\))?(?P<result>Passed|Failed|Skipped)$")


def matches(argv: Sequence[str]) -> bool:
    """Return whether hooks run."""
    return argv[0] in {"pre-commit", "prek", "pre_commit"} and argv[1:2] in (("run",), (), ("-a",), ("--all-files",))


def read(ran: Ran) -> Counts:
    """Return how many hooks looked at something."""
    results = [match["result"] for match in _HOOK.finditer(ran.output)]
    if not results:
        return Counts()
    hooks = len(results) - results.count("Skipped")
    reason = "" if hooks else f"pre-commit had no files for any of its {len(results)} hooks"
    return Counts(files=hooks, skipped=None, hollow=reason)
