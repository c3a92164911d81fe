"""A finished change whose push fails: an outage is waited for, a spent token renewed, a refusal told."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bot.tickets import journal
from bot.tickets.ticket import Ticket
from tests.bot.world import World, change, living
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with living(tmp_path_factory.mktemp("push-faults")) as world:
        yield world


async def pushed(world: World, name: str, fault: int | str) -> tuple[Ticket, int]:
    """Return the ticket whose first push met this fault, and how often its log says that it waits."""
    repo = world.repository(f"acme/{name}")
    world.model.says(repo, change("def add(a, b):\n    return a + b\n"), {"say": "It adds now."})
    world.forge.fail_next("POST", f"{repo}.git/git-receive-pack", fault)
    ticket = await world.ask(repo)
    with world.service.store.read() as c:
        return ticket, sum("waiting for the forge" in line.line for line in journal.lines_after(c, ticket.id, 0))


async def test_an_outage_is_waited_for_a_spent_token_renewed_and_a_refusal_told(world: World) -> None:
    faults: dict[str, int | str] = {"away": 502, "lost": "done, then cut", "spent": 401, "refused": 403}
    found = await asyncio.gather(*(pushed(world, name, fault) for name, fault in faults.items()))
    ends = {name: (t.outcome, t.verdict, waits) for name, (t, waits) in zip(faults, found, strict=True)}
    assert ends == {
        "away": ("proposed", "GREEN", 1), "lost": ("proposed", "GREEN", 1), "spent": ("proposed", "GREEN", 0),
        "refused": ("failed", "GREEN", 0),
    }  # fmt: skip
    reason = found[-1][0].reason
    assert reason.startswith("The push of `sluice/issue-1` was refused: git push: error: RPC failed; HTTP 403")
    assert reason.endswith(
        "Look whether the App is installed on this repository and may write its contents; then `/bot retry`"
    )
