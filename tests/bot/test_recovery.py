"""What never arrived is found: redelivered, pulled, or swept up by its label."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette

from bot.errors import UserError
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.inbox.recovery import Recovery, replay
from bot.inbox.webhook import Receiver
from bot.serving import serve_in_thread
from bot.tickets import repositories
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import Outcome
from tests.bot.inbox_builders import LABEL, REPO, House

NOTHING_LISTENS = "http://127.0.0.1:9/webhook"


@pytest.fixture
def house(forge: LocalForge, github: GitHub, tmp_path: Path) -> Iterator[House]:
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    house = House(forge, github, store)
    house.now = time.time() + 3600.0
    yield house
    store.close()


def recovery(house: House) -> Recovery:
    return Recovery(house.store, house.github, label=LABEL, now=lambda: house.now, stored=lambda: None)


def missed_label(house: House) -> None:
    """Put the label on while nobody listens."""
    house.forge.hooks.target = NOTHING_LISTENS
    house.forge.open_issue(REPO, "Bug", "It breaks.", user="ann", labels=(LABEL,))
    house.forge.wait(
        lambda: len(house.forge.state.deliveries) == 2 and all(d.status for d in house.forge.state.deliveries)
    )


async def test_what_failed_is_asked_for_again_and_makes_one_ticket(house: House) -> None:
    missed_label(house)
    receiver = Receiver(house.store, [house.forge.secret], now=lambda: house.now, stored=lambda: None)
    with serve_in_thread(Starlette(routes=receiver.routes())) as served:
        house.forge.hooks.target = f"{served.url}/webhook"
        asked = await recovery(house).redeliver()
        house.forge.wait(lambda: [d.status for d in house.forge.state.deliveries].count("OK") == 2)
        again = await recovery(house).redeliver()
    receiver.close()
    await house.intake.process_new()
    assert (asked, again, house.state()) == (2, 0, "queued 1 ann")


async def test_a_bot_that_no_webhook_reaches_pulls_its_deliveries(house: House) -> None:
    missed_label(house)
    pulling = recovery(house)
    counts = [await pulling.pull(), await pulling.pull()]
    await house.intake.process_new()
    assert (counts, house.state()) == ([2, 0], "queued 1 ann")


async def test_a_labelled_issue_without_a_ticket_is_swept_up_once(house: House) -> None:
    missed_label(house)
    with house.store.write() as c:
        repositories.keep_installation(c, REPO, 1)
    counts = []
    for _ in range(2):
        counts.append(await recovery(house).sweep())
        await house.intake.process_new()
    assert (counts, house.state()) == ([1, 0], "queued 1 ann")


async def test_a_delivery_that_comes_after_the_sweep_starts_nothing_new(house: House) -> None:
    missed_label(house)
    with house.store.write() as c:
        repositories.keep_installation(c, REPO, 1)
    await recovery(house).sweep()
    await house.intake.process_new()
    house.end(Outcome.RED)
    house.forge.issue(REPO, 1).labels.clear()  # as the outbox does once work began
    await recovery(house).pull()
    await house.intake.process_new()
    assert house.state() == "done 1 ann"


async def test_an_outsiders_issue_that_is_swept_up_needs_approval(house: House) -> None:
    house.forge.open_issue(REPO, "Bug", "It breaks.", user="eve", labels=(LABEL,))
    with house.store.write() as c:
        repositories.keep_installation(c, REPO, 1)
    await recovery(house).sweep()
    await house.intake.process_new()
    assert house.state() == "needs_approval 1 eve"


async def test_a_forge_that_is_away_is_asked_next_time(house: House) -> None:
    missed_label(house)
    house.forge.fail_next("GET", "/app/hook/deliveries", 500, times=99)
    recovering = recovery(house)
    await recovering.recover()
    house.forge.faults.clear()
    assert await recovering.pull() == 2


async def test_replay_reads_a_delivery_once_more(house: House) -> None:
    await house.label(sender="tim")
    replay(house.store, "g-1")
    await house.intake.process_new()
    assert house.state() == "needs_approval 1 tim"


def test_replay_of_an_unknown_delivery_says_where_to_look(house: House) -> None:
    with pytest.raises(UserError, match="no delivery 'nope' is stored here"):
        replay(house.store, "nope")
