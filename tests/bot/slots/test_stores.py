"""What package managers keep: one store for each repository, and none of what an unmerged commit installed stays."""

from pathlib import Path

import pytest

from bot.slots.install import InstallFailed
from bot.slots.pool import Pool
from bot.tickets.repository import Install
from bot.tickets.store import open_store, sqlite_url
from tests.bot.slots.origin import commit, make_origin
from tests.bot.slots.test_install import UNCHANGED, Host
from tests.needs import needs

pytestmark = needs("bwrap", package="bubblewrap")

LOADS = 'mkdir -p "$npm_config_cache" node_modules/dep; cat "$npm_config_cache"/* >node_modules/dep/found 2>&1; '
GOOD = Install(run=LOADS + 'echo good >"$npm_config_cache/dep"')
EVIL = Install(run=LOADS + 'echo evil >"$npm_config_cache/dep"')


@pytest.fixture
async def host(tmp_path: Path) -> Host:
    host = Host(tmp_path, make_origin(tmp_path / "origin"))
    await host.pool.open()
    return host


def commits(host: Host, *, file: str = "b.txt") -> tuple[str, str]:
    """Return a merged commit, and one on top of it that changes a file."""
    return commit(host.origin, {"a.txt": "merged"}), commit(host.origin, {file: "{}"})


def found(host: Host) -> str:
    """Return what the install of the slot's commit found in its store."""
    return (host.slot.path / "node_modules" / "dep" / "found").read_text()


async def test_an_unmerged_commit_finds_what_was_loaded_and_leaves_nothing_in_its_place(host: Host) -> None:
    base, change = commits(host, file="package.json")
    await host.start(base, GOOD)
    await host.end()
    parts = await host.start(change, EVIL, base=base)
    has, own = found(host), host.pool.store_for(host.slot)
    proof = await host.end()
    kept = (host.pool.store_of("acme/app") / "npm" / "dep").read_text()
    assert (parts[-1], has, kept, proof.checks, own.exists(), host.slot.path.joinpath("node_modules").exists()) == (
        "install", "good\n", "good\n", (*UNCHANGED[:4], "dependencies of an unmerged commit: thrown away"), False, False,
    )  # fmt: skip


async def test_the_next_job_of_the_same_commit_installs_what_an_unmerged_one_had_installed(host: Host) -> None:
    base, change = commits(host, file="package.json")
    await host.start(change, GOOD, base=base)
    await host.end()
    assert await host.start(change, GOOD) == ["checkout", "install"]


async def test_an_unmerged_commit_uses_what_a_merged_one_installed_where_nothing_else_is_asked_for(host: Host) -> None:
    base, change = commits(host)
    await host.start(base, GOOD)
    await host.end()
    parts = await host.start(change, GOOD, base=base)
    proof = await host.end()
    assert (parts, proof.checks) == (["checkout"], UNCHANGED)


async def test_what_a_change_leaves_as_it_was_is_installed_below_it_and_stays_for_the_next_job(host: Host) -> None:
    base, change = commits(host)
    where = Install(run="mkdir -p node_modules && ls >node_modules/where")
    parts = await host.start(change, where, base=base)
    said, at = (host.slot.path / "node_modules" / "where").read_text(), (host.slot.path / "b.txt").read_text()
    proof = await host.end()
    assert (parts[-1], said, at, proof.checks, await host.start(change, where, base=base)) == (
        "install", "a.txt\nnode_modules\nsrc\n", "{}", UNCHANGED, ["checkout"],
    )  # fmt: skip


async def test_a_change_that_mends_an_install_which_fails_below_it_is_installed_for_itself(host: Host) -> None:
    base, change = commits(host)
    parts = await host.start(change, Install(run="mkdir -p node_modules && test -e b.txt"), base=base)
    assert (parts[-1], (await host.end()).checks[-1]) == ("install", "dependencies of an unmerged commit: thrown away")


async def test_a_job_finds_its_own_install_again_and_after_a_crash_nobody_does(host: Host) -> None:
    base, change = commits(host, file="package.json")
    await host.start(change, GOOD, base=base)
    host.jobs -= 1  # the same ticket prepares again
    again = await host.start(change, GOOD, base=base)
    await host.pool.open()  # the lease is over, and nobody gave the slot back
    other = await host.start(change, GOOD, base=base)
    assert (again, other) == (["checkout"], ["checkout", "install"])


async def test_an_install_sees_no_store_but_its_own(tmp_path: Path, host: Host) -> None:
    await host.start(commit(host.origin, {"b.txt": "b"}), EVIL)
    slots = tmp_path / "slots"
    slot = await Pool(slots, open_store(sqlite_url(tmp_path / "s.db")), host="h", slots=9).lease(
        "acme/other", ticket=90, epoch=1
    )
    assert slot is not None
    looks = Install(run=f"ls {slots} {slots}/acme__app >seen 2>&1; mkdir node_modules; mv seen node_modules/")
    await host.pool.prepare(
        slot, url=str(host.origin), token=None, sha=commit(host.origin, {"c.txt": "c"}), install=looks,
        on_part=lambda *_: None,
    )  # fmt: skip
    seen = (slot.path / "node_modules" / "seen").read_text()
    assert seen == f"ls: cannot access '{slots}/acme__app': No such file or directory\n{slots}:\nacme__other\n"


async def test_a_failed_install_of_an_unmerged_commit_leaves_no_store(host: Host) -> None:
    base, change = commits(host, file="package.json")
    with pytest.raises(InstallFailed, match="exit code 3"):
        await host.start(change, Install(run="exit 3"), base=base)
    there = host.slot.path.with_name("store").exists()
    proof = await host.end()
    assert (there, proof.clean, host.slot.path.with_name("store").exists()) == (True, True, False)


async def test_the_one_store_that_all_repositories_had_is_gone_after_a_start(tmp_path: Path) -> None:
    (tmp_path / "slots" / "store" / "npm").mkdir(parents=True)
    pool = Pool(tmp_path / "slots", open_store(sqlite_url(tmp_path / "s.db")), host="h", slots=1)
    await pool.open()
    await pool.close()
    assert not (tmp_path / "slots" / "store").exists()
