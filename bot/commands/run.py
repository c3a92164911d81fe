"""bot run: one issue, worked on at once and in the foreground."""

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

import click

from bot import log
from bot.errors import ConfigError, UserError
from bot.opening import need_git
from bot.settings import load, need


@click.command()
@click.argument("target", required=False, metavar="[OWNER/REPO#N]")
@click.option("--repo", type=click.Path(path_type=Path), metavar="DIR", help="a local repository")
@click.option("--issue", type=click.Path(path_type=Path), metavar="FILE", help="its first line is the title")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="write the gate's report here, as JSON")
@click.option("--json", "as_json", is_flag=True)
def run(target: str | None, repo: Path | None, issue: Path | None, report: Path | None, as_json: bool) -> int:
    """Work on one issue in the foreground.

    With --repo and --issue no server is needed, and the result is a branch and a report. OWNER/REPO#N takes an issue
    of the forge through all stages, as its label would.
    """
    log.set_up("ERROR")
    settings = load()
    if target is not None:
        match = re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", target)
        if match is None:
            raise UserError(f"expected an issue such as acme/app#7, got {target!r}")
        if repo is not None or issue is not None:
            raise UserError("expected either OWNER/REPO#N or --repo with --issue, got both")
        if settings.token is None:
            need(settings, ["app_id"])
        from bot.commands import foreground

        code = asyncio.run(foreground.remote(settings, match[1], int(match[2]), as_json=as_json))
        sys.stdout.flush()
        os._exit(code)  # stages that the end cut short never return
    if repo is None or issue is None:
        raise UserError("expected OWNER/REPO#N, or --repo DIR with --issue FILE")
    if not (repo / ".git").exists():
        raise UserError(f"--repo: expected a git repository, got {repo}")
    read = _read(issue)
    if settings.anthropic_api_key is None and not settings.model_url and _agent_of(repo) == "anthropic":
        raise ConfigError(
            "ANTHROPIC_API_KEY: expected a key, found none. Mend: set it, or BOT_MODEL_URL for another server"
        )
    need_git()
    from bot.commands import foreground

    with tempfile.TemporaryDirectory(prefix="sluice-run-") as folder:
        working = foreground.local(
            settings, Path(folder), repo.resolve(), read, requester=os.environ.get("USER", "somebody"),
            report=report, as_json=as_json,
        )  # fmt: skip
        code = asyncio.run(working)
    sys.stdout.flush()
    return code


def _agent_of(repo: Path) -> str:
    """Return the kind of agent that a repository asks for; what is wrong in its file is told by the ticket."""
    from bot.tickets.repository import PATH, RepositorySettings, read_settings

    try:
        return read_settings((repo / PATH).read_bytes()).agent.kind
    except (OSError, ConfigError):
        return RepositorySettings().agent.kind


def _read(issue: Path) -> tuple[str, str]:
    try:
        text = issue.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--issue: expected a text file at {issue}: {error}") from error
    title, _, body = text.strip().partition("\n")
    if not title.strip("# "):
        raise UserError(f"--issue: expected a title in the first line of {issue}, got none")
    return title.strip("# "), body.strip()
