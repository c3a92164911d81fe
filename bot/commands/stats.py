"""bot stats: what tickets cost, and where their seconds went."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bot.commands.arguments import repository_name
from bot.errors import UserError
from bot.measure import plot as picture
from bot.measure import stages as measuring
from bot.measure.claims import Compared, compared, reached_often
from bot.measure.stages import PUBLISHED, Measured, Row
from bot.opening import opened
from bot.tickets import journal, ledger, repositories
from bot.tickets.claims import WHOLE
from bot.tickets.ledger import DayCost

DAY_S = 86_400


@click.group()
def stats() -> None:
    """What tickets cost, where their seconds went, and how well their claims fit."""


@stats.command()
@click.option("--days", type=click.IntRange(1, 3650), default=7, show_default=True, help="today and the days before it")
@click.option("--repo", callback=repository_name, metavar="OWNER/REPO", help="only those of one repository")
@click.option("--json", "as_json", is_flag=True)
def cost(days: int, repo: str | None, as_json: bool) -> None:
    """Tokens and dollars by day, repository and model, the newest day first."""
    store, _ = opened()
    with store.read() as c:
        found = ledger.costs(c, since=ledger.day_of(time.time() - (days - 1) * DAY_S), repository=repo)
    store.close()
    if as_json:
        click.echo(json.dumps({"costs": [asdict(row) for row in found]}, indent=2))
    elif not found:
        click.echo("Nothing was spent.")
    else:
        Console().print(table_of(found))


@stats.command()
@click.option("--repo", callback=repository_name, metavar="OWNER/REPO", help="only those of one repository")
@click.option("--since", default="30d", show_default=True, metavar="DAYS|DATE", help="such as 7d, 12h or 2026-11-01")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="write a picture (SVG) to this file")
@click.option("--json", "as_json", is_flag=True)
def stages(repo: str | None, since: str, plot: Path | None, as_json: bool) -> None:
    """Seconds of every stage and part: medians and shares, cold slots beside warm ones, what warmth saved."""
    began = since_of(since, time.time())
    store, _ = opened()
    with store.read() as c:
        found = measuring.measure(journal.ended_since(c, began, repo), repositories.cold_of_all(c))
    store.close()
    if plot:
        _write(plot, picture.svg(found))
    if as_json:
        click.echo(json.dumps({**asdict(found), "published": [asdict(p) for p in PUBLISHED]}, indent=2))
    elif not found.attempts:
        click.echo(f"No attempt ended since {datetime.fromtimestamp(began, UTC):%Y-%m-%d %H:%M} UTC.")
    else:
        Console().print(stages_table(found), "", warmth_table(found), "", warmth_line(found), sep="\n")


def since_of(text: str, now: float) -> float:
    """Return the time that `7d`, `12h` or a date stands for; raises UserError."""
    number, unit = text[:-1], text[-1:]
    if unit in ("d", "h") and number.isascii() and number.isdigit() and len(number) < 6:
        return now - int(number) * (DAY_S if unit == "d" else 3600)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"--since: expected days, hours or a date (7d, 12h, 2026-11-01), got {text!r}") from None
    return (found if found.tzinfo else found.astimezone()).astimezone(UTC).timestamp()


def stages_table(found: Measured) -> Table:
    """Return every stage with its parts, then the kinds."""
    table = Table("stage", "part", "kind", box=None, pad_edge=False)
    for name in ("attempts", "median", "p90", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.stages:
        table.add_row(
            "" if row.part else row.name, row.part, row.kind, *_seconds(row), style="" if row.part else "bold"
        )
    table.add_section()
    for row in found.kinds:
        table.add_row("all", "", row.kind, *_seconds(row))
    return table


def warmth_table(found: Measured) -> Table:
    """Return what was published for fresh checkouts beside what was measured here."""
    table = Table("", box=None, pad_edge=False)
    for name in ("published", "here, median", "attempts"):
        table.add_column(name, justify="right")
    for figure in PUBLISHED:
        here = found.overhead[figure.here]
        measured = ("not seen", "0") if here is None else (f"{here.median_s:.2f} s", str(here.attempts))
        table.add_row(figure.name, picture.range_of(figure), *measured)
    return table


def warmth_line(found: Measured) -> str:
    """Return what warmth saved, in a sentence."""
    return (
        f"Warm slots saved {found.saved_s:.1f} s over {found.attempts} attempts: "
        "what clone, worktree and install cost when last paid, less what was paid instead."
    )


def _seconds(row: Row) -> tuple[str, str, str, str]:
    return str(row.attempts), f"{row.median_s:.2f} s", f"{row.p90_s:.2f} s", f"{row.share:.0%}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"--plot: cannot write {path}: {error.strerror}") from None


@stats.command()
@click.option("--repo", callback=repository_name, metavar="OWNER/REPO", help="only those of one repository")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="the latest attempts")
@click.option("--json", "as_json", is_flag=True)
def claims(repo: str | None, limit: int, as_json: bool) -> None:
    """What tickets said they would touch, against what they touched; the newest attempt first."""
    store, _ = opened()
    with store.read() as c:
        found = compared(c, repository=repo, limit=limit)
    store.close()
    often = reached_often(found)
    if as_json:
        rows = [{**asdict(row), "outside": row.outside, "unused": row.unused} for row in found]
        named = [{"repository": name, "path": path, "attempts": n} for name, path, n in often]
        click.echo(json.dumps({"claims": rows, "often_outside": named}, indent=2))
    elif not found:
        click.echo("No attempt has touched anything yet.")
    else:
        Console(highlight=False).print(claims_table(found))
        inside = sum(not row.outside for row in found)
        click.echo(f"{inside} of {len(found)} attempts stayed within their claims.")
        for name, path, n in often:
            click.echo(f"{name}: {path} was touched outside of {n} claims; name it in `shared` of .github/bot.toml")


def claims_table(found: Sequence[Compared]) -> Table:
    """Return the attempts as a table; what was claimed in vain made others wait, what lies outside surprised them."""
    table = Table("issue", "attempt", "declared", "touched", "outside", "unused", box=None, pad_edge=False)
    for row in found:
        declared = "everything" if row.declared in ((), WHOLE) else _few(row.declared)
        table.add_row(
            f"{row.repository}#{row.issue}", str(row.attempt), declared, _few(row.touched), _few(row.outside),
            _few(row.unused),
        )  # fmt: skip
    return table


def _few(paths: Sequence[str], most: int = 3) -> str:
    more = f" +{len(paths) - most}" if len(paths) > most else ""
    return (", ".join(paths[:most]) + more) or "-"


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
