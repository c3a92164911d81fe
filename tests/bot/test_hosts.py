"""Several hosts on one database: each has a name and a folder of its own, and takes first what is warm on it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.forges.local import LocalForge
from bot.tickets import hosts, leases, scheduler, tickets
from bot.tickets.presence import Folder, Presence
from bot.tickets.scheduler import Here
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.ticket import Stage, Ticket
from bot.tickets.tickets import Wish
from bot.tickets.warmth import Warmth
from tests.bot.living import CART, SHOP, Bot, cart_model, open_shop
from tests.needs import needs


@pytest.fixture
def shared(postgres_url: str) -> Iterator[Store]:
    store = open_store(postgres_url)
    yield store
    store.close()


def wish(issue: int, title: str = "t", key: str = "k") -> Wish:
    return Wish(repository=SHOP, issue=issue, title=title, body="text", requester="ann", label="bot", trigger_key=key)


def test_a_data_folder_serves_one_bot_at_a_time(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(ConfigError, match="BOT_DATA: expected a folder of this bot's own"):
        Folder(tmp_path)
    folder.close()
    Folder(tmp_path).close()


async def test_a_name_serves_one_host_at_a_time(shared: Store) -> None:
    first, second = (Presence(shared, name="h", heard=lambda: None) for _ in range(2))
    await first.open()
    with pytest.raises(ConfigError, match="BOT_NAME: expected a name of this host's own, got 'h'"):
        await second.open()
    await first.close()
    await second.open()
    await second.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_what_another_process_writes_is_heard(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = sqlite_url(tmp_path / "s.db") if kind == "sqlite" else request.getfixturevalue("postgres_url")
    ours, theirs = open_store(url), open_store(url)
    news = asyncio.Event()
    presence = Presence(ours, name="h", heard=news.set)
    await presence.open()
    listening = asyncio.create_task(presence.run())
    if kind == "sqlite":
        await news.wait()  # the first look
        news.clear()
    with theirs.write() as c:
        tickets.create_ticket(c, wish(1), now=1.0)
    await asyncio.wait_for(news.wait(), 10.0)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await presence.close()
    ours.close()
    theirs.close()


async def test_what_a_process_writes_itself_is_no_news_to_it(shared: Store, postgres_url: str) -> None:
    theirs, heard, news = open_store(postgres_url), [0], asyncio.Event()

    def hear() -> None:
        heard[0] += 1
        news.set()

    presence = Presence(shared, name="h", heard=hear)
    await presence.open()
    for issue, store in enumerate((shared, shared, theirs), 1):  # all is said before the first word is heard
        with store.write() as c:
            tickets.create_ticket(c, wish(issue), now=1.0)
    listening = asyncio.create_task(presence.run())
    await asyncio.wait_for(news.wait(), 10.0)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await presence.close()
    theirs.close()
    assert heard == [1]


def test_a_ticket_is_left_to_a_warm_host_for_a_moment(shared: Store) -> None:
    now = [0.0]
    cold, warm = (Warmth(name, clock=lambda: now[0]) for name in ("cold", "warm"))
    with shared.write() as c:
        for name in ("cold", "warm"):
            hosts.beat(c, name, slots=1)
        leases.lease(c, "warm", SHOP, ticket=9, epoch=1, most=1, now=1.0)
        leases.free_all(c, "warm")
        for issue in (1, 2):
            tickets.create_ticket(c, wish(issue), now=1.0)

    def take(host: str, warmth: Warmth) -> list[int]:
        return [t.issue for t in scheduler.tick(shared, Here(free_slots=1, now=1.0), host=host, warmth=warmth)]

    first = take("cold", cold)
    again_s = cold.again_s
    taken = take("warm", warm)  # its only room
    now[0] = 3.0
    assert (first, again_s, taken, take("cold", cold)) == ([], 3.0, [1], [])  # both claim everything: one at a time


def running(store: Store, made: Ticket, *, tries: int) -> None:
    """Put a ticket where a host left it that died so often in its stage."""
    with store.write() as c:
        held = tickets.take(c, made, "h", 1.0)
        tickets.write_fenced(c, held.id, held.epoch, stage=Stage.EDIT, tries=tries)


@needs("bwrap", package="bubblewrap")
@pytest.mark.slow
def test_a_stage_that_took_the_bot_down_three_times_is_given_up_and_the_others_go_on(
    tmp_path: Path, forge: LocalForge
) -> None:
    open_shop(forge)
    forge.open_issue(SHOP, "Poison", "text", user="ann")
    (tmp_path / "bot").mkdir()
    store = open_store(sqlite_url(tmp_path / "bot/sluice.db"))
    with store.write() as c:
        good, bad = (
            tickets.create_ticket(c, wish(1, CART), now=1.0),
            tickets.create_ticket(c, wish(2, "Poison"), now=1.0),
        )
    assert good is not None
    assert bad is not None
    running(store, good, tries=2)
    running(store, bad, tries=3)
    store.close()
    with cart_model() as model, Bot(tmp_path, forge, model.url):
        forge.wait(lambda: forge.issue(SHOP, 1).labels == ["bot: merged"], limit_s=60)
        forge.wait(lambda: forge.issue(SHOP, 2).labels == ["bot: failed"], limit_s=60)
    [said] = forge.comments(SHOP, 2)
    assert "The bot died 3 times in the stage edit of this ticket, so it is not tried again." in said
