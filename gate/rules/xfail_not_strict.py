"""A test is expected to fail, and when it passes nobody hears of it."""

import ast
from collections.abc import Iterator

from gate.integrity.configs import PYTHON
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import runs, settings
from gate.repository.python.pytest_files import test_files

ID = "xfail-not-strict"
SUMMARY = (
    "a test that is marked `xfail` is green whether it fails or passes, unless it is strict: it verifies nothing.\n"
    "Next: `xfail_strict = true` (pytest 9: `strict_xfail`), or `strict=True` at the mark."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding of all marks that are not strict, where pytest runs and is not told to be."""
    for at, run, folder in runs(repo, "pytest"):
        own = settings(repo.tree, PYTHON["pytest"], folder)
        if (
            own and any(own.is_on(k) for k in ("xfail_strict", "strict_xfail", "strict"))
        ) or "xfail_strict" in " ".join(run.argv):
            return
        places = [
            (path, line)
            for path in test_files(repo.tree)
            if "xfail" in (repo.tree.text(path) or "")
            for line in _marks(repo, path)
        ]
        if places:
            files = sorted({path for path, _ in places})
            yield Finding(
                ID, Level.WARNING, f"{at.name}: tests that are expected to fail are green when they pass", *places[0],
                files=tuple(files), count=len(places), fix="xfail_strict = true in pytest's settings", reproduce="pytest -rX",
            )  # fmt: skip
        return


def _marks(repo: Repository, path: str) -> Iterator[int]:
    tree = repo.tree.python(path)
    for node in ast.walk(tree) if tree else ():
        for mark in getattr(node, "decorator_list", ()):
            called = mark.func if isinstance(mark, ast.Call) else mark
            if isinstance(called, ast.Attribute) and called.attr == "xfail":
                strict = [k for k in mark.keywords if k.arg in ("strict", "run")] if isinstance(mark, ast.Call) else []
                if not strict:
                    yield mark.lineno
