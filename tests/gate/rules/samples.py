"""Small repositories for the audit's rules, and what a rule finds in one."""

import os
from datetime import date
from pathlib import Path

from gate.policy import FILE, Policy, parse_repository
from gate.report import Finding
from gate.repository.opening import Repository, open_repository
from gate.rules import load

TODAY = date(2026, 1, 1)


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files into a new repository; nothing is committed, and `.git` is all that git asks for: no process is needed."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    if not (root / ".git").exists():
        (root / ".git" / "objects").mkdir(parents=True)
        (root / ".git" / "refs").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root


def opened(root: Path, files: dict[str, str]) -> Repository:
    """Return a repository of these files as rules see it."""
    write(root, files)
    own = parse_repository(os.fsencode(files[FILE]), FILE) if FILE in files else Policy()
    return open_repository(root, own)


def findings(rule: str, root: Path, files: dict[str, str]) -> list[Finding]:
    """Return what one rule, by its module's name, finds in a repository of these files."""
    return list(load(rule).check(opened(root, files)))


def seen(rule: str, root: Path, files: dict[str, str]) -> list[str]:
    """Return the findings as short lines: `level path:line message`, then the files that are named."""
    return [
        " ".join([str(f.level), f"{f.path}:{f.line}", f.message, *([f"[{', '.join(f.files)}]"] if f.files else [])])
        for f in findings(rule, root, files)
    ]


def policy(**steps: str) -> str:
    """Return a gate.toml of these steps."""
    return "\n".join(f"[steps.{name}]\nrun = {run!r}" for name, run in steps.items())


def workflow(*lines: str, on: str = "pull_request", job: str = "", shell: str = "") -> str:
    """Return a workflow of one job `test` that runs these lines, one a step."""
    steps = "".join(
        f"      - run: |\n          {line}\n" + (f"        shell: {shell}\n" if shell else "") for line in lines
    )
    return f"on: {on}\njobs:\n  test:\n    runs-on: ubuntu-latest\n{job}    steps:\n{steps}"
