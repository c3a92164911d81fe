"""A cancel or a stop reaches whatever runs: install, agent, gate, push. Work in progress stays on a ref of ours."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bot.forges.local import LocalForge
from bot.tickets import tickets
from bot.tickets.store import open_store, sqlite_url
from bot.work.agents.sessions import read_session
from tests.bot.living import Bot, Model, left_running
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow(seconds=8)]
LONG = {name: f"sleep 86{n}" for n, name in enumerate(("install", "agent", "gate", "push"), 100)}  # each told apart
EDIT = {"edit": {"command": "create", "path": "new.txt", "file_text": "work in progress\n"}}
PASSES = '[steps.test]\nrun = "true"\nevidence = "exit"\n'


@pytest.fixture
def model() -> Iterator[Model]:
    sessions = [
        read_session(name, [{"type": "start", "repository": f"acme/{name}"}, EDIT, *more])
        for name, more in (("agent", [{"bash": LONG["agent"]}]), ("gate", []), ("push", []))
    ]
    model = Model(sessions)
    with model.serve() as served:
        model.url = served.url
        yield model


def open_issue(forge: LocalForge, name: str) -> None:
    """Make a repository whose ticket hangs in what it is called after, and label its issue."""
    files = {
        "install": {"gate.toml": PASSES, ".github/bot.toml": f'[install]\nrun = "{LONG["install"]}"\n'},
        "gate": {"gate.toml": PASSES.replace("true", LONG["gate"])},
    }.get(name, {"gate.toml": PASSES})
    forge.create_repository(f"acme/{name}", {"README.md": "hello\n", **files})
    forge.add_user("ann", {f"acme/{name}": "write"})
    forge.open_issue(f"acme/{name}", "Write a file", "text", user="ann")
    forge.label_issue(f"acme/{name}", 1, "bot", user="ann")


def is_running(words: str) -> bool:
    """Return whether a process runs whose command line holds these words."""
    return any(words in " ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"]))


def work_in_progress(folder: Path, name: str) -> str:
    """Return what the bot kept of the file that the agent wrote."""
    mirror = folder / f"bot/slots/acme__{name}/mirror.git"
    shown = ["git", f"--git-dir={mirror}", "for-each-ref", "--format=%(refname)", "refs/sluice/work/"]
    refs = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.split()
    return "".join(
        subprocess.run(["git", f"--git-dir={mirror}", "show", f"{ref}:new.txt"], capture_output=True, text=True, check=True).stdout
        for ref in refs
    )  # fmt: skip


def test_a_cancel_reaches_whatever_runs(tmp_path: Path, forge: LocalForge, model: Model) -> None:
    forge.fail_next("POST", r"push\.git/git-receive-pack", "hang")
    with Bot(tmp_path, forge, model.url, BOT_SLOTS="4") as bot:
        for name in LONG:
            open_issue(forge, name)
        for name in ("install", "agent", "gate"):
            forge.wait(lambda name=name: is_running(LONG[name]), limit_s=120)  # type: ignore[misc]
        forge.wait(lambda: is_running(f"issue-1: {forge.url}/acme/push.git"), limit_s=120)
        store = open_store(sqlite_url(tmp_path / "bot/sluice.db"))
        with store.write() as c:
            asked_at = time.time()
            for ticket in tickets.list_tickets(c):
                tickets.request_cancel(c, ticket.id, "Not needed any more.", asked_at)
        forge.wait(lambda: all(forge.issue(f"acme/{n}", 1).labels == ["bot: cancelled"] for n in LONG), limit_s=60)
        with store.read() as c:
            took = [t.updated_at - asked_at for t in tickets.list_tickets(c)]
        store.close()
        running = [words for words in LONG.values() if is_running(words)]
        bot.signal(signal.SIGTERM)
        code = bot.ended()
    kept = [work_in_progress(tmp_path, name) for name in LONG]
    assert (running, code, left_running(tmp_path / "bot")) == ([], 0, [])
    assert kept == ["", *["work in progress\n"] * 3]
    assert max(took) < 10.0  # of an hour that each would have taken; a second on a machine that is not busy


def test_the_first_sigterm_waits_for_what_runs_and_the_second_keeps_its_work(
    tmp_path: Path, forge: LocalForge, model: Model
) -> None:
    with Bot(tmp_path, forge, model.url) as bot:
        open_issue(forge, "agent")
        forge.wait(lambda: is_running(LONG["agent"]), limit_s=60)
        bot.signal(signal.SIGTERM)
        bot.line(lambda line: line.startswith("finishing 1 running"))
        still = is_running(LONG["agent"])
        bot.signal(signal.SIGTERM)
        code = bot.ended()
    left = left_running(tmp_path / "bot"), work_in_progress(tmp_path, "agent")
    store = open_store(sqlite_url(tmp_path / "bot/sluice.db"))
    with store.read() as c:
        states = [(t.state, t.stage, t.tries) for t in tickets.list_tickets(c)]
    store.close()
    assert (still, code, left, states) == (True, 0, ([], "work in progress\n"), [("running", "edit", 0)])


def test_a_stop_in_the_middle_of_the_start_ends_in_order(tmp_path: Path, forge: LocalForge) -> None:
    with Bot(tmp_path, forge, "http://127.0.0.1:9") as bot:
        bot.signal(signal.SIGTERM)
        assert bot.ended() == 0
