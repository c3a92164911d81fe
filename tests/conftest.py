"""What many tests stand on."""

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from bot.forges.auth import App
from bot.forges.github import GitHub
from bot.forges.local import LocalForge


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[LocalForge]:
    """Yield an empty local forge that listens on a free port."""
    forge = LocalForge(tmp_path / "forge")
    yield forge
    forge.close()


@pytest.fixture
async def github(forge: LocalForge) -> AsyncIterator[GitHub]:
    """Yield a client of the local forge that signs in as its App."""
    async with httpx.AsyncClient(timeout=2.0) as http:
        app = App(str(forge.app_id), forge.private_key)
        yield GitHub(http, api_url=forge.api_url, app=app, token=None, now=time.time)
