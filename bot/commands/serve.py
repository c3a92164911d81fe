"""bot serve, bot worker: the service, until a signal ends it."""

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

import click

from bot.errors import ConfigError
from bot.settings import Settings, load, need

if TYPE_CHECKING:
    from bot.app import Service
    from bot.serving import Server


@click.command()
@click.option(
    "--pull", is_flag=True, help="Pull deliveries from the forge every few seconds: for a bot that no webhook reaches."
)
def serve(pull: bool) -> int:
    """Receive webhooks and work on tickets."""
    settings = load()
    if _is_new(settings) and sys.stdin.isatty():
        settings, pull = _first_start(settings, pull=pull)
    if pull and settings.app_id is None and settings.token is not None:
        raise ConfigError("--pull: expected an App, whose deliveries the forge keeps; got a personal token. Mend: "
                          "`bot setup` makes an App; or let the forge reach `bot serve`")  # fmt: skip
    need(settings, [*([] if pull else ["webhook_secret"]), *_signing(settings)])
    return asyncio.run(run(settings, receives=True, pulls=pull))


@click.command()
def worker() -> int:
    """Work on tickets on one more host; the database is shared."""
    settings = load()
    need(settings, ["database_url"], mend="set it to the PostgreSQL database that the hosts share")
    if not settings.database_url.startswith("postgres"):
        raise ConfigError("BOT_DATABASE_URL: expected the PostgreSQL database that the hosts share, got another one: "
                          "SQLite serves one process. Mend: `bot migrate --to postgresql://...`")  # fmt: skip
    need(settings, _signing(settings))
    return asyncio.run(run(settings, receives=False))


def _signing(settings: Settings) -> list[str]:
    return [] if settings.token is not None else ["app_id"]


def _is_new(settings: Settings) -> bool:
    return settings.app_id is None and settings.token is None and settings.webhook_secret is None


def _first_start(settings: Settings, *, pull: bool) -> tuple[Settings, bool]:
    """Make the App before the first start; return the settings with it, and whether deliveries are pulled."""
    from bot.commands.setup import make

    hook = "" if pull or not settings.public_url else f"{settings.public_url.rstrip('/')}/webhook"
    click.echo("There is no App yet; one click makes it.")
    asyncio.run(make(settings, hook=hook))
    return load(), not hook


async def run(settings: Settings, *, receives: bool, pulls: bool = False) -> int:
    """Serve until SIGTERM or SIGINT; the first lets running tickets end, the second keeps their work and stops now."""
    import uvicorn

    from bot import log
    from bot.app import Service
    from bot.serving import Server, bind

    asked, forced = _heed_signals()
    log.set_up()
    listening = bind(settings.host, settings.port)
    service = Service(settings, receives=receives, pulls=pulls)
    server = Server(uvicorn.Config(service.app, log_config=None, lifespan="on", timeout_graceful_shutdown=1))
    ending = asyncio.create_task(_end_when_asked(service, server, asked, forced))
    click.echo(f"listening on http://{settings.host}:{listening.getsockname()[1]}")
    await server.serve(sockets=[listening])
    ending.cancel()
    # a stage that was cut short never returns, so that nothing of it is kept: leave it behind
    os._exit(0 if server.started else 1)


def _heed_signals() -> tuple[asyncio.Event, asyncio.Event]:
    """Return what the first and the second signal set; one that comes while the service starts is heeded after that."""
    asked, forced = asyncio.Event(), asyncio.Event()

    def signalled() -> None:
        (forced if asked.is_set() else asked).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, signalled)
    return asked, forced


async def _end_when_asked(
    service: "Service", server: "Server", asked: asyncio.Event, forced: asyncio.Event
) -> None:  # fmt: skip
    await asked.wait()
    if service.desk.running:
        click.echo(f"finishing {len(service.desk.running)} running tickets; once more stops now and keeps their work")
    waits = [asyncio.create_task(service.drain()), asyncio.create_task(forced.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    server.should_exit = True
