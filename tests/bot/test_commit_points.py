"""What a SIGKILL between any two steps leaves, every such state enumerated: nothing is lost, nothing is there twice.

A process that is killed leaves the last commit and whatever the forge was asked by then; so each commit is copied and
gone on from, and each request is the last one once. test_kills.py kills real processes.
"""

import json
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from bot.forges.auth import App
from bot.forges.github import GitHub
from bot.forges.limiter import Window
from bot.forges.local import LocalForge
from bot.inbox.intake import Intake
from bot.inbox.recovery import Recovery
from bot.outbox import reporter
from bot.outbox.outbox import Outbox
from bot.outbox.reporter import Links
from bot.tickets import deliveries, posts, repositories, tickets
from bot.tickets.deliveries import Arrived
from bot.tickets.store import Store, open_store, sqlite_url
from tests.bot.inbox_builders import LABEL, PEOPLE, REPO, stamp, user
from tests.plain import PLAIN

SHA = "a" * 40
NOW = 1_000_000.0


class Copied(Store):
    """A store that copies its database after each commit."""

    def __init__(self, path: Path) -> None:
        super().__init__(open_store(sqlite_url(path)).engine)
        self._path, self.copies = path, [path.with_suffix(".0")]
        self._copy()

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        with super().write() as c:
            yield c
        self.copies.append(self._path.with_suffix(f".{len(self.copies)}"))
        self._copy()

    def _copy(self) -> None:
        source, target = sqlite3.connect(self._path), sqlite3.connect(self.copies[-1])
        source.backup(target)
        source.close()
        target.close()


class Killed(BaseException):
    """Ends everything, as a SIGKILL does."""


@dataclass
class Life:
    """So many steps, then death; a step is a commit, begun or done, or an answer of the forge."""

    left: int = -1  # never

    def step(self) -> None:
        if self.left == 0:
            raise Killed
        self.left -= 1

    async def answered(self, _answer: httpx.Response) -> None:
        self.step()


class Mortal(Store):
    """A store whose commits are steps of a life."""

    def __init__(self, engine: sa.Engine, life: Life) -> None:
        super().__init__(engine)
        self._life = life

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        with super().write() as c:
            yield c
            self._life.step()
        self._life.step()


@pytest.fixture(autouse=True)
def repository(forge: LocalForge) -> None:
    forge.create_repository(REPO, {".github/bot.toml": "checks = true\n"})
    for login, role in PEOPLE.items():
        forge.add_user(login, {REPO: role})


def heard(event: str, action: str, at: float, *, number: int = 1, sender: str = "ann", **fields: Any) -> Arrived:
    issue = {
        "number": number, "title": fields.pop("title", "Bug"), "body": "x", "state": "open", "user": user("eve"),
        "labels": [{"name": LABEL}], "updated_at": stamp(at),
    }  # fmt: skip
    payload = {"action": action, "repository": {"full_name": REPO}, "sender": user(sender), "issue": issue, **fields}
    return Arrived(f"g-{at:g}", event, json.dumps(payload).encode())


def said(at: float, text: str, *, sender: str = "ann", number: int = 1) -> Arrived:
    comment = {"id": int(at), "body": text, "user": user(sender)}
    return heard("issue_comment", "created", at, number=number, sender=sender, comment=comment)


def story() -> list[Arrived]:
    """Return deliveries of every kind that intake acts on."""
    label = {"label": {"name": LABEL}}
    head = {"sha": SHA, "repo": {"full_name": REPO}}
    return [
        heard("issues", "labeled", 100, **label),
        heard("issues", "labeled", 101, number=2, sender="eve", **label),
        heard("issues", "assigned", 102),
        said(103, "/bot status"),
        said(104, "/bot approve", number=2),
        heard("issues", "edited", 105, title="Bug!", changes={"title": {"from": "Bug"}}, sender="eve"),
        said(106, "/bot approve"),
        heard("issues", "unlabeled", 107, number=2, **label),
        heard("issues", "labeled", 108, number=2, **label),
        heard(
            "pull_request", "opened", 109, sender="max", pull_request={"number": 5, "user": user("max"), "head": head}
        ),
        said(110, "/bot what?", sender="tim"),
        heard("check_run", "rerequested", 111, check_run={"head_sha": SHA, "external_id": "pull-5"}),
        heard("issues", "closed", 112),
        heard("repository", "renamed", 113, changes={"repository": {"name": {"from": "was"}}}),
    ]


async def act(store: Store, github: GitHub) -> None:
    def told(c: sa.Connection, ticket: int) -> None:
        reporter.report(c, ticket, links=Links(""), now=NOW)

    def checked(c: sa.Connection, check: int) -> None:
        reporter.report_check(c, check, links=Links(""), now=NOW)

    await Intake(store, github, label=LABEL, now=lambda: NOW, told=told, checked=checked).process_new()


