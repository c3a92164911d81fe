"""What the bot stands on goes away while it works: it waits, says so, goes on by itself, and pays no agent twice."""

import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bot.forges.local import LocalForge
from tests.bot.living import SHOP, TURNS, Bot, Model, cart_model, open_shop
from tests.gateway import Gateway
from tests.needs import needs
from tests.postgres import PostgresServer, programs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow(seconds=9)]


@pytest.fixture
def model() -> Iterator[Model]:
    with cart_model() as model:
        yield model


@pytest.mark.skipif(programs() is None, reason="needs PostgreSQL: apt-get install postgresql")
def test_a_database_that_is_restarted_or_cut_off_is_waited_for(tmp_path: Path, forge: LocalForge, model: Model) -> None:
    open_shop(forge)
    with PostgresServer() as server, Gateway(server.port) as gateway:
        url = server.create_database().replace(f":{server.port}/", f":{gateway.port}/")
        with Bot(tmp_path, forge, model.url, BOT_DATABASE_URL=url) as bot:
            forge.label_issue(SHOP, 1, "bot", user="ann")
            forge.wait(lambda: len(model.requests) >= 2, limit_s=60)
            server.stop()
            bot.until("database away; waiting for it")
            server.start()
            bot.until("database back")  # the next outage is another one
            bot.until("stage started", stage="verify")
            gateway.cut()
            bot.until("database away; waiting for it", nth=2)
            gateway.open()
            forge.wait(lambda: forge.issue(SHOP, 1).labels == ["bot: merged"], limit_s=60)
            bot.signal(signal.SIGTERM)
            code = bot.ended()
    assert (code, len(model.requests), len(bot.events("database back"))) == (0, TURNS, 2)


def test_a_full_disk_is_waited_for(tmp_path: Path, forge: LocalForge, model: Model) -> None:
    open_shop(forge)
    with Bot(tmp_path, forge, model.url) as bot:
        limits = psutil.Process(bot.process.pid)
        forge.label_issue(SHOP, 1, "bot", user="ann")
        forge.wait(lambda: len(model.requests) >= 2, limit_s=60)
        limits.rlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))  # no file grows past its first page
        bot.until("database away; waiting for it")
        limits.rlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        forge.wait(lambda: forge.issue(SHOP, 1).labels == ["bot: merged"], limit_s=60)
    assert len(model.requests) == TURNS
