"""The composition root: one running service from settings, and what wakes what."""

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot import log
from bot.connecting import (
    AUTHOR,
    GATE,
    agent_of,
    by_size,
    interpreter,
    links_of,
    open_forge,
    secrets_of,
    webhook_secrets,
)
from bot.dashboard.bell import Bell
from bot.dashboard.guard import Guard
from bot.dashboard.pages import Dashboard
from bot.dashboard.transcripts import Transcripts
from bot.inbox.intake import Intake
from bot.inbox.recovery import Recovery
from bot.inbox.webhook import Receiver
from bot.opening import DATABASE, ENGINE, data_folder, need_git, sandbox_mode
from bot.outbox import reporter
from bot.outbox.outbox import Outbox
from bot.sandbox.redact import Redactor
from bot.settings import Settings
from bot.slots.disk import low_disk
from bot.slots.mirrors import Mirrors
from bot.slots.pool import Pool
from bot.tickets import hosts, posts, pull_checks, scheduler, tickets
from bot.tickets.budget import Budget
from bot.tickets.outage import Outage
from bot.tickets.presence import Folder, Presence
from bot.tickets.queue import Queue
from bot.tickets.scheduler import Here
from bot.tickets.store import is_away, open_store, sqlite_url
from bot.tickets.ticket import Ticket
from bot.tickets.warmth import Warmth
from bot.work.agents.open import preload
from bot.work.checking import Checks
from bot.work.engine import Engine
from bot.work.job import Desk
from bot.work.logbook import Logbook
from bot.work.rechecking import Rechecks

LOG = log.logger("app")
HEARTBEAT_S = 5.0
STOP_S = 10.0  # for running stages to keep their work
PRELOAD_S = 10.0  # behind the start; a ticket that comes sooner loads what it needs beside its first stage
SWEEP_S = 15.0  # everything is woken by what happens; this only mends a wake-up that happened on another host


