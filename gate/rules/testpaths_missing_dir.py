"""`testpaths` names a folder that is not there: pytest warns, and collects from where it stands."""

from collections.abc import Iterator

from gate.integrity.configs import PYTHON
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import below, runs, settings

ID = "testpaths-missing-dir"
SUMMARY = (
    "where no folder of `testpaths` exists pytest only warns, and takes what it finds in the current folder.\n"
    "Next: name the folder that holds the tests."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield the folders of each pytest's settings that do not exist."""
    told = set[str]()
    for _, _, folder in runs(repo, "pytest"):
        own = settings(repo.tree, PYTHON["pytest"], folder)
        if own is None or own.path in told:
            continue
        told.add(own.path)
        listed = [p for p in own.words("testpaths") if "*" not in p]
        gone = [
            p for p in listed if (b := below(own.folder, p)) and b not in repo.tree.folders and b not in repo.tree.known
        ]
        if gone:
            yield Finding(
                ID, Level.WARNING, f"testpaths names what is not there: {', '.join(gone)}", own.path,
                repo.tree.line_of(own.path, "testpaths"), fix="name the folder that holds the tests",
                reproduce=f"ls -d {' '.join(gone)}",
            )  # fmt: skip
