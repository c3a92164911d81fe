"""Slots that a stop left in a bad shape are mended before a job meets them; room is made when the disk is low."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.slots import own
from bot.slots.disk import low_disk, size_bytes
from bot.slots.pool import Pool
from bot.slots.slot import Slot
from bot.tickets.store import Store, open_store, sqlite_url
from tests.bot.slots.origin import make_origin, run


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(sqlite_url(tmp_path / "s.db"))


def pool_of(folder: Path, store: Store) -> Pool:
    return Pool(folder / "slots", store, host="h", slots=2)


async def job(pool: Pool, origin: Path, ticket: int) -> tuple[Slot, bool]:
    slot = await pool.lease("acme/app", ticket=ticket, epoch=1)
    assert slot is not None
    sha = run("git", "rev-parse", "HEAD", cwd=origin)
    ready = await pool.prepare(slot, url=str(origin), token=None, sha=sha, install=None, on_part=lambda *_: None)
    return slot, ready.warm


def _missing(slot: Slot) -> None:
    shutil.rmtree(slot.path)


def _half_created(slot: Slot) -> None:
    slot.made.unlink()
    slot.path.rename(slot.path.with_name(slot.name))


def _locked(slot: Slot) -> None:
    (slot.git_dir / "index.lock").touch()
    (slot.mirror / "packed-refs.lock").touch()


def _foreign(slot: Slot) -> None:
    shutil.rmtree(slot.path)
    run("git", "init", "-q", str(slot.path), cwd=slot.path.parent)


def _mirror_is_broken(slot: Slot) -> None:
    (slot.mirror / "HEAD").write_text("")


def _no_git_folder(slot: Slot) -> None:
    shutil.rmtree(slot.git_dir)


BROKEN = (_missing, _half_created, _locked, _foreign, _mirror_is_broken, _no_git_folder)


@pytest.mark.parametrize("damage", BROKEN, ids=lambda f: f.__name__.strip("_"))
async def test_a_broken_slot_is_whole_again(tmp_path: Path, store: Store, damage: Callable[[Slot], None]) -> None:
    origin = make_origin(tmp_path / "origin")
    pool = pool_of(tmp_path, store)
    await pool.open()
    slot, _ = await job(pool, origin, 1)
    damage(slot)
    again = pool_of(tmp_path, store)
    await again.open()
    slot, _ = await job(again, origin, 2)
    proof = await again.release(slot)
    await again.close()
    assert (proof.clean, sorted(p.name for p in slot.path.iterdir())) == (True, [".git", ".gitignore", "a.txt", "src"])


async def test_a_quarantined_slot_is_made_anew_at_the_next_start(tmp_path: Path, store: Store) -> None:
    origin, pool = make_origin(tmp_path / "origin"), pool_of(tmp_path, store)
    await pool.open()
    slot, _ = await job(pool, origin, 1)
    (slot.path / ".git").write_text("gitdir: /elsewhere\n")
    proof = await pool.release(slot)
    await pool.open()
    again, warm = await job(pool, origin, 2)
    assert (proof.reason, again.name, warm) == ("not as it was made: its .git file", slot.name, False)


@pytest.mark.parametrize("enough", [1, 3, 5], ids=["a cache", "a slot", "all"])
async def test_what_is_needed_least_goes_first_when_the_disk_is_low(tmp_path: Path, store: Store, enough: int) -> None:
    origin, pool = make_origin(tmp_path / "origin"), pool_of(tmp_path, store)
    await pool.open()
    slots = [(await job(pool, origin, ticket))[0] for ticket in (1, 2)]
    store_folder = pool.store_of("acme/app")
    store_folder.mkdir()
    for slot in slots:
        slot.shelf.mkdir()
        await pool.release(slot)
    things = [slots[0].shelf, slots[1].shelf, slots[0].path, slots[1].path, store_folder]

    def low() -> str:
        return "low" if sum(not thing.exists() for thing in things) < enough else ""

    said = await pool.make_room(low)
    assert (said, [thing.exists() for thing in things]) == ("", [n >= enough for n in range(5)])


async def test_a_slot_in_use_stays_however_low_the_disk_is(tmp_path: Path, store: Store) -> None:
    origin, pool = make_origin(tmp_path / "origin"), pool_of(tmp_path, store)
    await pool.open()
    slot, _ = await job(pool, origin, 1)
    store_folder = pool.store_of("acme/app")
    store_folder.mkdir()
    said = await pool.make_room(lambda: "low")
    assert (said, slot.path.exists(), store_folder.exists()) == ("low", True, True)


def test_a_low_disk_says_how_low(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    assert (low_disk(tmp_path, least_bytes=0), low_disk(tmp_path / "none", least_bytes=free * 2)[:16]) == (
        "", "The disk is low:",
    )  # fmt: skip


def test_a_size_counts_no_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 10_000)
    before = size_bytes(tmp_path)
    (tmp_path / "link").symlink_to("/usr")
    assert 10_000 <= before <= size_bytes(tmp_path) < before + 10_000


async def test_a_new_worktree_does_not_take_for_right_what_a_job_wrote_into_the_mirror(
    tmp_path: Path, store: Store
) -> None:
    pool, origin = pool_of(tmp_path, store), make_origin(tmp_path / "origin")
    slot, _ = await job(pool, origin, 1)
    own.hide(slot.mirror, ["node_modules"])
    ours = {name: (slot.mirror / name).read_text() for name in ("config", "info/exclude")}
    for name in (*ours, "info/attributes", "hooks/post-checkout", "objects/info/alternates"):
        (slot.mirror / name).parent.mkdir(exist_ok=True)
        (slot.mirror / name).write_text("# theirs\n")
    refused = await pool.release(slot)
    again, _ = await job(pool, origin, 2)
    left = [slot.mirror / name for name in ("info/attributes", "hooks/post-checkout", "objects/info/alternates")]
    found = {name: (slot.mirror / name).read_text() for name in ours}
    proof = await pool.release(again)
    assert (refused.reason, found, [path for path in left if path.exists()], proof.clean) == (
        "not as it was made: git's configuration", ours, [], True,
    )  # fmt: skip
