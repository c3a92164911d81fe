"""bot run: one issue, worked on at once and in the foreground."""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import cast

import click

from bot import log
from bot.app import AUTHOR, GATE, agent_of, data_folder, interpreter, need_git, sandbox_mode, secrets_of
from bot.errors import ConfigError, UserError
from bot.forges.checkout import Checkout
from bot.forges.github import GitHub
from bot.outbox.comments import evidence
from bot.outbox.reporter import Links
from bot.sandbox.redact import Redactor
from bot.settings import Settings, load
from bot.slots.pool import Pool
from bot.tickets import journal
from bot.tickets.claims import read_claim
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import Outcome
from bot.tickets.tickets import Wish
from bot.work.alone import work
from bot.work.job import Desk
from bot.work.logbook import Logbook
from gate.report import render_json


@click.command()
@click.option("--repo", type=click.Path(path_type=Path), required=True, metavar="DIR", help="a local repository")
@click.option(
    "--issue", type=click.Path(path_type=Path), required=True, metavar="FILE", help="its first line is the title"
)
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="write the gate's report here, as JSON")
@click.option("--json", "as_json", is_flag=True)
def run(repo: Path, issue: Path, report: Path | None, as_json: bool) -> int:
    """Work on one issue of a local repository with no server: the result is a branch and a report."""
    log.set_up("ERROR")
    settings = load()
    if not (repo / ".git").exists():
        raise UserError(f"--repo: expected a git repository, got {repo}")
    title, body = _read(issue)
    with tempfile.TemporaryDirectory(prefix="sluice-run-") as folder:
        code = asyncio.run(_run(settings, Path(folder), repo.resolve(), title, body, report=report, as_json=as_json))
    sys.stdout.flush()
    return code


async def _run(
    settings: Settings, folder: Path, repo: Path, title: str, body: str, *, report: Path | None, as_json: bool
) -> int:
    if settings.anthropic_api_key is None and not settings.model_url:
        raise ConfigError(
            "ANTHROPIC_API_KEY: expected a key, found none. Mend: set it, or BOT_MODEL_URL for another server"
        )
    need_git()
    data = data_folder(folder)
    store = open_store(sqlite_url(data / "run.db"))
    redactor = Redactor(secrets_of(settings))
    shown = _Progress(as_json)
    name = f"local/{repo.name}"
    (data / "origin" / "local").mkdir(parents=True)
    (data / "origin" / "local" / f"{repo.name}.git").symlink_to(repo)
    desk = Desk(
        store=store, forge=cast("GitHub", Checkout(repo)), host="alone", now=time.time, data=data,
        git_url=str(data / "origin"),
        pool=Pool(data / "slots", store, host="alone", slots=1, sandbox=sandbox_mode(settings)), redactor=redactor,
        open_agent=lambda wanted: agent_of(settings, wanted, redactor), gate_argv=GATE,
        policy_argv=("--policy", str(settings.policy.resolve())) if settings.policy else (), links=Links(forge=""),
        sandbox=sandbox_mode(settings), readable=(*interpreter(), repo / ".git"), changed=shown, author=AUTHOR,
        logbook=Logbook(store, now=time.time, changed=shown),
    )  # fmt: skip
    shown.desk = desk
    await desk.pool.open()
    wish = Wish(
        repository=name, issue=0, title=title, body=body, requester=os.environ.get("USER", "somebody"), label="run",
        trigger_key="run", claim=read_claim(body),
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


def _read(issue: Path) -> tuple[str, str]:
    try:
        text = issue.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--issue: expected a text file at {issue}: {error}") from error
    title, _, body = text.strip().partition("\n")
    if not title.strip("# "):
        raise UserError(f"--issue: expected a title in the first line of {issue}, got none")
    return title.strip("# "), body.strip()
