"""bot stats: what tickets cost."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, fields

import click
from rich.console import Console
from rich.table import Table

from bot.app import data_folder
from bot.settings import load
from bot.tickets import ledger
from bot.tickets.ledger import DayCost
from bot.tickets.store import open_store, sqlite_url

DAY_S = 86_400


@click.group()
def stats() -> None:
    """What tickets cost."""


@stats.command()
@click.option("--days", type=click.IntRange(1, 3650), default=7, show_default=True, help="today and the days before it")
@click.option("--repo", metavar="OWNER/REPO", help="only those of one repository")
@click.option("--json", "as_json", is_flag=True)
def cost(days: int, repo: str | None, as_json: bool) -> None:
    """Tokens and dollars by day, repository and model, the newest day first."""
    settings = load()
    store = open_store(settings.database_url or sqlite_url(data_folder(settings.data) / "sluice.db"))
    with store.read() as c:
        found = ledger.costs(c, since=ledger.day_of(time.time() - (days - 1) * DAY_S), repository=repo)
    store.close()
    if as_json:
        click.echo(json.dumps({"costs": [asdict(row) for row in found]}, indent=2))
    elif not found:
        click.echo("Nothing was spent.")
    else:
        Console().print(table_of(found))


def table_of(found: Sequence[DayCost]) -> Table:
    """Return the rows as a table with their sum; a `+ ?` says that some of it has no known price."""
    table = Table("day", "repository", "model", box=None, pad_edge=False)
    for name in ("tickets", "runs", "turns", "tokens", "cached", "dollars"):
        table.add_column(name, justify="right")
    for row in found:
        table.add_row(row.day, row.repository, row.model, *_numbers([row]))
    if len(found) > 1:
        table.add_row("all", "", "", *_numbers(found), style="bold")
    return table


def _numbers(rows: Sequence[DayCost]) -> list[str]:
    summed = {f.name: sum(getattr(row, f.name) for row in rows) for f in fields(DayCost) if f.type is not str}
    tokens = sum(summed[name] for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"))
    unknown = " + ?" if summed["unpriced"] else ""
    counts = [summed["tickets"], summed["runs"], summed["turns"], tokens, summed["cache_read_tokens"]]
    return [*(f"{count:,}" for count in counts), f"${summed['dollars']:.2f}{unknown}"]
