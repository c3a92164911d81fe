"""Where a check runs: in a folder that its files tell, or wherever a variable or a loop leads it; paths below folders."""

import re
from pathlib import Path

from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.shell_files import shell_texts

_LED = re.compile(
    r"\b(?:cd|pushd)[ \t]+[^\n;&|]{0,300}\$|-execdir\b|\bxargs\b|--manifest-path[= ]\S{0,300}\$|\s-C[ \t]{0,9}\S{0,300}\$|--working-directory[= ]\S{0,300}\$"
)


def is_led(repo: Repository, at: Check) -> bool:
    """Return whether some command of a check may run in folders that nobody can tell from the text."""
    return repo.tree.once(f"led {at.source} {at.name} {at.line}", lambda: _is_led(repo, at))


def folder_of(repo: Repository, path: Path) -> str | None:
    """Return a folder as files are named below it, empty for the root; None outside of the repository."""
    folder = repo.tree.relative(path)
    return None if folder.startswith("..") else "" if folder == "." else folder


def inside(folder: str, path: str) -> str | None:
    """Return a path that is written from a folder as it is named from the root; None outside of the repository."""
    parts = [p for p in folder.split("/") if p]
    for part in path.replace("\\", "/").split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _is_led(repo: Repository, at: Check) -> bool:
    if any(_LED.search(t.text) for t in shell_texts(repo.tree, at)):
        return True
    names = (
        (f"{job.label} / {step.name}", step) for w in repo.workflows if w.path == at.source for job in w.jobs for step in job.steps
    )  # fmt: skip
    return any("$" in step.cwd for name, step in names if name == at.name and step.run == at.text)
