"""A green change is merged as soon as the forge takes it: our own check may be required, and other people's too."""

from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from tests.bot.world import World, change, living
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

MENDED = (change("def add(a, b):\n    return a + b\n"), {"say": "It adds now."})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with living(tmp_path_factory.mktemp("merging")) as world:
        yield world


def requiring(world: World, name: str, *checks: str) -> str:
    repo = world.repository(name, "[merge]\nauto = true\n")
    world.forge.state.repositories[repo].required_checks |= set(checks)
    world.model.says(repo, *MENDED)
    return repo


async def test_where_our_own_check_is_required_the_merge_waits_until_it_is_there(world: World) -> None:
    ticket = await world.ask(requiring(world, "acme/own", "sluice"))
    assert (ticket.outcome, ticket.reason) == ("merged", f"Merged as pull request #{ticket.pull}.")


async def test_what_waits_for_checks_of_others_is_merged_by_the_forge_and_told(world: World) -> None:
    repo = requiring(world, "ci/app", "sluice", "ci")
    world.forge.state.repositories[repo].allows_auto_merge = True
    ticket = await world.ask(repo)
    await world.service.forge.create_check_run(
        repo, name="ci", head_sha=ticket.head_sha, status="completed", conclusion="success"
    )
    await world.seen(lambda: "bot: merged" in world.forge.issue(repo, ticket.issue).labels)
    assert (ticket.outcome, ticket.reason, (await world.done(repo, attempt=1)).reason) == (
        "proposed",
        'Required status check "ci" is expected. It merges by itself once everything is there that the branch requires.',
        "Merged by @sluice[bot].",
    )


async def test_a_repository_that_allows_no_such_wait_is_told_how_to(world: World) -> None:
    ticket = await world.ask(requiring(world, "acme/not-allowed", "ci"))
    assert (ticket.outcome, ticket.reason) == (
        "proposed",
        'The forge would not merge it: Required status check "ci" is expected. Allow auto-merge in the repository\'s '
        "settings, and it merges by itself once the required checks have passed.",
    )


async def test_what_somebody_pushes_while_a_merge_waits_is_not_merged_unseen(world: World) -> None:
    repo = requiring(world, "later/app", "ci")
    world.forge.state.repositories[repo].allows_auto_merge = True
    ticket = await world.ask(repo)
    theirs = world.forge.commit(repo, {"theirs.txt": "x\n"}, "Theirs", branch="sluice/issue-1", user="ann")
    await world.seen(lambda: world.forge.issue(repo, ticket.pull or 0).merges_later is None)
    await world.service.forge.create_check_run(
        repo, name="ci", head_sha=theirs, status="completed", conclusion="success"
    )
    said = (
        f"@\u200bann pushed `{theirs[:10]}` to `sluice/issue-1`, which the gate has not judged. It no longer merges by "
        "itself. Review it and merge it by hand."
    )
    await world.seen(lambda: said in world.forge.comments(repo, 1)[0])
    assert (ticket.reason.endswith("It merges by itself once everything is there that the branch requires."),
            world.forge.issue(repo, ticket.pull or 0).merged_sha) == (True, None)  # fmt: skip


async def test_a_merge_that_waits_is_taken_back_while_a_follow_up_is_written(world: World) -> None:
    repo = requiring(world, "follow/app", "ci")
    world.forge.state.repositories[repo].allows_auto_merge = True
    first = await world.ask(repo)
    waits: list[bool] = []
    world.model.before[f"{repo}#1"] = lambda: waits.append(
        bool(world.forge.wait(lambda: world.forge.issue(repo, first.pull or 0).merges_later is None))
    )
    world.model.says(repo, change("def add(a, b):\n    return b + a\n"), {"say": "Swapped."}, feedback=True)
    world.forge.comment(repo, first.pull or 0, "Swap them, please.", user="ann")
    second = await world.done(repo, attempt=2)
    assert (waits, second.outcome, world.forge.issue(repo, first.pull or 0).merges_later is not None) == (
        [True], "proposed", True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "stop", "said"),
    [
        ("closed/app", lambda world, repo: world.forge.close_issue(repo, 1, user="ann"), "The issue was closed by @\u200bann."),
        ("cancelled/app", lambda world, repo: world.forge.comment(repo, 1, "/bot cancel", user="ann"), "Cancelled by @\u200bann."),
    ],
    ids=["closed", "/bot cancel"],
)  # fmt: skip
async def test_a_merge_that_waits_is_taken_back_once_nobody_wants_the_work(
    world: World, name: str, stop: Callable[[World, str], object], said: str
) -> None:
    repo = requiring(world, name, "ci")
    world.forge.state.repositories[repo].allows_auto_merge = True
    ticket = await world.ask(repo)
    left = world.forge.issue(repo, ticket.pull or 0).merges_later is not None
    stop(world, repo)
    await world.seen(lambda: world.forge.issue(repo, ticket.pull or 0).merges_later is None)
    await world.seen(lambda: f"{said} It no longer merges by itself." in world.forge.comments(repo, 1)[0])
    assert (left, world.forge.issue(repo, ticket.pull or 0).merged_sha) == (True, None)
