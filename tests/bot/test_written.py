"""The forge's limits hold for all hosts together."""

import asyncio
import time
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from bot.forges.auth import App
from bot.forges.errors import RateLimited
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.tickets.store import open_store
from bot.tickets.written import Written
from tests.plain import PLAIN

LIMITS = ((7, 60.0), (100, 3600.0))


@pytest_asyncio.fixture
async def hosts(postgres_url: str) -> AsyncIterator[list[Written]]:
    stores = [open_store(postgres_url) for _ in range(2)]
    yield [Written(store, LIMITS) for store in stores]
    for store in stores:
        store.close()


async def test_hosts_that_write_at_the_same_time_keep_one_limit_together(hosts: list[Written]) -> None:
    waits = await asyncio.gather(*(hosts[n % 2].take("acme") for n in range(12)))
    assert (waits.count(0.0), all(55.0 < wait <= 60.0 for wait in waits if wait)) == (7, True)
    assert await hosts[0].take("other") == 0.0


async def test_a_client_asks_nothing_more_once_the_hosts_together_wrote_enough(
    hosts: list[Written], forge: LocalForge
) -> None:
    forge.create_repository("acme/app", {"a.txt": "one\n"})
    number = forge.open_issue("acme/app", "Bug", "text", user="ann")
    async with httpx.AsyncClient(verify=PLAIN) as http:
        clients = [
            GitHub(http, api_url=forge.api_url, app=App(str(forge.app_id), forge.private_key), token=None,
                   now=time.time, shared=host.take)
            for host in hosts
        ]  # fmt: skip
        for n in range(7):
            await clients[n % 2].create_comment("acme/app", number, f"<!-- {n} -->")
        with pytest.raises(RateLimited, match=r"POST .*: not asked; acme has to wait \d\d s"):
            await clients[0].create_comment("acme/app", number, "one too many")
        await clients[0].issue("acme/app", number)  # reading goes on
    assert len(forge.comments("acme/app", number)) == 7