class Service:
    """One host of the bot: everything that runs on it, and what wakes what."""

    def __init__(self, settings: Settings, *, note: str = "", receives: bool = True, pulls: bool = False) -> None:
        self.settings = settings
        self.host = settings.name or socket.gethostname()
        data = data_folder(settings.data)
        need_git()
        redactor = Redactor(secrets_of(settings))
        log.strike(redactor.data)
        self.bell = Bell()
        self._folder = Folder(data)
        self.store = open_store(settings.database_url or sqlite_url(data / DATABASE))
        self._presence = Presence(self.store, name=self.host, heard=self._heard)
        self._watch = hosts.Watch(self.host, dead_s=settings.dead_after_s)
        self._warmth, self._queue = Warmth(self.host), Queue()
        self._http = httpx.AsyncClient(timeout=30.0, follow_redirects=False)
        self.forge = open_forge(settings, self._http, self.store)
        self.outage = Outage(self.store)
        self.outbox = Outbox(
            self.store, self.forge, now=time.time, links=links_of(settings), strike=redactor.data,
            host=self.host, claim_s=min(posts.CLAIM_S, settings.dead_after_s),
        )  # fmt: skip
        self.desk = self._desk(data, redactor)
        self.engine = Engine(self.desk, database_url=settings.database_url or sqlite_url(data / ENGINE), host=self.host)
        self.intake = Intake(
            self.store,
            self.forge,
            label=settings.label,
            now=time.time,
            told=self._report,
            checked=self._report_check,
            acted=self._heard,
            floor=settings.floor,
            allowed_bots=settings.allowed_bots,
            app=settings.app_id,
        )
        self.checks = Checks(self.desk)
        self.rechecks = Rechecks(self.desk, low=self._low_disk)
        self.receiver = self._receiver() if receives and not pulls else None
        self.recovery = Recovery(
            self.store, self.forge, label=settings.label, now=time.time, stored=self.delivered
        )  # fmt: skip
        self._recovers, self._pulls = receives, pulls
        self.app = self._application(note)
        self.draining = False
        self._turns = [self._start_tickets, self._start_checks]  # who goes first; in turns where slots are short
        self._tick, self._news, self._freed = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._asked = asyncio.Event()
        self._idle: set[int] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def _receiver(self) -> Receiver:
        secrets = webhook_secrets(self.settings)
        return Receiver(self.store, secrets, now=time.time, stored=self.delivered)

    def _desk(self, data: Path, redactor: Redactor) -> Desk:
        settings = self.settings
        return Desk(
            store=self.store, forge=self.forge, now=time.time, data=data, host=self.host,
            git_url=settings.git_url.rstrip("/"),
            pool=Pool(
                data / "slots", self.store, host=self.host, slots=settings.slots, sandbox=sandbox_mode(settings),
                private_hosts=settings.private_hosts,
                mirrors=Mirrors(by_size(self.forge, settings.partial_clone_mb)),
            ),
            open_agent=lambda wanted: agent_of(settings, wanted, redactor), redactor=redactor,
            logbook=Logbook(self.store, now=time.time, changed=self.bell.ring), outage=self.outage,
            gate_argv=GATE, policy_argv=("--policy", str(settings.policy.resolve())) if settings.policy else (),
            links=links_of(settings), sandbox=sandbox_mode(settings),
            readable=interpreter(), changed=self.changed, author=AUTHOR,
            day=Budget(tokens=settings.day_tokens, dollars=settings.day_dollars), private_hosts=settings.private_hosts,
            recheck=settings.recheck,
        )  # fmt: skip

    def _application(self, note: str) -> Starlette:
        dashboard = Dashboard(
            self.store, self.bell, time.time, self.settings.label, note=note, shared=bool(self.settings.database_url),
            forge=self.settings.git_url.rstrip("/"), strike=self.desk.redactor.text,
        )  # fmt: skip
        password = self.settings.dashboard_password
        guard = Middleware(Guard, password=password.get_secret_value() if password else "")
        transcripts = Transcripts(
            self.store, self.desk.data / "tickets", dashboard.page, strike=self.desk.redactor.text
        )  # fmt: skip
        health_routes = [Route("/healthz", health), Route("/readyz", self._ready)]
        routes = [*health_routes, *transcripts.routes(), *dashboard.routes()]
        if self.receiver is not None:
            routes += self.receiver.routes()
        return Starlette(routes=routes, middleware=[guard], lifespan=self._lifespan)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        await self.start()
        yield
        await self.stop()

    async def _ready(self, _request: Request) -> Response:
        return PlainTextResponse("draining", 503) if self.draining else PlainTextResponse("ready")

    def _report(self, c: sa.Connection, ticket: int) -> None:
        reporter.report(c, ticket, links=self.desk.links, now=time.time())

    def _report_check(self, c: sa.Connection, check: int) -> None:
        reporter.report_check(c, check, links=self.desk.links, now=time.time())

    def delivered(self) -> None:
        """Say that a delivery was stored; safe from any thread."""
        self._call(self._news.set)

    def changed(self, ticket: int) -> None:
        """Say that a ticket's row changed; safe from any thread."""
        self.bell.ring(ticket)
        self._call(self._told)
        if ticket not in self.desk.running:  # only what has ended asks for a recheck
            self._call(self.rechecks.wake)

    def _told(self) -> None:
        self.outbox.wake()
        self._tick.set()
        self._freed.set()

    def _call(self, act: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(act)

    async def start(self) -> None:
        """Repair what an earlier stop left, go on with it, and begin to act on what happens."""
        self._loop = asyncio.get_running_loop()
        self.bell.attach()
        await self._presence.open()
        await self.desk.pool.open()
        mine = await asyncio.to_thread(self._take_back)
        await self.engine.launch(resumes=bool(mine))
        for ticket in mine:
            await self.engine.go_on(ticket)
        self._news.set()
        self._told()
        loops: list[Callable[[], Coroutine[Any, Any, None]]] = [
            self._read_deliveries, self._admit, self.outbox.run, self._beat, self._presence.run, self._obey,
            self.rechecks.run, self._preload,
        ]  # fmt: skip
        if self._recovers:
            loops.append(self.recovery.run_pull if self._pulls else self.recovery.run)
        self._tasks = [asyncio.create_task(self._guard(loop)) for loop in loops]

    async def stop(self) -> None:
        """End the loops and every running stage; work in progress is kept and goes on at the next start."""
        self.desk.stopping.set()
        self.rechecks.stop()
        for here in self.desk.running.values():
            here.cancelled.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                while self.desk.running:
                    await woken(self._freed, limit_s=0.1)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.checks.stop()
        if self.receiver is not None:
            self.receiver.close()
        await self.desk.logbook.flush()
        with contextlib.suppress(sa.exc.SQLAlchemyError):  # the database is away: nothing more can be said there
            await asyncio.to_thread(self._leave)
        await asyncio.to_thread(self.engine.stop)
        await self._presence.close()
        await self._http.aclose()
        self.store.close()
        self._folder.close()

    async def drain(self) -> None:
        """Take nothing new, and wait until what runs has ended and was told."""
        self.draining = True
        while self.desk.running:
            await woken(self._freed, limit_s=1.0)
        await self.outbox.flush()

    def _leave(self) -> None:
        with self.store.write() as c:
            hosts.leave(c, self.host)

    def _take_back(self) -> list[Ticket]:
        with self.store.write() as c:
            pull_checks.release_of(c, self.host)
            posts.release(c, self.host)
            hosts.beat(c, self.host, slots=self.settings.slots)
            return list(hosts.take_back(c, host=self.host, now=time.time()))

    async def _read_deliveries(self) -> None:
        while True:
            await woken(self._news, limit_s=SWEEP_S)
            await self.intake.process_new()

    async def _preload(self) -> None:
        """Load the model's SDK, which takes more than a second, once the start is over and before most tickets come."""
        await asyncio.sleep(PRELOAD_S)
        await asyncio.to_thread(preload, "anthropic")

    async def _admit(self) -> None:
        while True:
            await woken(self._tick, limit_s=SWEEP_S)
            if not self.draining:
                low = self._low_disk()
                if low:
                    low = await self.desk.pool.make_room(self._low_disk)
                went_first = await self._turns[0](low)
                await self._turns[1](low)
                if went_first and self._free() <= 0:
                    self._turns.reverse()

    async def _start_tickets(self, low: str) -> bool:
        taken = await asyncio.to_thread(self._admit_once, low)
        for ticket in taken:
            await self.engine.start(ticket)
        if self._queue.is_behind:
            self._tick.set()
        again_s = self._warmth.again_s
        if again_s is not None:
            asyncio.get_running_loop().call_later(again_s, self._tick.set)
        return bool(taken)

    async def _start_checks(self, low: str) -> bool:
        taken = [] if low else await asyncio.to_thread(self.checks.take, self._free())
        self.checks.start(taken)
        return bool(taken)

    def _free(self) -> int:
        return self.settings.slots - len(self.desk.running)

    def _low_disk(self) -> str:
        return low_disk(self.desk.data, least_bytes=self.settings.low_disk_mb * 1024 * 1024)

    def _admit_once(self, low: str) -> Sequence[Ticket]:
        here = Here(
            free_slots=self._free(), now=time.time(), low_disk=low, total=self.settings.tickets, day=self.desk.day
        )
        return scheduler.tick(
            self.store, here, host=self.host, changed=lambda c, ticket: self._report(c, ticket.id),
            warmth=self._warmth, queue=self._queue,
        )  # fmt: skip

    def _heard(self) -> None:
        """Act on what somebody wrote to the database: the bot itself, another host, or a person at a terminal."""
        self._asked.set()
        self._told()

    async def _obey(self) -> None:
        """Stop at once what was cancelled, and what another host has taken."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            if self.desk.running:
                self.engine.compare(
                    {ticket: here for ticket, here in self.desk.running.items() if ticket > 0},
                    await asyncio.to_thread(self._held),
                )
                self.checks.cancel(await asyncio.to_thread(self.checks.lost))

    def _held(self) -> dict[int, tuple[int, bool]]:
        with self.store.read() as c:
            return hosts.held(c, self.host)

    async def _beat(self) -> None:
        """Say that this host lives, and go on with what dead hosts left, or an error here."""
        while True:
            for ticket in await asyncio.to_thread(self._beat_once):
                await self.engine.go_on(ticket)
            self._asked.set()
            await asyncio.sleep(min(HEARTBEAT_S, self.settings.dead_after_s / 5))

    def _beat_once(self) -> Sequence[Ticket]:
        free = 0 if self.draining else self._free()
        with self.store.write() as c:
            hosts.beat(c, self.host, slots=self.settings.slots, draining=self.draining)
            gone = self._watch.dead(c)
            for host in gone:
                pull_checks.release_of(c, host)
            # idle at two beats: not one that is just being started
            idle = self.engine.idle(hosts.held(c, self.host))
            left, self._idle = idle & self._idle, idle
            mine = [tickets.get_ticket(c, ticket) for ticket in left]
            return [*mine, *hosts.take_orphans(c, gone, host=self.host, most=free, now=time.time())]

    async def _guard(self, loop: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Keep a loop running over outages of the database; end the service with it for any other reason.

        A service that looks alive and does nothing would not be restarted.
        """
        while True:
            try:
                await loop()
                return
            except Exception as error:
                if is_away(error):
                    await self.outage.over(error)
                    self._news.set()
                    self._told()
                    continue
                LOG.exception("a loop of the service failed; ending the service")
                os.kill(os.getpid(), signal.SIGTERM)
                return


async def woken(event: asyncio.Event, *, limit_s: float | None = None) -> None:
    """Wait until the event is set, at most `limit_s`, and clear it."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await event.wait()
    event.clear()


async def health(_request: Request) -> Response:
    """Answer that the process lives."""
    return PlainTextResponse("ok")
