"""The demo: a local forge, a scripted model and the bot in one process, on the samples beside this file."""

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import uvicorn
from pydantic import SecretStr

from bot.app import Service
from bot.forges.local import LocalForge
from bot.forges.local.repos import read_folder
from bot.serving import Server, bind
from bot.settings import Settings
from bot.tickets import journal, tickets
from bot.tickets.seconds import by_stage, total
from bot.tickets.ticket import Outcome, State, Ticket
from bot.work.agents.open import preload
from bot.work.agents.prices import SCRIPTED_MODEL
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions

SAMPLES = Path(__file__).parent / "samples"
SCRIPTED = "The model is scripted: it answers from recorded sessions. Set ANTHROPIC_API_KEY for a real one."
LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Story:
    """One issue of the demo, and how it should end."""

    repository: str
    title: str
    body: str
    outcome: Outcome
    rounds: int  # how often the gate is asked


STORIES = (
    Story(
        "acme/shop", "The cart's total ignores the quantity",
        "Three teas at 2.50 should cost 7.50, but `total` says 2.50.\n\nPaths: shop/cart.py, tests/test_cart.py",
        Outcome.MERGED, 1,
    ),
    Story(
        "acme/shop", "Large amounts are hard to read",
        "Show 1234567.89 as 1,234,567.89.\n\nPaths: shop/money.py, tests/test_money.py",
        Outcome.MERGED, 2,
    ),
    Story(
        "acme/notes", "Add a way to tick things off",
        "`todo.py` can add things, but not finish them.",
        Outcome.UNGATED, 0,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """One stage of one ticket that has just ended."""

    ticket: Ticket
    stage: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How one issue of the demo ended."""

    issue: str
    title: str
    outcome: str | None
    wanted: str
    verdict: str | None
    seconds: Mapping[str, float]
    own_seconds: float  # the bot's own share: all but agent and gate steps
    rounds: int  # how often the agent was asked
    pull_request: int | None
    head: str | None
    reason: str

    @property
    def as_wanted(self) -> bool:
        """Return whether it ended as it should."""
        return self.outcome == self.wanted


@dataclass(slots=True)
class Demo:
    """Everything that runs in the demo."""

    forge: LocalForge
    service: Service
    dashboard: str
    model: str
    stories: Mapping[tuple[str, int], Story] = field(default_factory=dict)


@contextlib.asynccontextmanager
async def running(
    folder: Path, *, port: int = 0, forge_port: int = 0, model: str = "", replay: Sequence[Path] = ()
) -> AsyncIterator[Demo]:
    """Yield the demo while it serves; `folder` holds all it writes; transcripts of `replay` come before a model."""
    forge = LocalForge(folder / "forge", port=forge_port)
    with contextlib.ExitStack() as stack:
        stack.callback(forge.close)
        key = os.environ.get("ANTHROPIC_API_KEY", "")  # noqa: TID251 decides whether the model is scripted
        scripted = not key or bool(replay)
        if scripted:
            served = stack.enter_context(ScriptedModel(load_sessions(*replay, *_sessions())).serve())
            model_url, key = served.url, "scripted-model-key"
        else:
            model_url = ""
        for name in ("shop", "notes"):
            forge.create_repository(f"acme/{name}", read_folder(SAMPLES / name))
        forge.add_user("ann", {"acme/shop": "write", "acme/notes": "write"})
        settings = Settings(
            data=folder / "bot", port=port, name="demo", api_url=forge.api_url, git_url=forge.url,
            app_id=forge.app_id, private_key=SecretStr(forge.private_key), webhook_secret=SecretStr(forge.secret),
            model_url=model_url, model=model or (SCRIPTED_MODEL if scripted else ""), anthropic_api_key=SecretStr(key),
        )  # fmt: skip
        async with serving(settings, note=SCRIPTED if scripted else "") as (service, url):
            forge.hooks.target = f"{url}/webhook"
            yield Demo(forge, service, url, "scripted" if scripted else "Anthropic's")


@contextlib.asynccontextmanager
async def serving(settings: Settings, *, note: str = "") -> AsyncIterator[tuple[Service, str]]:
    """Yield the bot while it serves in this event loop, and its address."""
    listening = bind(settings.host, settings.port)
    url = f"http://{settings.host}:{listening.getsockname()[1]}"
    service = Service(settings.model_copy(update={"public_url": settings.public_url or url}), note=note)
    server = Server(uvicorn.Config(service.app, log_config=None, lifespan="on", timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    async with httpx.AsyncClient() as http:
        await http.get(f"{url}/readyz")  # the socket listens already: this waits for the start, and polls nothing
        await asyncio.to_thread(preload, "anthropic")  # so that the seconds of the first ticket are its own
    try:
        yield service, url
    finally:
        server.should_exit = True
        await task


async def play(demo: Demo, *, told: Callable[[Told], None], of: Sequence[Story] = STORIES) -> list[Ended]:
    """Open the issues, put the label on, and watch until all have ended."""
    stories = {}
    for story in of:
        number = demo.forge.open_issue(story.repository, story.title, story.body, user="ann")
        stories[(story.repository, number)] = story
        demo.forge.label_issue(story.repository, number, "bot", user="ann")
    demo.stories = stories
    seen: set[tuple[int, str, float]] = set()
    ends_at = time.monotonic() + LIMIT_S
    with demo.service.bell.listen() as listener:
        while time.monotonic() < ends_at:
            found = await asyncio.to_thread(_look, demo.service, seen, told)
            if len(found) == len(stories) and all(t.state is State.DONE for t in found):
                break
            await listener.wait(1.0)
    await demo.service.drain()
    order = list(stories)  # deliveries may arrive in any
    found.sort(key=lambda ticket: order.index((ticket.repository, ticket.issue)))
    return [_ended(demo.service, stories, ticket) for ticket in found]


def _look(service: Service, seen: set[tuple[int, str, float]], told: Callable[[Told], None]) -> list[Ticket]:
    with service.store.read() as c:
        found = sorted(tickets.list_tickets(c), key=lambda t: t.id)
        for ticket in found:
            for took in journal.times_of(c, ticket.id, ticket.attempt):
                key = (ticket.id, took.stage, took.started_at)
                if not took.part and key not in seen:
                    seen.add(key)
                    told(Told(ticket, took.stage, took.seconds))
    return found


def _ended(service: Service, stories: Mapping[tuple[str, int], Story], ticket: Ticket) -> Ended:
    with service.store.read() as c:
        times = journal.times_of(c, ticket.id, ticket.attempt)
        attempt = tickets.find_attempt(c, ticket.id, ticket.attempt)
    spent = by_stage(times)
    seconds = {s.stage: round(s.seconds, 3) for s in spent}
    story = stories[(ticket.repository, ticket.issue)]
    return Ended(
        issue=f"{ticket.repository}#{ticket.issue}", title=ticket.title, outcome=ticket.outcome, wanted=story.outcome,
        verdict=ticket.verdict, seconds=seconds, own_seconds=round(total(spent).infrastructure, 3),
        rounds=int(attempt.usage.get("rounds", 0)) if attempt else 0,
        pull_request=ticket.pull, head=ticket.head_sha, reason=ticket.reason,
    )  # fmt: skip


def _sessions() -> list[Path]:
    return sorted((SAMPLES / "sessions").glob("*.jsonl"))


def scratch() -> "tempfile.TemporaryDirectory[str]":
    """Return a folder that goes when the demo ends."""
    return tempfile.TemporaryDirectory(prefix="sluice-demo-")