def everything(path: Path) -> dict[str, list[Any]]:
    """Return all rows of all tables."""
    with sqlite3.connect(path) as c:
        names = [name for (name,) in c.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: sorted(c.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}


async def test_intake_that_goes_on_from_any_commit_ends_in_the_very_same_database(
    forge: LocalForge, github: GitHub, tmp_path: Path
) -> None:
    store = Copied(tmp_path / "bot.db")
    with store.write() as c:
        deliveries.keep(c, story(), now=NOW)
    await act(store, github)
    wanted = everything(store.copies[-1])
    ends = []
    for copy in store.copies[1:-1]:  # the first one is before anything was accepted
        again = open_store(sqlite_url(copy))
        await act(again, github)
        again.close()
        ends.append(everything(copy))
    store.close()
    states = [row[5] for row in wanted["deliveries"]]
    differing = [(n, name) for n, end in enumerate(ends) for name in wanted if end[name] != wanted[name]]
    assert (differing, len(ends) >= 13, sorted(set(states))) == ([], True, ["done", "ignored"])


@pytest.fixture
async def mortal(forge: LocalForge, tmp_path: Path) -> AsyncIterator[tuple[Life, Mortal, GitHub]]:
    """Yield a life, and a store and a client of which each step is one of that life's."""
    life = Life()
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    async with httpx.AsyncClient(verify=PLAIN, event_hooks={"response": [life.answered]}) as http:
        app = App(str(forge.app_id), forge.private_key)
        github = GitHub(http, api_url=forge.api_url, app=app, token=None, now=time.time)
        await github.issue(REPO, forge.open_issue(REPO, "First", "", user="ann"))
        github.limiter(REPO).writes_a_minute = github.limiter(REPO).points = Window(100_000, 60.0)
        yield life, Mortal(store.engine, life), github
    store.close()


async def lives(life: Life, steps: int, act: Callable[[], Awaitable[object]]) -> bool:
    """Act and die after so many steps, then act again; True where it lived to its end at once."""
    life.left = steps
    try:
        await act()
    except Killed:
        life.left = -1
        await act()
        return False
    return True


async def test_what_is_pulled_and_swept_up_makes_one_ticket_however_often_it_is_cut_short(
    forge: LocalForge, mortal: tuple[Life, Mortal, GitHub]
) -> None:
    life, store, github = mortal
    with store.write() as c:
        repositories.keep_installation(c, REPO, 1)
    states, steps, lived = set(), 0, False
    while not lived:
        before = len(forge.state.deliveries)
        heard_of = forge.open_issue(REPO, "Bug", "It breaks.", user="ann", labels=(LABEL,))
        unheard = forge.open_issue(REPO, "Bug", "It breaks.", user="ann")
        forge.issue(REPO, unheard).labels.append(LABEL)
        forge.wait(lambda want=before + 3: len([d for d in forge.state.deliveries if d.status]) == want)
        lived = await lives(life, steps, lambda: recover(store, github))
        life.left = -1
        with store.read() as c:
            found = [t for t in tickets.list_tickets(c, limit=1000) if t.issue in (heard_of, unheard)]
        states.add(tuple(sorted((t.issue == unheard, t.state.value, t.attempt) for t in found)))
        steps += 1
    assert (states, steps > 8) == ({((False, "queued", 1), (True, "queued", 1))}, True)


async def recover(store: Store, github: GitHub) -> None:
    recovery = Recovery(store, github, label=LABEL, now=lambda: time.time() + 60.0, stored=lambda: None)
    await recovery.pull()
    await act(store, github)
    await recovery.sweep()
    await act(store, github)


async def test_an_outbox_cut_short_at_any_step_leaves_each_wish_on_the_forge_once(
    forge: LocalForge, mortal: tuple[Life, Mortal, GitHub]
) -> None:
    life, store, github = mortal
    sha = forge.sha(REPO, "main") or ""
    shown, steps, lived = set(), 0, False
    while not lived:
        number = forge.open_issue(REPO, "Bug", "It breaks.", user="ann", labels=(LABEL,))
        comment = forge.comment(REPO, number, "/bot why", user="ann")
        with store.write() as c:
            want(c, number, comment, sha)
        lived = await lives(life, steps, Outbox(store, github, now=time.time).flush)
        life.left = -1
        runs = [run for run in forge.checks(REPO, sha) if run.external_id == f"ticket-{number}"]
        reactions = forge.state.repositories[REPO].comments[comment].reactions
        shown.add((len(forge.comments(REPO, number)), len(runs), len(reactions), *forge.issue(REPO, number).labels))
        steps += 1
    assert (shown, steps > 12) == ({(2, 1, 1, "bot: red")}, True)


def want(c: sa.Connection, number: int, comment: int, sha: str) -> None:
    mark = f"<!-- sluice:ticket:{REPO}#{number} -->"
    check = {"name": "sluice", "head_sha": sha, "external_id": f"ticket-{number}", "status": "in_progress"}
    for kind, wanted in (
        ("comment", {"issue": number, "marker": mark, "body": f"{mark}\nRED"}),
        ("labels", {"issue": number, "add": ["bot: red"], "remove": [LABEL]}),
        ("reaction", {"comment": comment, "content": "+1"}),
        ("check", check),
    ):
        posts.want(c, f"{kind}:{number}", kind, repository=REPO, wanted=wanted, now=0.0)
