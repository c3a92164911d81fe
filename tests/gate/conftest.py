"""One installation of JavaScript tools for all tests, kept between runs under the hash of its lock file."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

LOCK = Path(__file__).parents[1] / "data" / "js"


@pytest.fixture(scope="session")
def js_tools() -> Path:
    """Return a folder with node_modules; projects below it find the tools."""
    key = hashlib.sha256(b"".join((LOCK / name).read_bytes() for name in ("package.json", "package-lock.json")))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gate-tests" / key.hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (cache / "done").exists():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(LOCK / name, cache / name)
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=cache, check=True)
            (cache / "done").touch()
    return cache


@pytest.fixture
def js_project(js_tools: Path) -> Iterator[Path]:
    """Return an empty folder below the JavaScript tools."""
    folder = Path(tempfile.mkdtemp(prefix="project-", dir=js_tools))
    yield folder / "app"
    shutil.rmtree(folder)
