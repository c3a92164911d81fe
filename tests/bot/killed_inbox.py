"""Run as a program by test_kills.py: a receiver to be killed, or intake that kills itself at its n-th step."""

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import sqlalchemy as sa
import uvicorn
from starlette.applications import Starlette

from bot.forges.github import GitHub
from bot.inbox.intake import Intake
from bot.inbox.webhook import Receiver
from bot.tickets import posts
from bot.tickets.store import Store, open_store, sqlite_url
from tests.plain import PLAIN


class Deadly(Store):
    """A store that kills its process before or after its n-th commit."""

    def __init__(self, engine: sa.Engine, left: int) -> None:
        super().__init__(engine)
        self.left = left

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        with super().write() as c:
            yield c
            self.step()
        self.step()

    def step(self) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


async def act(store: Store, forge_url: str, token: str) -> None:
    async with httpx.AsyncClient(verify=PLAIN, timeout=5.0) as http:
        github = GitHub(http, api_url=forge_url, app=None, token=token, now=time.time)

        def told(c: sa.Connection, ticket: int) -> None:
            wanted = {"issue": ticket, "marker": "", "body": "a ticket"}
            posts.want(c, f"comment:{ticket}", "comment", repository="acme/app", wanted=wanted, now=1.0)

        await Intake(store, github, label="bot", now=lambda: 1.0, told=told).process_new()


def run(db: Path, forge_url: str, token: str, *, kill_at: int) -> bool:
    """Act on a database in a process of its own; True where it lived to the end."""
    child = os.fork()
    if child == 0:
        asyncio.run(act(Deadly(open_store(sqlite_url(db)).engine, kill_at), forge_url, token))
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def kill_at_each_step(db: Path, forge_url: str, token: str) -> list[Path]:
    """Kill intake once at each of its steps, on a copy of the database each, and start it again; return the copies."""
    made: list[Path] = []
    for step in range(100):
        copy = db.with_name(f"killed-{step}.db")
        shutil.copyfile(db, copy)
        lived = run(copy, forge_url, token, kill_at=step)
        if lived:
            return made
        if not run(copy, forge_url, token, kill_at=-1):
            raise SystemExit("it does not live after a kill")
        made.append(copy)
    raise SystemExit("it never ends")


def receive(db: Path, port: int) -> None:
    receiver = Receiver(open_store(sqlite_url(db)), ["s"], now=time.time, stored=lambda: None)
    uvicorn.run(Starlette(routes=receiver.routes()), port=port, log_level="error")


if __name__ == "__main__":
    what, db, *rest = sys.argv[1:]
    if what == "receive":
        receive(Path(db), int(rest[0]))
    else:
        sys.stdout.write(json.dumps([str(copy) for copy in kill_at_each_step(Path(db), *rest)]))
