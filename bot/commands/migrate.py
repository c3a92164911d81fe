"""bot migrate: move everything stored to another database."""

import click

from bot.commands.tickets import opened
from bot.errors import UserError
from bot.tickets.moving import move_all
from bot.tickets.store import open_store


@click.command()
@click.option(
    "--to", "url", required=True, metavar="URL", help="an empty database, such as postgresql://user@host/sluice"
)
def migrate(url: str) -> None:
    """Move everything stored to another database; the bot must be stopped. The old one stays as it is."""
    source, _ = opened()
    target = open_store(url)
    if target.engine.url == source.engine.url:
        raise UserError("expected another database than the present one")
    for table, count in move_all(source, target).items():
        click.echo(f"{table:<16}{count:>8}")
    click.echo("Everything is there. Set BOT_DATABASE_URL to the new address and start the bot.")
    click.echo("Attempts that were interrupted begin anew: their finished stages stay with the old engine's file.")
