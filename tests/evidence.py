"""Run one step as the gate does, and return what the gate reads from it."""

import os
import subprocess
from pathlib import Path

from gate import tools
from gate.report import Evidence

_PASSED_ON = ("PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "TMPDIR")


def run_step(step: str, folder: Path, *, first: Path | None = None, **env: str) -> tuple[int, Evidence]:
    """Return exit code and evidence of a step run in a folder; `first` stands first on PATH."""
    scratch = folder.parent / f"{folder.name}.scratch"
    scratch.mkdir(exist_ok=True)
    base = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {"CI": "true"} | env
    if first is not None:
        base["PATH"] = f"{first}:{base['PATH']}"
    invocations = tools.recognise(step, folder, root=folder)
    added = tools.environment(invocations, scratch, env=base)
    log = scratch / "log"
    with log.open("wb") as out:
        command = ["bash", "-eo", "pipefail", "-c", step]
        done = subprocess.run(command, cwd=folder, env=base | added, stdout=out, stderr=out, check=False)
    evidence = tools.read_evidence(invocations, log, scratch, exit_code=done.returncode, env=base)
    return done.returncode, evidence


def write_tree(folder: Path, files: dict[str, str]) -> Path:
    """Write files, named by their paths, into a folder; return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
