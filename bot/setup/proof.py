"""Prove that the forge reaches us: have it send a ping, and wait for it where `bot serve` will listen."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

import uvicorn
from starlette.applications import Starlette

from bot.errors import ConfigError
from bot.forges.answers import Delivery
from bot.forges.errors import ForgeError
from bot.forges.github import GitHub
from bot.inbox.webhook import Receiver
from bot.serving import Server, bind
from bot.settings import Settings
from bot.tickets import deliveries
from bot.tickets.store import Store

LIMIT_S = 30.0
AGAIN_S = 1.0  # between looks at what the forge sent


async def prove(
    settings: Settings, store: Store, *, secret: str, ask: Callable[[], Awaitable[str]], limit_s: float = LIMIT_S
) -> str:
    """Listen as `bot serve` does, have a ping sent by `ask`, and return nothing once it came, or why it did not.

    Whatever else arrives meanwhile is stored as usual: nothing of the first minutes is lost.
    """
    began, came = time.time(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def stored() -> None:
        loop.call_soon_threadsafe(came.set)

    receiver = Receiver(store, [secret], now=time.time, stored=stored)
    try:
        listening = bind(settings.host, settings.port)
    except ConfigError:
        return f"something listens on {settings.host}:{settings.port} already; `bot doctor --github` tells how it fares"
    server = Server(uvicorn.Config(Starlette(routes=receiver.routes()), log_config=None, timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(limit_s):
            why = await ask()
            while not why and not _heard(store, began):
                await came.wait()
                came.clear()
            return why
    except ForgeError as error:
        return str(error)
    except TimeoutError:
        return f"no ping came to {settings.host}:{settings.port}/webhook within {limit_s:.0f} s"
    finally:
        server.should_exit = True
        await task
        receiver.close()


async def ping_of_app(forge: GitHub) -> str:
    """Have the ping that greeted the new App sent again, now that somebody listens."""
    while True:
        pings = [delivery for delivery in await forge.deliveries(most_pages=1) if delivery.event == "ping"]
        if pings:
            await forge.redeliver(pings[0].id)
            return ""
        await asyncio.sleep(AGAIN_S)  # the forge lists it a moment after the App was made


async def told(forge: GitHub) -> str:
    """Return what the forge saw when it delivered, for people who look for the mistake."""
    with contextlib.suppress(ForgeError):
        listed: list[Delivery] = await forge.deliveries(most_pages=1)
        if listed:
            return f"the forge says: {listed[0].status or 'not answered yet'}"
    return ""


def _heard(store: Store, since: float) -> bool:
    with store.read() as c:
        return deliveries.has_come(c, "ping", since=since)
