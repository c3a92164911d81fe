"""Whole runs of the gate's command line in small real repositories."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
GATE = [sys.executable, "-I", str(ROOT / "gate" / "__main__.py")]
TEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 1)\n"
UNITTEST = "python3 -m unittest"


def repository(tmp_path: Path, policy: str | None, files: dict[str, str] | None = None) -> Path:
    """Return a new repository with a policy and files, nothing of it committed."""
    repo = tmp_path / "repo"
    repo.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], check=True)
    for name, text in {**({"gate.toml": policy} if policy is not None else {}), **(files or {})}.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    return repo


def git(repo: Path, *words: str) -> str:
    """Run git as somebody in a repository and return what it prints."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *who, *words], cwd=repo, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(repo: Path) -> str:
    """Commit all that is there and return the commit."""
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "x")
    return git(repo, "rev-parse", "HEAD")


def gate(repo: Path, *options: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `gate run` in a repository."""
    command = [*GATE, "run", "--repo", str(repo), *options]
    whole = {**os.environ, **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, env=whole, check=False, timeout=60)


def report(repo: Path, *options: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    """Run `gate run` and return its exit code and its JSON report."""
    done = gate(repo, "--format", "json", *options, env=env)
    return done.returncode, json.loads(done.stdout)


def steps(**commands: str) -> str:
    """Return a policy of commands."""
    return "".join(f"[steps.{name}]\nrun = {json.dumps(command)}\n" for name, command in commands.items())


def runs(pid: int) -> bool:
    """Return whether a process still runs after a short while; a zombie does not."""
    for _ in range(20):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return False
        except (FileNotFoundError, ProcessLookupError):
            return False
        time.sleep(0.02)
    return True
