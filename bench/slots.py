"""From a lease to a ready slot, warm, beside the cold way (worktree, install) and beside what git alone needs.

    python bench/slots.py [--rounds N] [--files N] [--project DIR]

By default a tiny JavaScript project with a few thousand files; `--project` takes a git repository of yours.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bot.slots.pool import Pool  # noqa: E402  (the checkout is put on the path first)
from bot.tickets.repository import Install  # noqa: E402
from bot.tickets.store import open_store, sqlite_url  # noqa: E402

ENV = {
    "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip


def run(*argv: str, cwd: Path) -> str:
    """Run a program and return what it printed."""
    env = {**ENV, "HOME": str(cwd)}
    return subprocess.run(argv, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout.strip()


def project(path: Path, files: int) -> None:
    """Write a JavaScript project with one local dependency, so that no registry is needed."""
    for n in range(files):
        file = path / "src" / f"d{n % 50}" / f"f{n}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"export const x{n} = {n}\n")
    (path / "dep").mkdir()
    (path / "dep" / "package.json").write_text('{"name": "dep", "version": "1.0.0"}')
    wants = {"name": "app", "version": "1.0.0", "dependencies": {"dep": "file:dep"}}
    (path / "package.json").write_text(json.dumps(wants))
    lock = {"": wants, "dep": {"version": "1.0.0"}, "node_modules/dep": {"resolved": "dep", "link": True}}
    (path / "package-lock.json").write_text(
        json.dumps({"name": "app", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": lock})
    )
    (path / ".gitignore").write_text("node_modules/\n")
    run("git", "init", "-q", "-b", "main", cwd=path)


def second_commit(path: Path) -> tuple[str, str]:
    """Return two commits that differ in a few files."""
    shas = []
    for text in ("one", "two"):
        for n in range(5):
            (path / f"changed{n}.txt").write_text(f"{text}\n")
        run("git", "add", "-A", cwd=path)
        run("git", "commit", "-qm", text, cwd=path)
        shas.append(run("git", "rev-parse", "HEAD", cwd=path))
    return shas[0], shas[1]


async def timed(act: Callable[[int], Awaitable[object]], rounds: int) -> float:
    """Return the median milliseconds of a few calls."""
    took = []
    for n in range(rounds):
        began = time.perf_counter()
        await act(n)
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took)


async def measure(folder: Path, origin: Path, shas: tuple[str, str], rounds: int) -> list[tuple[str, float]]:
    """Return the ways and their medians; every round goes to the other commit."""
    pool = Pool(folder / "slots", open_store(sqlite_url(folder / "s.db")), host="bench", slots=1)
    await pool.open()
    warm: list[float] = []
    resets: list[float] = []

    async def job(n: int) -> None:
        began = time.perf_counter()
        slot = await pool.lease("acme/app", ticket=n + 1, epoch=1)
        assert slot is not None
        await pool.prepare(
            slot, url=str(origin), token=None, sha=shas[n % 2], install=Install(), on_part=lambda *_: None
        )
        warm.append(1000 * (time.perf_counter() - began))
        (slot.path / "left").mkdir(exist_ok=True)
        (slot.path / "left" / "behind").write_text("x")
        began = time.perf_counter()
        proof = await pool.release(slot)
        resets.append(1000 * (time.perf_counter() - began))
        assert proof.clean, proof

    for n in range(rounds + 1):
        await job(n)
    await pool.close()
    mirror = pool.mirror("acme/app")

    async def cold(n: int) -> None:
        tree = folder / f"cold{n}"
        run("git", f"--git-dir={mirror}", "worktree", "add", "-q", "--detach", str(tree), shas[n % 2], cwd=folder)
        if (tree / "package-lock.json").exists():
            cache = f"--cache={folder / 'npm'}"
            run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", cache, cwd=tree)

    async def bare(n: int) -> None:
        run("git", "reset", "-q", "--hard", shas[n % 2], cwd=folder / "cold0")
        run("git", "clean", "-ffdxq", "-e", "node_modules", cwd=folder / "cold0")

    return [
        ("cold: git worktree add, npm ci", await timed(cold, min(rounds, 3))),
        ("first lease of a slot, made and installed", warm[0]),
        ("warm: lease to ready", statistics.median(warm[1:])),
        ("bare: git reset --hard, git clean", await timed(bare, rounds)),
        ("given back with its proof", statistics.median(resets[1:])),
    ]


def main() -> int:
    """Measure and print the table."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--files", type=int, default=4000)
    words.add_argument("--project", type=Path, help="a git repository whose HEAD and HEAD~1 are used")
    asked = words.parse_args()
    if asked.project is None and shutil.which("npm") is None:
        print("npm is missing: apt-get install npm")
        return 2
    with tempfile.TemporaryDirectory(prefix="slots-bench-") as place:
        folder, origin = Path(place), asked.project
        if origin is None:
            origin = folder / "origin"
            origin.mkdir()
            project(origin, asked.files)
            shas = second_commit(origin)
        else:
            shas = (run("git", "rev-parse", "HEAD~1", cwd=origin), run("git", "rev-parse", "HEAD", cwd=origin))
        rows = asyncio.run(measure(folder, origin, shas, asked.rounds))
    count = (
        run("git", "ls-tree", "-r", "--name-only", shas[1], cwd=origin).count("\n") + 1
        if asked.project
        else asked.files
    )
    by = dict(rows)
    warm, cold, bare = by["warm: lease to ready"], rows[0][1], by["bare: git reset --hard, git clean"]
    print(f"{count:,} files, medians of {asked.rounds} rounds, each to another commit\n")
    for name, took in rows:
        print(f"{name:<44} {took:>9.1f} ms   {took / warm:>7.2f} x warm")
    print(f"\nwarm is {cold / warm:.0f} times faster than cold, and {warm / bare:.2f} times bare git")
    return 0


if __name__ == "__main__":
    sys.exit(main())
