"""What many tests stand on."""

import asyncio
import gc
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from bot.forges.auth import App
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.tickets.store import Store, open_store, sqlite_url
from tests.contract import Contract
from tests.plain import PLAIN
from tests.postgres import PostgresServer, programs

gc.set_threshold(100_000, 30, 30)  # thousands of collected tests are no garbage; looking at them again and again costs


@pytest.fixture
def contract() -> Iterator[Contract]:
    """Fail the test where a request, an answer or an event is not as GitHub describes it."""
    contract = Contract()
    yield contract
    assert contract.wrong == []


@pytest.fixture
def forge(tmp_path: Path, contract: Contract) -> Iterator[LocalForge]:
    """Yield an empty local forge that listens on a free port; all that it says and hears is held to the contract."""
    forge = LocalForge(tmp_path / "forge", pauses_s=(0.02, 0.1))
    forge.observer = contract
    yield forge
    forge.close()


@pytest.fixture
async def github(forge: LocalForge) -> AsyncIterator[GitHub]:
    """Yield a client of the local forge that signs in as its App and never sleeps."""

    async def sleep(seconds: float) -> None:
        del seconds
        await asyncio.sleep(0)

    async with httpx.AsyncClient(verify=PLAIN) as http:
        app = App(str(forge.app_id), forge.private_key)
        yield GitHub(http, api_url=forge.api_url, app=app, token=None, now=time.time, sleep=sleep, limit_s=2.0)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Yield a real PostgreSQL server of our own; it ends with the tests."""
    if programs() is None:
        if os.environ.get("CI"):
            raise RuntimeError("PostgreSQL is missing; scripts/setup should have installed it")
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    """Return the address of a database of this test's own."""
    return postgres.create_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Yield an empty store, on each kind of database."""
    url = sqlite_url(tmp_path / "s.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    store = open_store(url)
    yield store
    store.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put fast files first, then slow ones, the largest of those first: so that no worker is left alone with one."""
    slow = Counter[Path]()
    for item in items:
        marker = item.get_closest_marker("slow")
        slow[item.path] += marker.kwargs.get("seconds", 3) if marker else 0
    items.sort(key=lambda item: (slow[item.path] > 0, -slow[item.path]))
    gc.freeze()
