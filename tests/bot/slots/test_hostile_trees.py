"""Whatever a job leaves: nothing outside of the slot changes, and nothing of the job stays."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.slots import clean, install
from bot.slots.pool import Pool
from bot.slots.reset import reset
from bot.slots.slot import Slot
from bot.tickets.store import open_store, sqlite_url
from tests.bot.slots.origin import make_origin, run

PLACES = ("", "src", "src/deep", "x", "x/y", "node_modules", "node_modules/dep", ".git-not")
NAMES = st.one_of(
    st.sampled_from(["a.txt", "b.txt", "c.txt", "src", "deep", "x", "y", "node_modules", ".gitignore", ".gitattributes",
                     ".gitmodules", "junk", "..a", "-rf", "con", ".GIT"]),
    st.binary(min_size=1, max_size=8).map(os.fsdecode).filter(lambda n: not {"/", "\0"} & set(n) and n not in (".", "..", ".git")),
)  # fmt: skip


def _folder(path: Path, outside: Path) -> None:
    path.mkdir()


def _closed(path: Path, outside: Path) -> None:
    (path / "in").mkdir(parents=True)
    path.chmod(0)


def _repository(path: Path, outside: Path) -> None:
    path.mkdir()
    run("git", "init", "-q", ".", cwd=path)


def _gitfile(path: Path, outside: Path) -> None:
    path.mkdir()
    (path / ".git").write_text(f"gitdir: {outside}\n")


def _file(path: Path, outside: Path) -> None:
    path.write_text("* filter=x\n")
    os.utime(path, (1, 1))


PLANTED: dict[str, Callable[[Path, Path], object]] = {
    "folder": _folder,
    "closed folder": _closed,
    "repository": _repository,
    "gitfile": _gitfile,
    "file": _file,
    "fifo": lambda path, _: os.mkfifo(path),
    "hard link": lambda path, outside: os.link(outside / "file", path),
    "nothing": lambda _path, _: None,
    "link out": lambda path, outside: path.symlink_to(outside),
    "link to a file outside": lambda path, outside: path.symlink_to(outside / "file"),
    "link up": lambda path, _: path.symlink_to(".."),
    "link to itself": lambda path, _: path.symlink_to(path),
}
JOBS = st.lists(st.tuples(st.sampled_from(sorted(PLANTED)), st.sampled_from(PLACES), NAMES), max_size=12)


def plant(slot: Slot, outside: Path, action: str, path: Path) -> None:
    """Leave one thing, in place of what was there; where a link leads out, what is beyond it is left alone."""
    inside = slot.path.resolve()
    if path.parent.resolve() != inside and inside not in path.parent.resolve().parents:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    PLANTED[action](path, outside)


def look(root: Path) -> list[tuple[str, int, str]]:
    """Return paths, kinds with modes, and contents; no times, for reading sets those."""
    return sorted(
        (str(p.relative_to(root)), p.lstat().st_mode, p.read_text() if p.is_file() and not p.is_symlink() else "")
        for p in root.rglob("*")
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Slot, Path, list[tuple[str, int, str]]]:
    folder = tmp_path_factory.mktemp("hostile")
    origin, outside = make_origin(folder / "origin"), folder / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious")
    pool = Pool(folder / "slots", open_store(sqlite_url(folder / "s.db")), host="h", slots=1)

    async def first() -> Slot:
        await pool.open()
        slot = await pool.lease("acme/app", ticket=1, epoch=1)
        assert slot is not None
        sha = run("git", "rev-parse", "HEAD", cwd=origin)
        await pool.prepare(slot, url=str(origin), token=None, sha=sha, install=None, on_part=lambda *_: None)
        await pool.close()
        return slot

    slot = asyncio.run(first())
    return slot, outside, look(slot.path)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(job=JOBS)
@example(job=[("closed folder", "", "src")])
@example(job=[("fifo", "", ".gitattributes"), ("fifo", "src", ".gitignore")])
def test_nothing_outside_changes_and_nothing_stays(
    made: tuple[Slot, Path, list[tuple[str, int, str]]], job: list[tuple[str, str, str]]
) -> None:
    slot, outside, plain = made
    before = look(outside)
    for action, place, name in job:
        with contextlib.suppress(OSError, RuntimeError):  # what an earlier thing prevents: a loop of links is one
            plant(slot, outside, action, slot.path / place / name)
    asyncio.run(reset(slot, "HEAD"))
    left = clean.empty(slot.trash)
    assert (look(slot.path), look(outside), left) == (plain, before, [])


def _write(path: Path, text: str) -> None:
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # forged: as if nothing had happened


def _swap(path: Path) -> None:
    text, before = path.read_text(), path.stat()
    path.unlink()
    path.write_text(text.upper())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda file: _write(file, "evil"),
    "written, as long as before": lambda file: _write(file, file.read_text()[::-1]),
    "another file in its place": _swap,
    "made executable": lambda file: file.chmod(0o755),
    # within the test's own folder: the next change may write through it
    "a link in its place": lambda file: (file.unlink(), file.symlink_to(file.parents[2] / "elsewhere")),
    "a folder in its place": lambda file: (file.unlink(), file.mkdir()),
    "gone": lambda file: file.unlink(),
    "one more": lambda file: file.with_name("sitecustomize.py").touch(),
    "one more link": lambda file: file.with_name("link").symlink_to(file.name),
    "one more name of it": lambda file: file.with_name("hard").hardlink_to(file),
    "nothing": lambda _file: None,
    "read": lambda file: file.read_text(),
}


@settings(max_examples=60, deadline=None)
@given(changes=st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 5)), max_size=4))
def test_dependencies_that_a_job_changed_show_whatever_it_did_to_times(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    root = tmp_path_factory.mktemp("deps")
    files = [root / "node_modules" / name / "index.js" for name in "abcdef"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(f"module.exports = '{file.parent.name}'")
    (root / "elsewhere").write_text("precious")
    before, looked = look(root), install.state(root, ["node_modules"])
    for action, number in changes:
        with contextlib.suppress(OSError):  # what an earlier change took away
            CHANGES[action](files[number])
    same = install.state(root, ["node_modules"]) == looked
    assert not same or look(root) == before
