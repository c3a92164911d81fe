"""bot tickets, pause, resume: look at what is stored, and steer it."""

import json
import time
from dataclasses import asdict
from typing import Any

import click
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from bot.commands.arguments import TAKEN_UP, repository_name
from bot.dashboard.rows import Row, row
from bot.errors import UserError
from bot.opening import opened
from bot.tickets import journal, repository, scheduler
from bot.tickets import tickets as stored
from bot.tickets.ticket import State, Ticket
from bot.work.agents.render import render_transcript


@click.group(invoke_without_command=True)
@click.pass_context
def tickets(ctx: click.Context) -> None:
    """List, show, explain, retry, cancel or approve tickets."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@tickets.command("list")
@click.option("--state", type=click.Choice([s.value for s in State]), help="only those in this state")
@click.option("--repo", callback=repository_name, metavar="OWNER/REPO", help="only those of one repository")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def list_(state: str | None = None, repo: str | None = None, limit: int = 50, as_json: bool = False) -> None:
    """List tickets, newest first."""
    store, _ = opened()
    states = tuple(State) if state is None else (State(state),)
    with store.read() as c:
        found = [row(t, now=time.time()) for t in stored.list_tickets(c, states=states, repository=repo, limit=limit)]
    if as_json:
        click.echo(json.dumps({"tickets": [asdict(r) for r in found]}, indent=2))
        return
    if not found:
        click.echo("No ticket. Put the label on an issue.")
        return
    _print(found)


@tickets.command()
@click.argument("ticket", type=int)
@click.option("--json", "as_json", is_flag=True)
@click.option("--transcript", is_flag=True, help="what the agent said and did, turn by turn")
def show(ticket: int, as_json: bool, transcript: bool) -> None:
    """Show a ticket: state, receipt, seconds, log."""
    store, data = opened()
    with store.read() as c:
        found = _get(c, ticket)
        attempt = stored.find_attempt(c, ticket, found.attempt)
        times, lines = journal.times_of(c, ticket, found.attempt), journal.lines_after(c, ticket, 0)
    if transcript:
        files = sorted((data / "tickets" / str(ticket) / str(found.attempt)).glob("transcript-*"))
        if not files:
            raise UserError(f"ticket {ticket} has no transcript on this host: its agent did not run here")
        for file in files:
            click.echo(render_transcript(file))
        return
    shown: dict[str, Any] = {
        "ticket": asdict(row(found, now=time.time())),
        "receipt": None if attempt is None else {
            "text_hash": attempt.text_hash, "claim": attempt.claim, "touched": attempt.touched,
            "base": attempt.base_sha or found.base_sha, "head": attempt.head_sha, "policy": attempt.policy_hash,
            "usage": attempt.usage, "sandbox": attempt.sandbox, "proof": _json(attempt.proof),
            "warmth": _json(attempt.warmth),
            "report": _json(attempt.report),
        },
        "times": [asdict(t) for t in times],
        "log": [line.line for line in lines],
    }  # fmt: skip
    if as_json:
        click.echo(json.dumps(shown, indent=2))
        return
    _print([row(found, now=time.time())])
    for key, value in (shown["receipt"] or {}).items():
        if key != "report" and value:
            click.echo(f"{key:<10} {value}")
    for took in times:
        click.echo(f"  {took.stage:<8} {took.part or 'all of it':<16} {took.kind:<14} {took.seconds:8.2f} s")
    for line in lines:
        click.echo(f"{line.stage:<8} {line.line}")


@tickets.command()
@click.argument("ticket", type=int)
def why(ticket: int) -> None:
    """Say why a ticket stands where it stands."""
    store, _ = opened()
    with store.read() as c:
        found = _get(c, ticket)
        waits = scheduler.explain(c, found, now=time.time()) if found.state is State.QUEUED else ""
    if found.state is State.QUEUED:
        click.echo(waits or "It may start as soon as a slot is free.")
    else:
        click.echo(f"{row(found, now=time.time()).state_words}: {found.reason or 'nothing more is known'}")


@tickets.command()
@click.argument("ticket", type=int)
def retry(ticket: int) -> None:
    """Start a new attempt of a ticket that ended."""
    store, _ = opened()
    with store.write() as c:
        found = _get(c, ticket)
        if found.state is not State.DONE:
            raise UserError(f"`retry` needs a finished ticket; {ticket} is {found.state.replace('_', ' ')}")
        stored.requeue(c, found, title=found.title, body=found.body, feedback="", now=time.time())
    click.echo(f"Attempt {found.attempt + 1} of ticket {ticket} is queued. {TAKEN_UP}")


@tickets.command()
@click.argument("ticket", type=int)
def cancel(ticket: int) -> None:
    """Cancel a ticket; a running one is stopped."""
    store, _ = opened()
    with store.write() as c:
        found = _get(c, ticket)
        if found.is_over:
            raise UserError(f"`cancel` needs a ticket that is not done; {ticket} is {found.outcome}")
        stored.request_cancel(c, ticket, "Cancelled by the operator.", time.time())
    click.echo(f"Ticket {ticket} is {'being stopped' if found.state is State.RUNNING else 'cancelled'}.")


@tickets.command()
@click.argument("ticket", type=int)
def approve(ticket: int) -> None:
    """Let a ticket in that waits for approval."""
    store, _ = opened()
    with store.write() as c:
        found = _get(c, ticket)
        if found.state is not State.NEEDS_APPROVAL:
            raise UserError(f"`approve` needs a ticket that waits for it; {ticket} is {found.state}")
        stored.move(c, found, State.QUEUED, now=time.time(), reason="")
    click.echo(f"Ticket {ticket} is queued. {TAKEN_UP}")


@click.command()
@click.argument("repo", default="*", callback=repository_name, metavar="[OWNER/REPO]")
@click.option("--reason", default="", help="shown to everybody who waits")
def pause(repo: str, reason: str) -> None:
    """Admit nothing new, everywhere or in one repository; what runs goes on."""
    store, _ = opened()
    with store.write() as c:
        repository.pause(c, repo, paused=True, reason=reason)
    what, again = ("Everything", "bot resume") if repo == "*" else (repo, f"bot resume {repo}")
    click.echo(f"{what} is paused. `{again}` lets it go on.")


@click.command()
@click.argument("repo", default="*", callback=repository_name, metavar="[OWNER/REPO]")
def resume(repo: str) -> None:
    """Admit again."""
    store, _ = opened()
    with store.write() as c:
        repository.pause(c, repo, paused=False)
    click.echo(f"{'Everything' if repo == '*' else repo} goes on. {TAKEN_UP}")


def _get(c: sa.Connection, ticket: int) -> Ticket:
    try:
        return stored.get_ticket(c, ticket)
    except LookupError as error:
        raise UserError(f"there is no ticket {ticket}; `bot tickets list` shows them") from error


def _json(text: str | None) -> object:
    return None if text is None else json.loads(text)


def _print(rows: list[Row]) -> None:
    table = Table("ticket", "issue", "title", "state", "why", "seconds", box=None)
    for r in rows:
        table.add_row(str(r.id), f"{r.repository}#{r.issue}", r.title, r.state_words, r.reason, f"{r.seconds:.1f}")
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    for r in rows:
        where = f"{r.repository}#{r.issue}"
        click.echo("\t".join((str(r.id), where, r.state_words, f"{r.seconds:.1f}", r.title, r.reason)))
