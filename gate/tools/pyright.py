"""pyright and basedpyright: the count only shows with `--stats` or `--outputjson`; asking would check everything again.

So the count stays unknown unless it is printed, but a configuration that matches nothing is noticed: pyright says that
it found no source files, or that what it should include does not exist.
"""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, hidden, per_line

NAME = "pyright"
KIND = "typecheck"

_PRINTED = per_line(r'(?:Total files checked: |"filesAnalyzed": )(?P<files>\d+)')
_CLOSING = closing_line(r"(\d+) errors?, \d+ warnings?, \d+ (?:informations?|notes?)")
_NONE = closing_line(r"No source files found\.")
_MISSING = closing_line(r"File or directory \"[^\"\n]+\" does not exist\.?$")


def matches(argv: Sequence[str]) -> bool:
    """Return whether pyright checks something."""
    return argv[0] in {"pyright", "basedpyright"} and not {"--version", "--help", "-h"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return how many files pyright checked, as far as it says."""
    if _NONE.search(ran.output) or (_MISSING.search(ran.output) and not _diagnosed(ran)):
        return Counts(files=0, hollow="pyright found no source files")
    printed = ran.closing(_PRINTED)
    if printed:
        files = sum(int(match["files"]) for match in printed)
        return Counts(files=files, failed=hidden(ran, _CLOSING), hollow="" if files else "pyright checked no file")
    return Counts(failed=hidden(ran, _CLOSING))


def _diagnosed(ran: Ran) -> bool:
    """Return whether pyright found something to say of a file; then it has looked at one."""
    return any(not line[0].strip().startswith("0 errors, 0 warnings, 0") for line in ran.closing(_CLOSING))
