"""What the forge itself knows of issues that wait for each other: its dependencies and its sub-issues."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.inbox.webhook import Receiver
from bot.serving import serve_in_thread
from bot.tickets import scheduler, tickets
from bot.tickets.scheduler import Here
from bot.tickets.store import open_store, sqlite_url
from tests.bot.inbox_builders import REPO, House
from tests.plain import PLAIN

HERE = Here(free_slots=8, now=2_000_000.0)


@pytest.fixture
async def house(forge: LocalForge, github: GitHub, tmp_path: Path) -> AsyncIterator[House]:
    """Yield a house whose forge delivers its webhooks, signed, over HTTP."""
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    receiver = Receiver(store, [forge.secret], now=lambda: 1_000_000.0, stored=lambda: None)
    async with httpx.AsyncClient(verify=PLAIN, timeout=5.0) as http:
        made = House(forge, github, store, http)
        with serve_in_thread(Starlette(routes=receiver.routes())) as served:
            forge.hooks.target = f"{served.url}/webhook"
            yield made
            await asyncio.to_thread(receiver.close)
    store.close()


async def heard(house: House, count: int) -> None:
    """Let intake act on all that the forge has sent by now: so many deliveries."""
    sent = house.forge.state.deliveries
    await asyncio.to_thread(house.forge.wait, lambda: sum(d.status == "OK" for d in sent) == count)
    await house.intake.process_new()


def waits(house: House, issue: int) -> str:
    """Return why an issue's ticket waits after a tick; `runs` where it was taken."""
    scheduler.tick(house.store, HERE, host="h")
    with house.store.read() as c:
        found = tickets.find_ticket(c, REPO, issue)
    assert found is not None
    return found.reason or "runs"


def issues(house: House, *bodies: str) -> None:
    for body in bodies:
        house.forge.open_issue(REPO, "An issue", body, user="ann")


async def test_a_ticket_waits_for_the_issues_that_block_it_until_they_are_closed(house: House) -> None:
    issues(house, "", "Paths: b")
    house.forge.block_issue(REPO, 2, 1, user="ann")
    house.forge.label_issue(REPO, 2, "bot", user="ann")
    await heard(house, 4)
    before = waits(house, 2)
    house.forge.close_issue(REPO, 1, user="ann")
    await heard(house, 5)
    assert (before, waits(house, 2)) == ("Depends on #1, which is not done.", "runs")


async def test_a_block_that_comes_and_goes_while_a_ticket_waits_counts(house: House) -> None:
    issues(house, "", "Paths: b")
    house.forge.label_issue(REPO, 2, "bot", user="ann")
    house.forge.block_issue(REPO, 2, 1, user="ann")
    await heard(house, 4)
    before = waits(house, 2)
    house.forge.unblock_issue(REPO, 2, 1, user="ann")
    await heard(house, 5)
    assert (before, waits(house, 2)) == ("Depends on #1, which is not done.", "runs")


async def test_a_whole_waits_for_its_sub_issues_and_they_do_not_wait_for_it(house: House) -> None:
    issues(house, "Paths: a", "Part of #1\nPaths: a/b")
    house.forge.add_part(REPO, 1, 2, user="ann")
    for number in (1, 2):
        house.forge.label_issue(REPO, number, "bot", user="ann")
    await heard(house, 5)
    assert (waits(house, 1), waits(house, 2)) == ("Depends on #2, which is not done.", "runs")


async def test_an_issue_that_the_text_names_and_that_nobody_gave_us_is_waited_for_while_it_is_open(
    house: House,
) -> None:
    issues(house, "A person does this.", "Paths: b\n\nBlocked by #1", "Paths: c\n\nBlocked by #99")
    for number in (2, 3):
        house.forge.label_issue(REPO, number, "bot", user="ann")
    await heard(house, 5)
    assert (waits(house, 2), waits(house, 3)) == ("Depends on #1, which is not done.", "runs")


async def test_an_edit_changes_what_a_waiting_ticket_claims_and_waits_for(house: House) -> None:
    issues(house, "", "Paths: b\n\n- [ ] #1 first")
    house.forge.label_issue(REPO, 2, "bot", user="ann")
    await heard(house, 3)
    before = waits(house, 2)
    house.forge.edit_issue(REPO, 2, title="An issue", body="Paths: c\n\n- [x] #1 first", user="ann")
    await heard(house, 4)
    with house.store.read() as c:
        changed = tickets.find_ticket(c, REPO, 2)
    assert changed is not None
    assert (before, changed.claim, changed.edges) == ("Depends on #1, which is not done.", ("c",), ())
