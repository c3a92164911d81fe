"""A file of Python holds tests and its name does not fit what the runner collects."""

import re
from collections.abc import Iterator

from gate.integrity.python_cases import cases
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.pytest_files import collected

ID = "test-glob-misses"
SUMMARY = (
    "pytest and unittest look only into files whose names fit a pattern (`test_*.py`, `*_test.py`): tests in `tests/test.py` "
    "or `integration_test_state.py` never run, and nothing says so.\n"
    "Next: rename the file, or widen `python_files`."
)
_IMPORT = re.compile(r"^[ \t]*(?:from|import)\s[^\n]*", re.M)
_WORD = re.compile(r"\w+")
_TEST = re.compile(r"^(?:async )?def test|^class Test|^class \w+\([\w.]*TestCase\)", re.M)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each run that passes over files with tests which no other run takes and no test imports."""
    found = collected(repo)
    if not found:
        return
    taken = frozenset[str]().union(*(c.files for c in found))
    told = set[str]()
    for one in found:
        missed = [p for p in one.passed_over if p not in taken and p not in told and _holds_tests(repo, p)]
        missed = [p for p in missed if not _is_imported(repo, p, taken)]
        told.update(missed)
        if missed:
            path = one.settings.path if one.settings else one.at.source
            line = repo.tree.line_of(path, "python_files") if one.settings else one.at.line
            yield Finding(
                ID, Level.ERROR, f"{one.at.name}: tests that never run, in files whose names fit none of {' '.join(one.patterns)}",
                path, line or 1, files=tuple(sorted(missed)), count=len(missed),
                fix="rename them, or widen python_files", reproduce=f"pytest --collect-only -q | grep {missed[0]}",
            )  # fmt: skip


def _holds_tests(repo: Repository, path: str) -> bool:
    name = path.rpartition("/")[2]
    if name == "conftest.py" or "test" not in name.lower():  # others among the tests are mostly their helpers
        return False
    text = repo.tree.text(path) or ""
    return _TEST.search(text) is not None and any(case.asserts for case in cases(text))


def _is_imported(repo: Repository, path: str, taken: frozenset[str]) -> bool:
    """Return whether a file that runs names this one: then its tests may run as those of that file."""
    return path.rpartition("/")[2].removesuffix(".py") in repo.tree.once(
        "imported by tests", lambda: _imported(repo, taken)
    )


def _imported(repo: Repository, taken: frozenset[str]) -> set[str]:
    others = [*taken, *repo.tree.named("**/conftest.py", "**/__init__.py")]
    return {word for p in others for line in _IMPORT.findall(repo.tree.text(p) or "") for word in _WORD.findall(line)}
