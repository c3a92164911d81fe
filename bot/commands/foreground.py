"""Work on one issue in the foreground: of a local repository, or of the forge; lines of the log show as they come."""

import json
import time
from pathlib import Path
from typing import cast

import click

from bot import log
from bot.app import Service
from bot.connecting import AUTHOR, GATE, agent_of, interpreter, secrets_of
from bot.errors import UserError
from bot.forges.checkout import Checkout
from bot.forges.github import GitHub
from bot.inbox.visible import visible
from bot.opening import data_folder, sandbox_mode
from bot.outbox.comments import evidence
from bot.outbox.reporter import Links
from bot.sandbox.redact import Redactor
from bot.settings import Settings
from bot.slots.pool import Pool
from bot.tickets import journal, tickets
from bot.tickets.claims import read_claim
from bot.tickets.edges import read_edges
from bot.tickets.outage import Outage
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import Outcome, State, Ticket
from bot.tickets.tickets import Wish
from bot.work.alone import work
from bot.work.job import Desk
from bot.work.logbook import Logbook
from gate.report import render_json


async def local(
    settings: Settings, folder: Path, repo: Path, issue: tuple[str, str], *, requester: str, report: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Work on the text of an issue in a repository of this machine: up to a branch, with no server and no forge."""
    data = data_folder(folder)
    store = open_store(sqlite_url(data / "run.db"))
    redactor = Redactor(secrets_of(settings))
    log.strike(redactor.data)
    shown = _Progress(as_json)
    name = f"local/{repo.name}"
    (data / "origin" / "local").mkdir(parents=True)
    (data / "origin" / "local" / f"{repo.name}.git").symlink_to(repo)
    desk = Desk(
        store=store, forge=cast("GitHub", Checkout(repo)), host="alone", now=time.time, data=data,
        git_url=str(data / "origin"),
        pool=Pool(
            data / "slots", store, host="alone", slots=1, sandbox=sandbox_mode(settings),
            private_hosts=settings.private_hosts,
        ),
        redactor=redactor, private_hosts=settings.private_hosts,
        open_agent=lambda wanted: agent_of(settings, wanted, redactor), gate_argv=GATE,
        policy_argv=("--policy", str(settings.policy.resolve())) if settings.policy else (), links=Links(forge=""),
        sandbox=sandbox_mode(settings), readable=(*interpreter(), repo / ".git"), changed=shown, author=AUTHOR,
        logbook=Logbook(store, now=time.time, changed=shown), outage=Outage(store),
    )  # fmt: skip
    shown.desk = desk
    await desk.pool.open()
    wish = Wish(
        repository=name, issue=0, title=issue[0], body=issue[1], requester=requester, label="run",
        trigger_key="run", claim=read_claim(issue[1]),
    )  # fmt: skip
    ended, ticket, found = await work(desk, wish)
    await desk.logbook.flush()
    if report is not None and found is not None:
        report.write_text(render_json(found))
    if as_json:
        click.echo(json.dumps({
            "outcome": ended.outcome, "reason": ended.reason, "verdict": ended.verdict, "branch": ticket.branch,
            "head": ticket.head_sha, "base": ticket.base_sha,
        }, indent=2))  # fmt: skip
    else:
        if found is not None:
            click.echo("".join(f"{s.outcome:<9} {s.name:<12} {evidence(s)}\n" for s in found.steps))
        click.echo(f"{ended.outcome}: {ended.reason}")
        if ticket.head_sha:
            click.echo(
                f"branch {ticket.branch} at {ticket.head_sha[:10]}; look at it: git -C {repo} diff ...{ticket.branch}"
            )
    return 0 if ended.outcome is Outcome.PROPOSED else 1


async def remote(settings: Settings, repository: str, number: int, *, as_json: bool) -> int:
    """Make the ticket that the label would make, and stay until it has ended and was told."""
    service = Service(settings, receives=False)
    await service.start()
    ticket = await _ticket(service, repository, number)
    shown = _Progress(as_json)
    shown.desk = service.desk
    with service.bell.listen() as listener:
        service.changed(ticket.id)
        while ticket.state is not State.DONE:
            await listener.wait(1.0)
            shown(ticket.id)
            with service.store.read() as c:
                ticket = tickets.get_ticket(c, ticket.id)
    await service.drain()
    await service.stop()
    told = {"outcome": ticket.outcome, "reason": ticket.reason, "pull_request": ticket.pull, "head": ticket.head_sha}
    click.echo(json.dumps(told, indent=2) if as_json else f"{ticket.outcome}: {ticket.reason}")
    return 0 if ticket.outcome in (Outcome.MERGED, Outcome.PROPOSED, Outcome.NO_CHANGE) else 1


async def _ticket(service: Service, repository: str, number: int) -> Ticket:
    found = await service.forge.issue(repository, number)
    body = visible(found.body or "")
    wish = Wish(
        repository=repository, issue=number, title=visible(found.title), body=body, label=service.settings.label,
        requester=found.user.login if found.user else "somebody",
        requester_id=found.user.id if found.user else 0, trigger_key=f"run:{time.time():.0f}",
        claim=read_claim(body), edges=read_edges(body, own=number),
    )  # fmt: skip
    with service.store.write() as c:
        ticket = tickets.create_ticket(c, wish, now=time.time())
    if ticket is None:
        raise UserError(f"{repository}#{number} is being worked on already")
    return ticket


class _Progress:
    """Shows new lines of the log as they come."""

    def __init__(self, quiet: bool) -> None:
        self.desk: Desk | None = None
        self._after = 0
        self._quiet = quiet

    def __call__(self, ticket: int) -> None:
        if self.desk is None or self._quiet:
            return
        with self.desk.store.read() as c:
            lines = journal.lines_after(c, ticket, self._after)
        for line in lines:
            self._after = line.id
            click.echo(f"{line.stage:<8} {line.line}", err=True)
