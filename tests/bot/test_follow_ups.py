"""Attempts that go on from earlier work: reviews, moved bases, fresh budgets, and failures that were there before."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.world import World, change, living
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with living(tmp_path_factory.mktemp("follow-ups")) as world:
        yield world


async def test_a_review_is_followed_up_on_the_same_branch_then_merged_with_a_base_that_conflicts(world: World) -> None:
    repo = world.repository("acme/review")
    world.model.says(repo, change("def add(a, b):\n    return a + b\n"), {"say": "It adds now."})
    first = await world.ask(repo)

    world.model.says(
        repo, change("def add(a, b):\n    return b + a\n"), {"say": "Swapped, as asked."},
        feedback=True, when=["@ann: calc.py:2: Swap them, please."],
    )  # fmt: skip
    world.forge.review_comment(repo, first.pull or 0, "Swap them, please.", path="calc.py", line=2, user="ann")
    second = await world.done(repo, attempt=2)
    said = "Closes #1\n\nSwapped, as asked."
    await world.seen(lambda: world.forge.issue(repo, first.pull or 0).body.startswith(said))

    world.forge.commit(repo, {"calc.py": "def add(a, b):\n    return sum((a, b))\n"}, "Sum")
    both = "def add(a, b):\n    return sum((b, a))\n"
    world.model.says(repo, {"bash": "cat calc.py"}, change(both), {"say": "Both hold."},
                     feedback=True, when=["These files conflict", "- calc.py"])  # fmt: skip
    world.forge.comment(repo, first.pull or 0, "/bot retry", user="ann")
    third = await world.done(repo, attempt=3)

    assert [(t.outcome, t.verdict, t.pull, t.branch) for t in (first, second, third)] == [
        ("proposed", "GREEN", first.pull, "sluice/issue-1")
    ] * 3
    branch = world.git(repo, "log", "--first-parent", "--format=%s|%p", "sluice/issue-1", "-3").splitlines()
    who = world.git(repo, "log", "-1", "--format=%an <%ae>%n%(trailers)", second.head_sha or "").splitlines()
    one, two, three = ((t.head_sha or "")[:7] for t in (first, second, third))
    assert branch == [
        f"Merge main into sluice/issue-1|{two} {(third.base_sha or '')[:7]}",
        f"Swapped, as asked.|{one}",
        f"add subtracts|{(first.base_sha or '')[:7]}",
    ]
    numbers = {name: world.forge.state.users[name].id for name in ("sluice[bot]", "ann")}
    assert who == [
        f"sluice[bot] <{numbers['sluice[bot]']}+sluice[bot]@users.noreply.127.0.0.1>",
        f"Co-authored-by: ann <{numbers['ann']}+ann@users.noreply.127.0.0.1>",
    ]
    assert (world.forge.file(repo, "sluice/issue-1", "calc.py"), three != two) == (both.encode(), True)
    [check] = world.forge.checks(repo, third.head_sha or "")
    assert check.conclusion == "success"


async def test_a_base_that_moves_into_a_conflict_while_the_agent_works_goes_back_to_it_and_is_merged(
    world: World,
) -> None:
    repo = world.repository("acme/moving", "[merge]\nauto = true\n")
    sums = {"calc.py": "def add(a, b):\n    return sum((a, b))\n"}
    world.model.before[f"{repo}#1"] = lambda: world.forge.commit(repo, sums, "Sum")
    world.model.says(repo, change("def add(a, b):\n    return a + b\n"), {"say": "It adds now."})
    world.model.says(repo, change("def add(a, b):\n    return sum([a, b])\n"), {"say": "Both."}, feedback=True)
    ended = await world.ask(repo)

    told = world.model.told().partition("<feedback>")[2]
    assert (ended.outcome, ended.reason, world.forge.file(repo, "main", "calc.py"), told.strip().splitlines()[-3:]) == (
        "merged",
        f"Merged as pull request #{ended.pull}. `main` moved once meanwhile: the change was brought up to date and gated again.",
        b"def add(a, b):\n    return sum([a, b])\n",
        ["- calc.py", "Bring each into a state in which what both wanted holds, without markers, and check it.",
         "</feedback>"],
    )  # fmt: skip


async def test_a_merge_that_the_agent_leaves_unfinished_is_never_pushed(world: World) -> None:
    repo = world.repository("acme/unfinished", "[agent]\nrounds = 2\n")
    world.model.before[f"{repo}#1"] = lambda: world.forge.commit(repo, {"calc.py": "add = sum\n"}, "Sum")
    world.model.says(repo, change("def add(a, b):\n    return a + b\n"), {"say": "It adds now."})
    world.model.says(repo, {"say": "I leave it."}, feedback=True)
    ended = await world.ask(repo)

    assert (ended.outcome, ended.reason, world.forge.file(repo, "sluice/issue-1", "calc.py")) == (
        "proposed",
        "`main` moved and the change conflicts with it; the agent's merge of them is not green: conflicts with the base "
        "are left in `calc.py`. Merge it by hand, or comment `/bot retry`.",
        b"def add(a, b):\n    return a + b\n",
    )


async def test_a_branch_that_is_there_already_is_left_alone(world: World) -> None:
    repo = world.repository("acme/taken")
    theirs = world.forge.commit(repo, {"theirs.txt": "x\n"}, "Theirs", branch="sluice/issue-1", user="ann")
    world.model.says(repo, change("def add(a, b):\n    return a + b\n"), {"say": "It adds now."})
    ended = await world.ask(repo)
    assert (ended.outcome, ended.branch, world.forge.sha(repo, "sluice/issue-1")) == (
        "proposed", "sluice/issue-1-2", theirs,
    )  # fmt: skip


async def test_a_budget_that_ran_out_keeps_the_work_and_more_of_it_goes_on_from_there(world: World) -> None:
    repo = world.repository("acme/budget", "[budget]\ntokens = 20000\n")
    much = {"input_tokens": 30_000, "output_tokens": 10}
    world.model.says(repo, {**change("BEGUN = 1\n", "begun.py"), "usage": much}, {"say": "never said"})
    first = await world.ask(repo)
    next_step = "Next: comment `/bot budget $2` to go on from the work so far."
    await world.seen(lambda: next_step in world.forge.comments(repo, 1)[0])

    world.model.sessions.clear()
    world.model.says(repo, {"bash": "mv begun.py done.py"}, {"say": "Went on."})
    world.forge.comment(repo, 1, "/bot budget 1M tokens", user="ann")
    second = await world.done(repo, attempt=2)

    assert (first.outcome, first.reason.partition(" The work")[0], first.pull, second.outcome) == (
        "over_budget", "The budget of 20,000 tokens is used up.", None, "proposed",
    )  # fmt: skip
    assert (world.model.told().splitlines()[-1], world.forge.file(repo, "sluice/issue-1", "done.py")) == (
        "The working tree holds what an earlier attempt began. Look at it, and go on from there.", b"BEGUN = 1\n",
    )  # fmt: skip


async def test_a_failure_that_the_base_has_too_is_named_and_the_same_twice_ends_it(world: World) -> None:
    broken = "import unittest\nclass B(unittest.TestCase):\n    def test_old(self):\n        self.fail('old trouble')\n"
    repo = world.repository("acme/broken", "[agent]\nrounds = 5\n", **{"test_broken.py": broken})
    asked = len(world.model.requests)
    world.model.says(repo, change("def add(a, b):\n    return a + b\n"), {"say": "It adds now."})
    world.model.says(repo, change("def add(a, b):\n    return b + a\n"), {"say": "Again."}, feedback=True)
    ended = await world.ask(repo)

    shared = "`test` fails in the same way on the base commit, without the change."
    assert (ended.outcome, ended.reason.endswith(f". {shared}"), len(world.model.requests) - asked) == ("red", True, 4)
    assert f"{shared} That is not your change's fault: mend it only if the issue asks for it." in world.model.told()
