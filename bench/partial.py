"""The first clone of a repository with a long history of large files: whole, and without the files of older commits.

    python bench/partial.py [--commits N] [--kb N] [--files N] [--mbit N]

Over real HTTP (git's own server program), with the files of a head, of its base and of where they parted fetched in
the same go, as a job needs them. `--mbit` is only reckoned: what the bytes that came would take over such a line.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bot.slots import git  # noqa: E402  (the checkout is put on the path first)
from bot.slots.lacking import lacking  # noqa: E402
from tests.bot.slots.smart_http import TOKEN, serving  # noqa: E402

MB = 1024 * 1024


def make(path: Path, *, commits: int, kb: int, files: int) -> tuple[str, str]:
    """Write a repository with `fast-import`: each commit changes one large file; return head and base, parted once."""
    stream = bytearray()

    def commit(ref: str, parent: str, changes: dict[str, bytes]) -> None:
        stream.extend(f"commit {ref}\ncommitter a <a@b> {1_700_000_000 + len(stream)} +0000\ndata 1\nc\n".encode())
        stream.extend(f"from {parent}\n".encode() if parent else b"")
        for name, data in changes.items():
            stream.extend(f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n")

    commit("refs/heads/main", "", {f"src/d{n % 50}/f{n}.txt": f"{n}\n".encode() for n in range(files)})
    for n in range(commits):
        commit("refs/heads/main", "", {f"assets/{n % 4}.bin": os.urandom(kb * 1024)})
        if n == commits - 3:
            stream.extend(b"reset refs/heads/work\nfrom refs/heads/main\n\n")
    commit("refs/heads/work", "", {"src/new.txt": b"new\n"})
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True)
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input=bytes(stream), check=True)
    for name in ("uploadpack.allowFilter", "http.receivepack"):
        subprocess.run(["git", "-C", path, "config", name, "true"], check=True)
    told = subprocess.run(["git", "-C", path, "rev-parse", "work", "main"], capture_output=True, text=True, check=True)
    head, base = told.stdout.split()
    return head, base


def size(path: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


async def clone(folder: Path, url: str, head: str, base: str, *, is_partial: bool) -> tuple[float, float, int]:
    """Return seconds for commits, seconds for files that are fetched besides, and bytes of the mirror."""
    await git.ensure_mirror(folder, is_partial=is_partial)
    began = time.perf_counter()
    await git.fetch(folder, url, token=TOKEN)
    commits_s = time.perf_counter() - began
    began = time.perf_counter()
    if ids := await lacking(folder, base, head):
        await git.fetch_objects(folder, url, token=TOKEN, ids=ids)
    assert not await lacking(folder, base, head)
    return commits_s, time.perf_counter() - began, size(folder / "objects")


def main() -> None:
    """Measure and print the table."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--commits", type=int, default=400)
    words.add_argument("--kb", type=int, default=1024, help="of the file that a commit changes")
    words.add_argument("--files", type=int, default=4000, help="small ones beside it")
    words.add_argument("--mbit", type=float, default=100.0)
    asked = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="partial-bench-") as place:
        folder = Path(place)
        head, base = make(folder / "app.git", commits=asked.commits, kb=asked.kb, files=asked.files)
        print(f"{asked.commits} commits, each with a file of {asked.kb} KB, beside {asked.files} small files\n")
        line_name = f"{asked.mbit:g} Mbit/s"
        print(f"{'first clone':<12} {'commits':>9} {'files':>9} {'together':>9} {'size':>10} {line_name:>12}")
        with serving(folder) as (address, _):
            for name, is_partial in (("whole", False), ("partial", True)):
                one, two, stored = asyncio.run(
                    clone(folder / name, f"{address}/app.git", head, base, is_partial=is_partial)
                )
                took = " ".join(f"{seconds:>7.2f} s" for seconds in (one, two, one + two))
                print(f"{name:<12} {took} {stored / MB:>7.1f} MB {stored * 8 / asked.mbit / 1e6:>10.1f} s")
        again = time.perf_counter()
        asyncio.run(lacking(folder / "partial", base, head))
        print(f"\nasking whether anything is lacking: {1000 * (time.perf_counter() - again):.0f} ms")


if __name__ == "__main__":
    main()
