"""Whole runs of `gate prove` in small real repositories."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.gate_runs import GATE

BIN = Path(sys.executable).parent
PY = sys.executable
RUFF = f"{BIN}/ruff check --isolated"
UNIT = f"{PY} -m unittest"
CORE = "def double(value: int) -> int:\n    return 2 * value\n"
TEST = "import unittest\n\nfrom app.core import double\n\n\nclass T(unittest.TestCase):\n    def test_it(self) -> None:\n        self.assertEqual(double(1), 2)\n"


def prove(
    repo: Path, *options: str, env: dict[str, str] | None = None, cwd: Path | None = None
) -> tuple[int, dict[str, Any]]:
    """Run `gate prove` in a repository; return its exit code and its JSON report."""
    command = [*GATE, "prove", "--repo", str(repo), "--format", "json", *options]
    whole = {**os.environ, **(env or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=whole, cwd=cwd, check=False, timeout=120)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def fates(found: dict[str, Any]) -> dict[str, str]:
    """Return what became of each file that was tried, and by which steps it was seen."""
    seen = {s["path"]: f"seen {s['level']} {' '.join(s['steps'])}" for s in found["seen"]}
    return seen | {told["path"]: fate for fate in ("unseen", "unsettled") for told in found[fate]}


def snapshot(repo: Path) -> str:
    """Return a digest of every name, time and byte below a folder; git renews the times of objects that it meets."""
    digest = hashlib.sha256()
    for path in sorted(repo.rglob("*")):
        stat = path.lstat()
        time = 0 if ".git/objects" in str(path) else stat.st_mtime_ns
        digest.update(f"{path} {stat.st_mode} {time} {stat.st_ino}".encode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
