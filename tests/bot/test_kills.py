"""SIGKILL at any moment of intake: nothing that was accepted is lost, nothing happens twice."""

import asyncio
import hashlib
import hmac
import json
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from bot.forges.local import LocalForge
from bot.tickets import deliveries, posts, tickets
from bot.tickets.deliveries import Arrived
from bot.tickets.store import open_store, sqlite_url
from tests.bot.inbox_builders import REPO, stamp, user
from tests.plain import PLAIN

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).parent / "killed_inbox.py"


def start(*args: str) -> "subprocess.Popen[str]":
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, str(PROGRAM), *args], env=env, stdout=subprocess.PIPE, text=True)


def issue(action: str, number: int, at: float, **fields: object) -> bytes:
    shown = {"number": number, "title": "Bug", "body": "x", "state": "open", "labels": [{"name": "bot"}],
             "updated_at": stamp(at)}  # fmt: skip
    return json.dumps(
        {"action": action, "repository": {"full_name": REPO}, "sender": user("ann"), "issue": shown, **fields}
    ).encode()


@pytest.mark.slow
def test_intake_killed_at_each_step_acts_once_in_the_end(forge: LocalForge, tmp_path: Path) -> None:
    forge.create_repository(REPO, {".github/bot.toml": "checks = true\n"})
    forge.add_user("ann", {REPO: "write"})
    forge.add_user("max", {REPO: "maintain"})
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    label = {"label": {"name": "bot"}}
    comment = {"comment": {"id": 5, "body": "/bot status", "user": user("ann")}}
    with store.write() as c:
        deliveries.keep(c, [
            Arrived("g-1", "issues", issue("labeled", 1, 100, **label)),
            Arrived("g-2", "issues", issue("assigned", 1, 102)),
            Arrived("g-3", "issue_comment", issue("created", 1, 103, **comment)),
        ], now=1.0)  # fmt: skip
    store.close()  # folds the log into the file that is copied
    program = start("act", str(tmp_path / "bot.db"), forge.api_url, forge.personal_token("max"))
    copies = json.loads(program.communicate(timeout=60)[0])
    assert (len(copies) >= 6, {outcome(Path(copy)) for copy in copies}) == (
        True, {"done ignored done; 1 queued 1; comment reaction reply"},
    )  # fmt: skip


def outcome(db: Path) -> str:
    """Return in one line what became of deliveries, tickets and wishes."""
    store = open_store(sqlite_url(db))
    with store.read() as c:
        states = [found.state for n in range(1, 4) if (found := deliveries.find(c, f"g-{n}"))]
        made = [f"{t.issue} {t.state} {t.attempt}" for t in tickets.list_tickets(c)]
        wanted = sorted(p.kind for p in posts.due(c, 2.0))
    store.close()
    return f"{' '.join(states)}; {', '.join(made)}; {' '.join(wanted)}"


@pytest.mark.slow
async def test_a_killed_receiver_has_stored_whatever_it_accepted(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = start("receive", str(tmp_path / "bot.db"), str(port))
    signature = "sha256=" + hmac.new(b"s", b"{}", hashlib.sha256).hexdigest()
    accepted: list[str] = []

    async def post(http: httpx.AsyncClient, lane: int) -> None:
        for n in range(10_000):
            headers = {"x-github-delivery": f"{lane}-{n}", "x-github-event": "ping", "x-hub-signature-256": signature}
            try:
                answer = await http.post("/webhook", content=b"{}", headers=headers)
            except httpx.HTTPError:
                if accepted:
                    return  # killed
                await asyncio.sleep(0.05)  # not listening yet
                continue
            if answer.status_code == 202:
                accepted.append(f"{lane}-{n}")
            if len(accepted) == 150:
                program.kill()

    async with httpx.AsyncClient(verify=PLAIN, base_url=f"http://127.0.0.1:{port}") as http:
        await asyncio.gather(*(post(http, lane) for lane in range(8)))
    program.communicate(timeout=10)
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    with store.read() as c:
        kept = deliveries.known(c, accepted)
    store.close()
    assert (len(accepted) >= 150, set(accepted) - kept) == (True, set())
