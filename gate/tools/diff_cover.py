"""diff-cover: how much of a change was run by tests. Its files are counted; one of none, beside changed code, is red.

`No lines with coverage information in this diff.` is right for a change of words, and the sign of a coverage report of
other paths, or of none, for a change of code: then git says which code changed. Words as diff-cover 11 writes them.
"""

import re
from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, per_line

NAME = "diff-cover"
KIND = "lint"

_FILE = per_line(r"^[^\n]{1,500}? \(\d+(?:\.\d+)?%\)")
_RANGE = per_line(r"^Diff: (\w[\w./@~^{}-]{0,200}\.\.\.?\w[\w./@~^{}-]{0,200})")
_NONE = per_line(r"^No lines with coverage information in this diff\.")
_CODE = re.compile(r"\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|scala|rb|php|cs|swift|c|cc|cpp|h|hpp|vue|svelte)$")
_SHOWN = 3


def matches(argv: Sequence[str]) -> bool:
    """Return whether the coverage of a change is measured."""
    return argv[0] == "diff-cover" and not {"--version", "--help", "-h"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return how many changed files were measured."""
    measured = len(_FILE.findall(ran.output))
    if measured or not _NONE.search(ran.output):
        return Counts(files=measured or None)
    changed = _changed_code(ran)
    if not changed or ran.exit_code:
        return Counts()
    shown = ", ".join(changed[:_SHOWN]) + (", ..." if len(changed) > _SHOWN else "")
    return Counts(failed=len(changed), note=f"no line of the code that changed was measured ({shown})")


def _changed_code(ran: Ran) -> list[str]:
    found = set[str]()
    for line in _RANGE.finditer(ran.output):
        asked = ["git", "diff", "--name-only", "--no-ext-diff", "--diff-filter=d", "-z", line[1], "--"]
        answer = ran.asker.ask(asked, cwd=ran.invocations[0].cwd)
        found |= {path for path in (answer or "").split("\0") if _CODE.search(path)}
    return sorted(found)
