"""bot schedule: what a rule and a number of slots would have meant."""

import json
from pathlib import Path

import click
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from bot.commands.tickets import opened
from bot.errors import ConfigError, UserError
from bot.measure.schedule import POLICIES, Outcome, Planned, lower_bound_s, read_trace, simulate
from bot.tickets.schema import attempts
from bot.tickets.schema import tickets as rows


@click.command()
@click.option("--trace", type=click.Path(path_type=Path), metavar="FILE", help="a JSON list of tickets")
@click.option("--history", is_flag=True, help="what really happened here, in place of a trace")
@click.option("--slots", type=click.IntRange(1, 1000), default=2, show_default=True)
@click.option("--policy", type=click.Choice(POLICIES), default="disjoint", show_default=True)
@click.option("--json", "as_json", is_flag=True)
def schedule(trace: Path | None, history: bool, slots: int, policy: str, as_json: bool) -> None:
    """Simulate admission, beside the serial rule and the bound that no rule can beat."""
    if (trace is None) == (not history):
        raise UserError("expected either --trace FILE or --history")
    planned = _history() if trace is None else read_trace(_read(trace), str(trace))
    outcome, bound = simulate(planned, slots=slots, policy=policy), lower_bound_s(planned, slots=slots)
    if as_json:
        found = {
            "policy": policy, "slots": slots, "makespan_s": outcome.makespan_s, "lower_bound_s": bound,
            "waiting_s": outcome.waiting_s, "slot_use": outcome.busy,
            "starts": {str(n): at for n, at in sorted(outcome.starts.items())},
        }  # fmt: skip
        click.echo(json.dumps(found, indent=2))
        return
    serial = outcome if policy == "serial" else simulate(planned, slots=slots, policy="serial")
    _print([outcome, *([serial] if serial is not outcome else [])], bound, len(planned), slots)


def _print(outcomes: list[Outcome], bound: float, count: int, slots: int) -> None:
    click.echo(f"{count} tickets on {slots} slots; no rule can beat {bound:g} s")
    table = Table("rule", "makespan", "of the bound", "waiting", "slot use", box=None)
    for out in outcomes:
        share = f"{out.makespan_s / bound:.2f}" if bound else "-"
        table.add_row(out.policy, f"{out.makespan_s:g} s", share, f"{out.waiting_s:g} s", f"{out.busy:.0%}")
    Console(highlight=False).print(table)


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"--trace: expected a file at {path}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: expected JSON: {error}") from error


def _history() -> list[Planned]:
    store, _ = opened()
    query = (
        sa.select(
            rows.c.id,
            rows.c.repository,
            rows.c.created_at,
            attempts.c.claim,
            attempts.c.started_at,
            attempts.c.ended_at,
        )
        .join(attempts, attempts.c.ticket == rows.c.id)
        .where(attempts.c.ended_at.is_not(None), attempts.c.started_at.is_not(None), attempts.c.number == 1)
        .order_by(rows.c.id)
    )
    with store.read() as c:
        found = c.execute(query).fetchall()
    if not found:
        raise UserError("no ticket has ended here yet: there is no history to replay")
    first = min(r.created_at for r in found)
    return [
        Planned(r.id, r.repository, r.created_at - first, r.ended_at - r.started_at, tuple(json.loads(r.claim)))
        for r in found
    ]
