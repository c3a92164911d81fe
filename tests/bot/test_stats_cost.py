"""bot stats cost: the ledger on a terminal."""

import io

from rich.console import Console

from bot.commands.stats import table_of
from bot.tickets.ledger import DayCost

SONNET = DayCost("2026-12-01", "acme/app", "claude-sonnet-5-5", 2, 3, 40, 90.0, 1000, 2000, 30000, 400, 1.5, 0)
LOCAL = DayCost("2026-11-30", "acme/app", "local-coder", 1, 1, 7, 9.0, 10, 20, 0, 0, 0.0, 1)


def shown(*rows: DayCost) -> list[str]:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(table_of(rows))
    return [" ".join(line.split()) for line in console.export_text().splitlines()]


def test_costs_are_summed_and_an_unknown_price_is_said() -> None:
    assert shown(SONNET, LOCAL) == [
        "day repository model tickets runs turns tokens cached dollars",
        "2026-12-01 acme/app claude-sonnet-5-5 2 3 40 33,400 30,000 $1.50",
        "2026-11-30 acme/app local-coder 1 1 7 30 0 $0.00 + ?",
        "all 3 4 47 33,430 30,000 $1.50 + ?",
    ]
