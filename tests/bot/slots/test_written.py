"""A warm slot holds the very bytes that a fresh checkout would, whatever was committed before about how to write them."""

import asyncio
from pathlib import Path

import pytest

from bot.slots import git, own
from bot.slots.pool import Pool
from bot.slots.slot import Slot
from bot.tickets.store import open_store, sqlite_url
from tests.bot.slots.origin import commit, make_origin, run

CRLF = "* text eol=crlf\n"
READ = ("a.txt", "src/b.txt")


class Jobs:
    """Jobs in the one slot of a host."""

    def __init__(self, folder: Path) -> None:
        self.origin = make_origin(folder / "origin")
        self.base = run("git", "rev-parse", "HEAD", cwd=self.origin)
        self.pool = Pool(folder / "slots", open_store(sqlite_url(folder / "s.db")), host="h", slots=1)
        self.number = 0

    async def start(self, sha: str) -> Slot:
        self.number += 1
        slot = await self.pool.lease("acme/app", ticket=self.number, epoch=1)
        assert slot is not None
        await self.prepare(slot, sha)
        return slot

    async def prepare(self, slot: Slot, sha: str) -> None:
        await self.pool.prepare(slot, url=str(self.origin), token=None, sha=sha, install=None, on_part=lambda *_: None)

    async def read(self, sha: str) -> list[bytes]:
        """Return what files hold in a job at a commit that does nothing."""
        slot = await self.start(sha)
        found = [(slot.path / name).read_bytes() for name in READ]
        assert (await self.pool.release(slot)).clean
        return found


@pytest.fixture
async def jobs(tmp_path: Path) -> Jobs:
    jobs = Jobs(tmp_path)
    await jobs.pool.open()
    return jobs


async def test_files_are_written_anew_where_the_commits_differ_in_their_attributes(jobs: Jobs) -> None:
    other = commit(jobs.origin, {".gitattributes": CRLF})
    found = [await jobs.read(sha) for sha in (jobs.base, other, other, jobs.base)]
    plain, ends = [b"one\n", b"b\n"], [b"one\r\n", b"b\r\n"]
    assert found == [plain, ends, ends, plain]


async def test_what_a_job_s_own_attributes_made_look_unchanged_is_not_left_to_the_next(jobs: Jobs) -> None:
    slot = await jobs.start(jobs.base)
    attributes = slot.path / ".gitattributes"
    attributes.write_text(CRLF)
    (slot.path / "a.txt").write_bytes(b"one\r\n")
    one = await git.commit_all(slot.tree, parent=jobs.base, message="Attributes", author=("a", "a@b"))
    attributes.unlink()
    (slot.path / "new.txt").write_text("new\n")
    await git.commit_all(slot.tree, parent=str(one), message="And away", author=("a", "a@b"))
    kept = (slot.path / "a.txt").read_bytes()
    proof = await jobs.pool.release(slot)
    assert (kept, proof.clean, await jobs.read(jobs.base)) == (b"one\r\n", True, [b"one\n", b"b\n"])


async def test_a_job_that_prepares_again_finds_no_bytes_of_its_own(jobs: Jobs) -> None:
    slot = await jobs.start(jobs.base)
    (slot.path / ".gitattributes").write_text(CRLF)
    (slot.path / "a.txt").write_bytes(b"one\r\n")
    await git.commit_all(slot.tree, parent=jobs.base, message="Attributes", author=("a", "a@b"))
    await jobs.prepare(slot, jobs.base)
    assert [(slot.path / name).read_bytes() for name in READ] == [b"one\n", b"b\n"]


async def test_a_reset_that_was_cut_short_writes_all_anew(jobs: Jobs) -> None:
    await jobs.read(jobs.base)
    slot = await jobs.start(jobs.base)
    slot.written.unlink()  # as it is gone until all is written
    before = (slot.path / "a.txt").stat().st_ctime_ns
    await jobs.prepare(slot, jobs.base)
    assert ((slot.path / "a.txt").stat().st_ctime_ns > before, slot.written.exists()) == (True, True)


@pytest.mark.parametrize("name", ["info/grafts", "shallow", "hooks/post-checkout"])
@pytest.mark.parametrize("what", ["folder", "fifo", "link"])
async def test_a_mirror_loses_whatever_stands_in_place_of_git_s_files(jobs: Jobs, name: str, what: str) -> None:
    slot = await jobs.start(jobs.base)
    path = slot.mirror / name
    path.parent.mkdir(exist_ok=True)
    run(*{"folder": ["mkdir"], "fifo": ["mkfifo"], "link": ["ln", "-s", "/etc/passwd"]}[what], str(path), cwd=slot.path)
    changed = await asyncio.to_thread(own.mend, slot.mirror)
    assert (changed, path.exists(), path.is_symlink()) == ([name], False, False)
