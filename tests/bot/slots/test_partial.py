"""A mirror without the files of older commits: made over real HTTP, and all that a job does works without the forge."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.connecting import GATE
from bot.sandbox import proc
from bot.sandbox.box import Box, wrap
from bot.slots import git
from bot.slots.lacking import lacking
from bot.slots.mirrors import Mirrors, never
from bot.slots.partial import LACKS, is_partial
from bot.slots.pool import Pool
from bot.slots.slot import Slot
from bot.tickets.store import open_store, sqlite_url
from tests.bot.slots.origin import commit, make_origin, run
from tests.bot.slots.smart_http import TOKEN, serving
from tests.bot.world import CALC, change, living
from tests.needs import needs

pytestmark = needs("bwrap", package="bubblewrap")
REPO = "acme/app"
US = ("S", "s@x")


async def always(repository: str) -> bool:
    return bool(repository)


async def token() -> str:
    return TOKEN


@dataclass
class Forge:
    """A repository served over HTTP: `base` of main and `head` of work, which parted at `parted`, all with a past."""

    path: Path
    url: str
    asked: list[str]
    base: str
    head: str
    parted: str


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    origin = make_origin(tmp_path / "origin")
    (tmp_path / "origin" / "gate.toml").write_text(
        '[steps.test]\nrun = "grep -q four a.txt"\nkind = "test"\nevidence = "exit"\n'
    )
    text = "\n".join(f"line {n}" for n in range(50))
    shas = [commit(origin, {"a.txt": f"{text}\n{word}\n", "old.txt": word}) for word in ("two", "three")]
    run("git", "checkout", "-qb", "work", cwd=origin)
    commit(origin, {"a.txt": f"work\n{text}\nthree\n"})
    head = commit(origin, {"a.txt": f"worked\n{text}\nthree\n"})
    run("git", "checkout", "-q", "main", cwd=origin)
    base = commit(origin, {"a.txt": f"{text}\nfour\n"})
    run("git", "config", "uploadpack.allowFilter", "true", cwd=origin)
    run("git", "config", "http.receivepack", "true", cwd=origin)
    with serving(tmp_path) as (address, asked):
        yield Forge(origin, f"{address}/origin/.git", asked, base, head, shas[-1])


def pool_in(folder: Path, *, large: bool = True) -> Pool:
    folder.mkdir(exist_ok=True)
    store = open_store(sqlite_url(folder / "s.db"))
    return Pool(folder / "slots", store, host=folder.name, slots=1, mirrors=Mirrors(always if large else never))


async def leased(pool: Pool, forge: Forge, sha: str, ticket: int = 1, beside: tuple[str, ...] = ()) -> Slot:
    slot = await pool.lease(REPO, ticket=ticket, epoch=1)
    assert slot is not None
    await pool.prepare(
        slot, url=forge.url, token=TOKEN, sha=sha, install=None, on_part=lambda *_: None, beside=beside
    )  # fmt: skip
    return slot


async def in_box(slot: Slot, *argv: str) -> proc.Done:
    box = Box("bubblewrap", slot.path, slot.home, readable=(slot.mirror, slot.git_dir))
    command, env = wrap(box, argv, env={})
    return await proc.run(*command, cwd=slot.path, env=env, limit_s=30)


async def test_a_job_needs_the_forge_before_its_box_closes_and_for_the_push_alone(tmp_path: Path, forge: Forge) -> None:
    pool = pool_in(tmp_path / "here")
    slot = await leased(pool, forge, forge.head)
    await pool.mirrors.have(slot, forge.base, forge.head, url=forge.url, token=token, beyond=forge.base)
    before = len(forge.asked)
    merged = await git.merge_commits(slot.mirror, forge.head, forge.base, message="m", author=US)
    await git.keep_ref(slot.mirror, "refs/sluice/work/1-1", merged.sha)
    bundle = await git.bundle(slot.mirror, forge.base, "refs/sluice/work/1-1")
    marked = await git.marked(slot.mirror, merged.sha, ["a.txt"])
    await pool.prepare(slot, url=forge.url, token=TOKEN, sha=merged.sha, install=None, on_part=lambda *_: None)
    edited = await in_box(slot, "sh", "-c", "git diff HEAD^2 HEAD >/dev/null && git log --oneline && echo new >new.txt")
    head = await git.commit_all(slot.tree, parent=merged.sha, message="Change", author=US, keep_as="refs/sluice/work/1")
    gated = await proc.run(
        *GATE, "run", "--repo", str(slot.path), "--base", forge.base, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"},
        limit_s=60,
    )  # fmt: skip
    left = await pool.release(slot)
    offline = len(forge.asked) == before
    pushed = await git.push(slot.mirror, url=forge.url, token=TOKEN, sha=head or "", branch="sluice/1", expected=None)
    found = run("git", "log", "--format=%s", "-3", "sluice/1", cwd=forge.path).splitlines()
    assert (is_partial(slot.mirror), merged.conflicts, marked, bool(bundle), edited.exit_code, gated.exit_code) == (
        True, (), (), True, 0, 0,
    ), edited.output + gated.output  # fmt: skip
    assert (left.clean, offline, pushed, found[:2]) == (True, True, git.Pushed(), ["Change", "m"])


async def test_a_file_of_an_older_commit_is_missing_at_once_in_the_box(tmp_path: Path, forge: Forge) -> None:
    slot = await leased(pool_in(tmp_path / "here"), forge, forge.base)
    began = time.monotonic()
    done = await in_box(slot, "git", "show", f"{forge.parted}^:old.txt")
    asked = len(forge.asked)
    patches = await in_box(slot, "git", "log", "-p")
    with pytest.raises(git.GitError, match="promisor"):
        await git.read_first(slot.mirror, f"{forge.parted}^", ("old.txt",))
    said = (bool(LACKS.search(done.output)), time.monotonic() - began < 5)
    assert (done.exit_code, patches.exit_code, said, len(forge.asked)) == (128, 128, (True, True), asked)


async def test_a_forge_that_knows_no_filters_is_cloned_whole_and_that_is_said_once(
    tmp_path: Path, forge: Forge, caplog: pytest.LogCaptureFixture
) -> None:
    run("git", "config", "uploadpack.allowFilter", "false", cwd=forge.path)
    pool = pool_in(tmp_path / "here")
    slot = await leased(pool, forge, forge.base)
    await pool.release(slot)
    newer = commit(forge.path, {"b.txt": "b\n"})
    await leased(pool, forge, newer, ticket=2)
    old = await git.read_first(slot.mirror, f"{forge.parted}^", ("old.txt",))
    said = [record.getMessage() for record in caplog.records if "whole" in record.getMessage()]
    marks = [*(slot.mirror / "objects" / "pack").glob("*.promisor")]
    assert (old, is_partial(slot.mirror), marks, len(said)) == ("two", False, [], 1)


async def test_a_mirror_stays_what_it_was_made_as_and_a_partial_one_fetches_on(tmp_path: Path, forge: Forge) -> None:
    whole, lean = pool_in(tmp_path / "whole", large=False), pool_in(tmp_path / "lean")
    slots = [await leased(pool, forge, forge.base) for pool in (whole, lean)]
    for pool, slot in zip((whole, lean), slots, strict=True):
        await pool.release(slot)
    newer = commit(forge.path, {"a.txt": "newer\n"})
    whole.mirrors.is_large, lean.mirrors.is_large = always, never
    for pool in (whole, lean):
        await leased(pool, forge, newer, ticket=2, beside=(forge.parted,))
    texts = [(slot.path / "a.txt").read_text() for slot in slots]
    kinds = [is_partial(slot.mirror) for slot in slots]
    assert (kinds, texts, await lacking(slots[1].mirror, forge.parted)) == ([False, True], ["newer\n"] * 2, [])


async def test_commits_of_another_host_arrive_though_the_files_they_change_are_missing_here(
    tmp_path: Path, forge: Forge
) -> None:
    pool = pool_in(tmp_path / "here")
    slot = await leased(pool, forge, forge.head)
    (slot.path / "a.txt").write_text((slot.path / "a.txt").read_text() + "ours\n")
    ours = await git.commit_all(slot.tree, parent=forge.head, message="m", author=US, keep_as="refs/sluice/work/1-1")
    bundle = await git.bundle(slot.mirror, forge.head, "refs/sluice/work/1-1")
    other = pool_in(tmp_path / "other")
    there = await leased(other, forge, forge.base)
    await other.mirrors.unbundle(there, bundle, ours or "", url=forge.url, token=TOKEN)
    await other.prepare(there, url=forge.url, token=TOKEN, sha=ours or "", install=None, on_part=lambda *_: None)
    assert (there.path / "a.txt").read_text().endswith("three\nours\n")


async def test_people_s_commits_between_are_fetched_for_the_bundle(tmp_path: Path, forge: Forge) -> None:
    pool = pool_in(tmp_path / "here")
    slot = await leased(pool, forge, forge.head)
    await git.keep_ref(slot.mirror, "refs/sluice/work/1-1", forge.head)
    with pytest.raises(git.GitError, match=r"promisor|lazy"):
        await git.bundle(slot.mirror, forge.parted, "refs/sluice/work/1-1")
    await pool.mirrors.have(slot, forge.head, url=forge.url, token=token, beyond=forge.parted)
    shutil.rmtree(forge.path)  # nothing more can come from there
    assert await git.bundle(slot.mirror, forge.parted, "refs/sluice/work/1-1")


@pytest.mark.slow
async def test_a_ticket_goes_all_its_way_in_a_partial_mirror_while_its_base_moves(tmp_path: Path) -> None:
    with serving(tmp_path / "forge", "Basic ") as (address, _):
        async with living(tmp_path, git_url=address) as world:
            repo = world.repository("acme/large", "[merge]\nauto = true\n", **{"other.py": "x = 1\n"})
            for name in ("uploadpack.allowFilter", "http.receivepack"):
                world.git(repo, "config", name, "true")
            for n in range(3):
                world.forge.commit(repo, {"other.py": f"x = {n}{n}\n"}, "Past")
            world.git(repo, "branch", "sluice", "main")  # git keeps no branch beside it that begins with `sluice/`
            pool = world.service.desk.pool
            pool.mirrors.is_large = always
            world.model.before[repo] = lambda: world.forge.commit(repo, {"other.py": "x = 2\n"}, "Moved")
            world.model.says(repo, change(CALC.replace("-", "+")), {"say": "It adds."})
            ticket = await world.ask(repo)
            past = f"{world.git(repo, 'rev-list', '--max-parents=0', 'main')}:other.py"
            read = await git.call("cat-file", "-e", past, git_dir=pool.mirror(repo), ok=(0, 1, 128))
            there = [is_partial(pool.mirror(repo)), read.exit_code == 0]
    said = f"Merged as pull request #{ticket.pull}. `main` moved once meanwhile: the change was brought up to date and gated again."
    assert (ticket.outcome, ticket.reason, ticket.branch, there) == ("merged", said, "sluice-issue-1", [True, False])
