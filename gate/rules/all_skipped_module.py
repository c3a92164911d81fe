"""A whole file of tests is skipped where a module cannot be imported, and nothing of the gate installs it."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import runs
from gate.repository.python.pytest_files import test_files

ID = "all-skipped-module"
SUMMARY = (
    "`importorskip` at the top of a file skips all of its tests where the module is missing, and no file of this repository "
    "names that module as a dependency.\n"
    "Next: install it where the tests run, or import it plainly."
)
_SKIP = re.compile(r"""^(?:\w+\s*=\s*)?(?:pytest\.)?importorskip\(\s*["']([\w.]+)["']""", re.M)
_DEPENDENCIES = ("**/pyproject.toml", "**/requirements*", "**/setup.py", "**/setup.cfg", "**/tox.ini", "**/Pipfile", "**/environment*.y*ml",
                 "**/noxfile.py", "requirements/*", ".github/workflows/*", ".github/actions/**", "**/Dockerfile*", "**/constraints*", "**/*.lock",
                 "ci/**", "**/pixi.toml")  # fmt: skip
_NAMES = {
    "yaml": "pyyaml",
    "PIL": "pillow",
    "cv2": "opencv",
    "sklearn": "scikit",
    "bs4": "beautifulsoup",
    "dateutil": "python-dateutil",
    "attr": "attrs",
}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each file whose tests all hang on a module that is neither installed nor of this repository."""
    if not any(runs(repo, "pytest")):
        return
    files = [
        (p, m)
        for p in test_files(repo.tree)
        if "importorskip" in (t := repo.tree.text(p) or "") and (m := _SKIP.search(t))
    ]
    named = (
        "\n".join(repo.tree.text(p) or "" for p in repo.tree.named(*_DEPENDENCIES)).lower().replace("_", "-")
        if files
        else ""
    )
    for path, match in files:
        top = match[1].partition(".")[0]
        wanted = _NAMES.get(top, top).lower().replace("_", "-")
        own = any(f in (top, f"src/{top}", f"lib/{top}") for f in repo.tree.folders)
        own = own or any(f"/{f}".endswith((f"/{top}.py", f"/{top}/__init__.py")) for f in repo.tree.files)
        if wanted not in named and not own:
            line = (repo.tree.text(path) or "").count("\n", 0, match.start()) + 1
            yield Finding(
                ID, Level.WARNING, f"all tests of this file are skipped without {match[1]}, and nothing names that as a dependency",
                path, line, fix=f"install {match[1]} where the tests run", reproduce=f"pytest -rs {path}",
            )  # fmt: skip
