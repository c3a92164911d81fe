"""bot schedule: what a rule and a number of slots would have meant."""

import json
from pathlib import Path

import click
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from bot.errors import ConfigError, UserError
from bot.measure.schedule import (
    POLICIES,
    Outcome,
    Planned,
    costs_s,
    lower_bound_s,
    outcome_of,
    read_trace,
    simulate,
)
from bot.opening import opened
from bot.tickets.edges import HARD, NATIVE
from bot.tickets.schema import attempts, hosts
from bot.tickets.schema import tickets as rows

SLOTS = 2
LATEST = 500  # tickets of the history that are replayed


@click.command()
@click.option("--trace", type=click.Path(path_type=Path), metavar="FILE", help="a JSON list of tickets")
@click.option("--history", is_flag=True, help="what really happened here, in place of a trace")
@click.option("--slots", type=click.IntRange(1, 1000), help=f"default: {SLOTS}; with --history those of all hosts")
@click.option("--policy", type=click.Choice(POLICIES), default="disjoint", show_default=True)
@click.option("--json", "as_json", is_flag=True)
def schedule(trace: Path | None, history: bool, slots: int | None, policy: str, as_json: bool) -> None:
    """Simulate admission, beside the serial rule and the bound that no rule can beat."""
    if (trace is None) == (not history):
        raise UserError("expected either --trace FILE or --history")
    if trace is not None:
        planned, slots = read_trace(_read(trace), str(trace)), slots or SLOTS
        really, costs = None, {}
    else:
        planned, starts, there = _history()
        slots = slots or there
        really, costs = outcome_of(planned, starts, slots=slots, policy="as it was"), costs_s(planned, slots=slots)
    outcome, bound = simulate(planned, slots=slots, policy=policy), lower_bound_s(planned, slots=slots)
    if as_json:
        found = {
            "policy": policy, "slots": slots, "makespan_s": outcome.makespan_s, "lower_bound_s": bound,
            "waiting_s": outcome.waiting_s, "slot_use": outcome.busy,
            "starts": {str(n): at for n, at in sorted(outcome.starts.items())},
        }  # fmt: skip
        if really is not None:
            found |= {
                "really": {"makespan_s": really.makespan_s, "waiting_s": really.waiting_s}, "limits_cost_s": costs,
            }  # fmt: skip
        click.echo(json.dumps(found, indent=2))
        return
    serial = [] if policy == "serial" else [simulate(planned, slots=slots, policy="serial")]
    _print([*([really] if really else []), outcome, *serial], bound, len(planned), slots)
    for name, cost in costs.items():
        click.echo(f"{name} cost {cost:g} s of waiting" if cost > 0 else f"{name} cost nothing")


def _print(outcomes: list[Outcome], bound: float, count: int, slots: int) -> None:
    click.echo(f"{_many(count, 'ticket')} on {_many(slots, 'slot')}; no rule can beat {bound:g} s")
    table = Table("rule", "makespan", "of the bound", "waiting", "slot use", box=None)
    for out in outcomes:
        share = f"{out.makespan_s / bound:.2f}" if bound else "-"
        table.add_row(out.policy, f"{out.makespan_s:g} s", share, f"{out.waiting_s:g} s", f"{out.busy:.0%}")
    Console(highlight=False).print(table)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"--trace: expected a file at {path}: {error.strerror}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: expected JSON, got lists or objects nested without end") from error
    except ValueError as error:
        raise ConfigError(f"{path}: expected JSON: {error}") from error


def _history() -> tuple[list[Planned], dict[int, float], int]:
    """Return the latest first attempts that ended here, when each really started, and how many slots there are."""
    store, _ = opened()
    columns = (rows.c.id, rows.c.repository, rows.c.issue, rows.c.created_at, rows.c.edges, attempts.c.claim,
               attempts.c.started_at, attempts.c.ended_at)  # fmt: skip
    query = (
        sa.select(*columns)
        .join(attempts, attempts.c.ticket == rows.c.id)
        .where(attempts.c.ended_at.is_not(None), attempts.c.started_at.is_not(None), attempts.c.number == 1)
        .order_by(rows.c.id.desc())
        .limit(LATEST)
    )
    with store.read() as c:
        found = c.execute(query).fetchall()
        slots = c.execute(sa.select(sa.func.sum(hosts.c.slots))).scalar() or SLOTS
    store.close()
    if not found:
        raise UserError("no ticket has ended here yet: there is no history to replay")
    first = min(r.created_at for r in found)
    ids = {(r.repository, r.issue): r.id for r in found}
    planned = [
        Planned(
            r.id, r.repository, round(r.created_at - first, 3), round(r.ended_at - r.started_at, 3),
            tuple(json.loads(r.claim)),
            # only older ones: what was linked to a younger one later may form a circle
            tuple(sorted({ids[r.repository, n] for kind, n in json.loads(r.edges)
                          if kind in (HARD, NATIVE) and ids.get((r.repository, n), r.id) < r.id})),
        )
        for r in found
    ]  # fmt: skip
    return planned, {r.id: round(r.started_at - first, 3) for r in found}, int(slots)
