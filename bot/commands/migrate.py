"""bot migrate: move everything stored to another database."""

import contextlib

import click
import sqlalchemy as sa

from bot.errors import UserError
from bot.opening import DATABASE, ENGINE, opened
from bot.tickets import tickets
from bot.tickets.moving import move_all
from bot.tickets.presence import Folder
from bot.tickets.store import open_store, sqlite_url
from bot.work.pending import move_pending, workflow_id


@click.command()
@click.option(
    "--to", "url", required=True, metavar="URL", help="an empty database, such as postgresql://user@host/sluice"
)
def migrate(url: str) -> None:
    """Move everything stored to another database; the bot must be stopped. The old one stays as it is."""
    source, data = opened()
    target = open_store(url, is_target=True)
    if target.engine.url == source.engine.url:
        raise UserError("expected another database than the present one")
    interrupted: list[str] = []
    with contextlib.ExitStack() as stack:
        is_own = source.engine.url == sa.make_url(sqlite_url(data / DATABASE))
        if is_own:  # who has the folder's lock is alone with what lies in it, and need not wait for heartbeats to end
            stack.enter_context(contextlib.closing(Folder(data)))
        engine = sa.create_engine(sqlite_url(data / ENGINE)) if is_own else source.engine

        def move_engine(old: sa.Connection) -> None:
            interrupted.extend(workflow_id(ticket) for ticket in tickets.running_tickets(old))
            move_pending(engine, target.engine, interrupted)

        moved = move_all(source, target, alone=is_own, besides=move_engine)
    for table, count in moved.items():
        click.echo(f"{table:<16}{count:>8}")
    if interrupted:
        click.echo(f"{len(interrupted)} interrupted attempts go on there, behind their last finished stage.")
    click.echo("Everything is there. Set BOT_DATABASE_URL to the new address and start the bot.")
