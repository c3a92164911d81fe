"""One run in which the model and the programs say a secret in every way they can: no outlet of the bot shows it."""

import asyncio
import base64
import io
import json
import logging
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from pydantic import SecretStr

from bot import log
from bot.demo import loop
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.outbox.outbox import Outbox
from bot.sandbox.redact import Redactor
from bot.settings import Settings
from bot.tickets import journal, posts, tickets
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import State, Ticket
from bot.work.agents.render import render_transcript
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import read_session
from tests.contract import Contract
from tests.needs import needs
from tests.plain import PLAIN

REPO = "acme/leaky"
KEY = "the-key/that+nobody=may~see-0123456789"
CODED = base64.b64encode(KEY.encode()).decode()
TOKEN = "ghp_" + "a1B2" * 9
WAYS = {
    "plain": KEY, "token": TOKEN, "hex": KEY.encode().hex(), "url": quote(KEY, safe=""), "base64": CODED[:48],
    "half of base64": CODED[:20], "other half": CODED[22:44],
}  # fmt: skip
SAID = f"{KEY} {CODED} {quote(KEY, safe='')} {TOKEN}"
TELL = f"""import base64, sys
key = {KEY!r}
coded = base64.b64encode(key.encode()).decode()
for way in (key, key.encode().hex(), {TOKEN!r}, coded[:20], coded[20:]):
    print(way, file=sys.stderr)
"""
FILES = {
    "gate.toml": '[steps.test]\nrun = "python3 -m unittest -q"\nkind = "test"\n',
    "test_it.py": f"import unittest\n{TELL}class T(unittest.TestCase):\n    def test_it(self):\n        import calc\n",
}


def leaks(text: str) -> list[str]:
    return [name for name, way in WAYS.items() if way in text]


def messages(git: Path) -> str:
    said = ["git", "-C", str(git), "log", "--format=%B", "--all"]
    return subprocess.run(said, capture_output=True, text=True, check=True).stdout


async def everything_shown(folder: Path, forge: LocalForge, url: str, ticket: Ticket, log_text: str) -> dict[str, str]:
    """Return each outlet with all that it shows."""
    git = next(folder.rglob(f"{REPO}.git"))
    commits = await asyncio.to_thread(messages, git)
    transcripts = sorted((folder / "bot" / "tickets").rglob("transcript-*"))
    async with httpx.AsyncClient(verify=PLAIN, base_url=url) as http:
        pages = [(await http.get(page)).text for page in ("/", f"/tickets/{ticket.id}")]
        data = [(await http.get(f"/api{page}")).text for page in ("/tickets", f"/tickets/{ticket.id}")]
        async with http.stream("GET", f"/events?ticket={ticket.id}&after=0") as stream:
            events = await anext(stream.aiter_text())
    pull = forge.issue(REPO, ticket.pull or 0)
    return {
        "comments": "".join(forge.comments(REPO, 1)), "pull request": pull.title + pull.body,
        "checks": json.dumps([check.output for check in forge.checks(REPO, ticket.head_sha or "")]),
        "commits": commits,
        "transcripts": "".join(map(render_transcript, transcripts)), "pages": "".join(pages), "json": "".join(data),
        "events": events, "log": log_text,
    }  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shown(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("leaky")
    forge = LocalForge(folder / "forge")
    forge.observer = contract = Contract()
    forge.create_repository(REPO, FILES)
    forge.add_user("ann", {REPO: "write"})
    edit = {"command": "create", "path": "calc.py", "file_text": TELL}
    turns = [
        {"say": f"I know {SAID}", "bash": f"python3 -c '{TELL.replace(chr(39), chr(34))}'"},
        {"edit": edit, "bash": f"printf %s '{KEY}' | base64 -w 20; printf %s '{KEY}' | od -An -tx1 | tr -d ' \\n'"},
        {"say": f"Done with {SAID}\nand\n{CODED[:20]}\n{CODED[20:]}"},
    ]
    model = ScriptedModel([read_session("leaky", [{"type": "start", "repository": REPO, "feedback": False}, *turns])])
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(log.Lines())
    logging.getLogger("bot").addHandler(handler)
    with model.serve() as served:
        settings = Settings(
            data=folder / "bot", port=0, name="h", api_url=forge.api_url, git_url=forge.url, app_id=forge.app_id,
            private_key=SecretStr(forge.private_key), webhook_secret=SecretStr(forge.secret), model_url=served.url,
            anthropic_api_key=SecretStr(KEY),
        )  # fmt: skip
        async with loop.serving(settings) as (service, url):
            forge.hooks.target = f"{url}/webhook"
            forge.open_issue(REPO, f"Found {TOKEN}", "Write calc.py.", user="ann")
            forge.label_issue(REPO, 1, "bot", user="ann")
            ends_at = time.monotonic() + 60
            with service.bell.listen() as listener:
                while time.monotonic() < ends_at:
                    with service.store.read() as c:
                        found = tickets.list_tickets(c)
                        printed = [line.line for line in journal.lines_after(c, 1, 0)]
                    if found and found[0].state is State.DONE:
                        break
                    await listener.wait(1.0)
            await service.drain()
            while await service.outbox.flush():
                pass
            log.logger("test").error(f"said {SAID}", extra={"also": Path(KEY)})
            yield {
                **await everything_shown(folder, forge, url, found[0], lines.getvalue()), "log of the job": "\n".join(printed),
            }  # fmt: skip
    logging.getLogger("bot").removeHandler(handler)
    forge.close()
    assert contract.wrong == []


OUTLETS = (
    "comments",
    "pull request",
    "checks",
    "commits",
    "transcripts",
    "pages",
    "json",
    "events",
    "log",
    "log of the job",
)


@needs("bwrap", package="bubblewrap")
@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("outlet", OUTLETS)
async def test_an_outlet_shows_that_something_was_struck_out_and_nothing_of_it(
    shown: dict[str, str], outlet: str
) -> None:
    quiet = outlet in ("comments", "checks")  # a green gate's output is not in them
    assert (leaks(shown[outlet]), "[redacted]" in shown[outlet] or quiet) == ([], True)


def test_an_error_with_its_trace_is_logged_without_the_secret() -> None:
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(log.Lines())
    logger = log.logger("leak")
    logger.addHandler(handler)
    log.strike(Redactor([KEY]).data)
    try:
        raise ValueError(f"no {KEY} and {json.dumps(CODED)}")
    except ValueError:
        logger.exception("failed")
    logger.removeHandler(handler)
    assert leaks(lines.getvalue()) == []


async def test_what_is_posted_holds_no_secret(forge: LocalForge, github: GitHub, tmp_path: Path) -> None:
    forge.create_repository(REPO, FILES)
    forge.open_issue(REPO, "Bug", "text", user="ann")
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    wanted = {"issue": 1, "marker": "<!-- x -->", "body": f"<!-- x -->\nthe key is {KEY}"}
    with store.write() as c:
        posts.want(c, "comment:1", "comment", repository=REPO, wanted=wanted, now=0.0, urgent=True)
    await Outbox(store, github, now=time.time, strike=Redactor([KEY]).data).flush()
    store.close()
    assert forge.comments(REPO, 1) == ["<!-- x -->\nthe key is [redacted]"]
