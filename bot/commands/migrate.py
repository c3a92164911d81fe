"""bot migrate: move everything stored to another database."""

import click

from bot.errors import UserError
from bot.opening import opened
from bot.tickets import tickets
from bot.tickets.moving import move_all
from bot.tickets.store import open_store
from bot.tickets.ticket import State


@click.command()
@click.option(
    "--to", "url", required=True, metavar="URL", help="an empty database, such as postgresql://user@host/sluice"
)
def migrate(url: str) -> None:
    """Move everything stored to another database; the bot must be stopped. The old one stays as it is."""
    source, _ = opened()
    target = open_store(url, is_target=True)
    if target.engine.url == source.engine.url:
        raise UserError("expected another database than the present one")
    for table, count in move_all(source, target).items():
        click.echo(f"{table:<16}{count:>8}")
    click.echo("Everything is there. Set BOT_DATABASE_URL to the new address and start the bot.")
    with target.read() as c:
        interrupted = tickets.list_tickets(c, states=(State.RUNNING,))
    if interrupted:
        click.echo(
            f"{len(interrupted)} interrupted attempts begin anew: what they had finished stays with the old engine"
        )
