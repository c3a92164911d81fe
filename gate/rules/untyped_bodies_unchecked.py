"""mypy passes over the bodies of functions without annotations."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import runs
from gate.repository.python.mypy_files import mypy_settings

ID = "untyped-bodies-unchecked"
SUMMARY = (
    "mypy does not look into a function whose signature has no annotation, unless it is told `check_untyped_defs` or "
    "`strict`.\n"
    "Next: `check_untyped_defs = true`."
)
_KEYS = ("strict", "check_untyped_defs", "disallow_untyped_defs", "disallow_incomplete_defs")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield a note for the first mypy that is told neither."""
    for at, run, folder in runs(repo, "mypy"):
        own = mypy_settings(repo.tree, run, folder)
        options = {"--" + key.replace("_", "-") for key in _KEYS}
        if not options & set(run.argv) and not (own and any(own.is_on(key) for key in _KEYS)):
            path, line = (own.path, repo.tree.line_of(own.path, "mypy")) if own else (at.source, at.line)
            yield Finding(
                ID, Level.NOTE, f"{at.name}: mypy does not look into functions without annotations", path, line or 1,
                fix="check_untyped_defs = true", reproduce="mypy --check-untyped-defs",
            )  # fmt: skip
            return
