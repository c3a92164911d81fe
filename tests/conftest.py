"""What many tests stand on."""

import asyncio
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from bot.forges.auth import App
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.tickets.store import Store, open_store, sqlite_url
from tests.contract import Contract


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

    async with httpx.AsyncClient() as http:
        app = App(str(forge.app_id), forge.private_key)
        yield GitHub(http, api_url=forge.api_url, app=app, token=None, now=time.time, sleep=sleep, limit_s=2.0)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a real PostgreSQL server of our own, without a database name; it ends with the tests."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if Path("/usr/lib/postgresql").is_dir() else []
    if not programs:
        if os.environ.get("CI"):
            raise RuntimeError("PostgreSQL is missing; scripts/setup should have installed it")
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="sluice-pg-"))
    as_user: list[str] = []
    if os.getuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = programs[-1]
    make = [*as_user, str(program / "initdb"), "-D", str(folder / "d"), "-A", "trust", "-U", "sluice", "--no-sync"]
    subprocess.run(make, check=True, capture_output=True)
    options = ["-c", f"port={port}", "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200"]
    server = subprocess.Popen(
        [*as_user, str(program / "postgres"), "-D", str(folder / "d"), "-k", str(folder), *options],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stderr is not None
    next(line for line in server.stderr if "ready to accept connections" in line)
    threading.Thread(target=server.stderr.read, daemon=True).start()
    yield f"postgresql://sluice@127.0.0.1:{port}"
    server.send_signal(signal.SIGQUIT)  # at once, whoever is still connected
    server.wait()
    server.stderr.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres: str) -> str:
    """Return the address of a database of this test's own."""
    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(f"{postgres}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"{postgres}/{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Yield an empty store, on each kind of database."""
    url = sqlite_url(tmp_path / "s.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    store = open_store(url)
    yield store
    store.close()
