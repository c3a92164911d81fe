"""What happens in the very moment of a merge: the base moves, somebody pushes, the forge does not know yet."""

import itertools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.test_merging import requiring
from tests.bot.world import World, living
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with living(tmp_path_factory.mktemp("merge-races")) as world:
        yield world


async def test_a_base_that_moves_in_the_moment_of_the_merge_is_merged_in_and_the_gate_judges_again(
    world: World,
) -> None:
    repo = requiring(world, "acme/strict")
    world.forge.state.repositories[repo].is_strict = True
    world.forge.fail_next("PUT", f"{repo}/pulls/.*/merge$", lambda: world.forge.commit(repo, {"new.txt": "x\n"}, "New"))
    told = "`main` moved on and was merged into the change; the gate judges the two together."
    world.forge.fail_next(
        "PUT", f"{repo}/pulls/.*/merge$", lambda: world.forge.wait(lambda: told in world.forge.comments(repo, 1)[0])
    )
    ticket = await world.ask(repo)
    lines = world.log(ticket)
    assert (ticket.outcome, ticket.reason, [line for line in lines if line.startswith("gate ")], asked(world, repo)) == (
        "merged",
        f"Merged as pull request #{ticket.pull}. `main` moved once meanwhile: the change was brought up to date and gated again.",
        ["gate GREEN: 1 step, 1 ran, 1 test executed, 0 skipped"] * 2, 2,
    )  # fmt: skip


async def test_a_base_that_never_stands_still_is_left_to_people(world: World) -> None:
    repo, turns = requiring(world, "acme/restless"), itertools.count()
    world.forge.state.repositories[repo].is_strict = True
    world.forge.fail_next(
        "PUT",
        f"{repo}/pulls/.*/merge$",
        lambda: world.forge.commit(repo, {f"{next(turns)}.txt": "x\n"}, "New"),
        times=9,
    )
    ticket = await world.ask(repo)
    assert (ticket.outcome, ticket.reason, asked(world, repo)) == (
        "proposed", "`main` moved 3 times while the gate ran; merge pull request #2 by hand.", 4,
    )  # fmt: skip


async def test_what_somebody_pushed_in_the_moment_of_the_merge_is_not_merged_unseen(world: World) -> None:
    repo, files = requiring(world, "acme/pushed"), {"theirs.txt": "x\n"}
    world.forge.fail_next(
        "PUT", f"{repo}/pulls/.*/merge$",
        lambda: world.forge.commit(repo, files, "Theirs", branch="sluice/issue-1", user="ann"),
    )  # fmt: skip
    ticket = await world.ask(repo)
    theirs = (world.forge.sha(repo, "sluice/issue-1") or "")[:10]
    assert (ticket.outcome, ticket.reason, asked(world, repo)) == (
        "proposed",
        f"Somebody pushed `{theirs}` to `sluice/issue-1`, which the gate has not judged, so it was not merged unseen.",
        1,
    )  # fmt: skip


@pytest.mark.parametrize("status", [405, 409])
async def test_a_refusal_that_passes_is_tried_again(world: World, status: int) -> None:
    repo = requiring(world, f"acme/passes-{status}")
    world.forge.fail_next(
        "PUT", f"{repo}/pulls/.*/merge$", status, message="Base branch was modified. Review and try the merge again."
    )
    ticket = await world.ask(repo)
    assert (ticket.outcome, ticket.reason, asked(world, repo)) == (
        "merged", f"Merged as pull request #{ticket.pull}.", 2,
    )  # fmt: skip


def asked(world: World, repo: str) -> int:
    """Return how often a merge was asked for."""
    return len([path for method, path in world.forge.requests if method == "PUT" and repo in path])
