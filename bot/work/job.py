"""What a stage works with: the ticket, and the desk it is worked at."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from bot.forges.errors import Unreachable
from bot.forges.github import GitHub
from bot.outbox.reporter import Links
from bot.sandbox.box import Mode
from bot.sandbox.redact import Redactor, Stream
from bot.slots import git
from bot.slots.pool import Pool, Ready
from bot.slots.shelf import Use
from bot.slots.slot import Slot
from bot.tickets import bundles, journal, tickets
from bot.tickets.budget import Budget
from bot.tickets.outage import Outage
from bot.tickets.repository import RepositorySettings
from bot.tickets.store import Store
from bot.tickets.ticket import Ticket
from bot.work.agents.agent import Agent
from bot.work.logbook import Logbook


class Fenced(Exception):
    """Another host holds this ticket now, or it was closed: what this one found out must not be written."""


@dataclass(slots=True)
class Running:
    """What this host alone knows of a ticket it works on; never a stage's result."""

    epoch: int
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    slot: Slot | None = None
    at_sha: str | None = None  # the commit that the slot stands at
    keeps_work: bool = False  # an agent's work lies in the slot: a stop has to keep it first
    made: dict[int, Any] = field(default_factory=dict)  # round -> what the agent did: no outage makes it work twice
    is_idle: bool = False  # its workflow ended without an end of the ticket: it has to be gone on with
    is_suspect: bool = False  # the bot died more than once in this stage: it runs beside no other such ticket
    stream: Stream | None = None  # of the log
    for_gate: bool = False  # a gate ran in it since


@dataclass(frozen=True, slots=True)
class Desk:
    """What the stages of every ticket share on one host."""

    store: Store
    forge: GitHub
    pool: Pool
    open_agent: Callable[[RepositorySettings], Agent]
    now: Callable[[], float]
    redactor: Redactor
    logbook: Logbook
    outage: Outage
    data: Path
    git_url: str
    host: str
    gate_argv: tuple[str, ...]
    policy_argv: tuple[str, ...]  # ("--policy", FILE) where an operator keeps the policies
    links: Links
    sandbox: Mode
    readable: tuple[Path, ...]  # what steps may read besides the system: our interpreter
    changed: Callable[[int], None]  # a ticket's row or log changed: wake whoever shows it
    author: tuple[str, str]  # name and address that commits carry where the forge knows us by no name
    day: Budget = field(default_factory=Budget)  # of all repositories together
    private_hosts: tuple[str, ...] = ()  # names that may lead into the operator's own network
    recheck: int = 0  # one of so many jobs is gated again without caches, and every merge; 0: none
    running: dict[int, Running] = field(default_factory=dict)  # tickets by number; checks of pull requests below zero
    stopping: asyncio.Event = field(default_factory=asyncio.Event)  # set: no stage's result is kept any more
    suspects: asyncio.Lock = field(default_factory=asyncio.Lock)  # so that each crash has one suspect


@dataclass(frozen=True, slots=True)
class Job:
    """One stage's view of one ticket."""

    desk: Desk
    ticket: Ticket
    stage: str
    settings: RepositorySettings
    here: Running

    @property
    def repository(self) -> str:
        """Return OWNER/NAME."""
        return self.ticket.repository

    @property
    def cancelled(self) -> asyncio.Event:
        """Set when the ticket is to stop now."""
        return self.here.cancelled

    def folder(self) -> Path:
        """Return the folder where this attempt keeps transcript and report."""
        path = self.desk.data / "tickets" / str(self.ticket.id) / str(self.ticket.attempt)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def log(self, line: str) -> None:
        """Add a line to the ticket's log, secrets struck out."""
        self.lines([line])

    def lines(self, lines: list[str]) -> None:
        """Add lines to the ticket's log, secrets struck out; what may be the start of one waits for what follows."""
        if self.here.stream is None:
            self.here.stream = Stream(self.desk.redactor)
        self._show(self.here.stream.feed("".join(f"{line}\n" for line in lines)))

    def end_lines(self) -> None:
        """Add what was held back: nothing follows."""
        if self.here.stream is not None:
            self._show(self.here.stream.close())

    def _show(self, text: str) -> None:
        if text:
            lines = text.removesuffix("\n").split("\n")
            self.desk.logbook.add(self.ticket.id, self.ticket.attempt, self.stage, lines)

    async def author(self) -> tuple[str, str]:
        """Return name and address for commits: ours on the forge, so that no stranger's account is named by them."""
        we = await self.desk.forge.we(self.ticket.repository)
        return (we.login, self.address(we.login, we.id)) if we.login else self.desk.author

    def address(self, login: str, number: int) -> str:
        """Return the address by which the forge knows whose commit it is: the account's number, then its name.

        Source: https://docs.github.com/en/account-and-profile/reference/email-addresses-reference
        """
        host = urlsplit(self.desk.links.forge).hostname or "github.com"
        return f"{number}+{login}@users.noreply.{host}" if number else f"{login}@users.noreply.{host}"

    @contextmanager
    def timed(self, part: str, kind: str = "infrastructure") -> Iterator[None]:
        """Measure one part of the stage and keep its seconds."""
        started_at, began = self.desk.now(), time.perf_counter()
        try:
            yield
        finally:
            self.took(part, time.perf_counter() - began, kind=kind, started_at=started_at)

    def took(self, part: str, seconds: float, *, kind: str = "infrastructure", started_at: float | None = None) -> None:
        """Keep the seconds of one part that was measured elsewhere."""
        with self.desk.store.write() as c:
            if not tickets.is_held(c, self.ticket.id, self.here.epoch):
                return  # another host's receipt by now
            journal.add_time(
                c, self.ticket.id, self.ticket.attempt, stage=self.stage, part=part, kind=kind,
                started_at=self.desk.now() - seconds if started_at is None else started_at, seconds=seconds,
            )  # fmt: skip

    def write(self, **fields: object) -> None:
        """Write to the ticket's row while it is ours; raises Fenced once it is not."""
        with self.writing(**fields):
            pass

    @contextmanager
    def writing(self, **fields: object) -> Iterator[sa.Connection]:
        """Open a transaction that writes while the ticket is ours, `fields` to its row; raises Fenced else."""
        with self.desk.store.write() as c:
            if not tickets.write_fenced(c, self.ticket.id, self.here.epoch, **fields):
                raise Fenced(f"ticket {self.ticket.id} is no longer at epoch {self.here.epoch}")
            yield c

    def still_ours(self) -> None:
        """Raise Fenced unless this host holds the ticket; asked right before anything that people see."""
        self.write()

    async def bring(self, slot: Slot, sha: str) -> None:
        """Bring a commit that another host, or an earlier attempt, made into this host's mirror, if it was kept."""
        with self.desk.store.read() as c:
            data = bundles.find(c, self.ticket.id, sha)
        if data is None:
            return
        async with self.desk.pool.lock(self.ticket.repository):
            new = await self.desk.pool.mirrors.ensure(slot)
            if new or not await git.has_commit(slot.mirror, sha):
                with self.timed("clone" if new else "fetch"):
                    token = await self._token()
                    await git.fetch(slot.mirror, self.url, token=token)
                    await self.desk.pool.mirrors.unbundle(slot, data, sha, url=self.url, token=token)

    async def have(self, slot: Slot, *commits: str, beyond: str = "") -> None:
        """Have the files of these commits in the mirror, also where that holds only what was asked for."""
        began = time.perf_counter()
        if await self.desk.pool.mirrors.have(slot, *commits, url=self.url, token=self._token, beyond=beyond):
            self.took("fetch", time.perf_counter() - began)

    @property
    def url(self) -> str:
        """Return the address of the repository for git."""
        return f"{self.desk.git_url}/{self.ticket.repository}.git"

    async def _token(self) -> str | None:
        return await self.desk.forge.git_token(self.ticket.repository)

    async def leased(self) -> Slot:
        """Return this ticket's slot, whatever it stands at."""
        if self.here.slot is None:
            with self.timed("lease"):
                slot = await self.desk.pool.lease(self.ticket.repository, ticket=self.ticket.id, epoch=self.here.epoch)
            if slot is None:
                raise Unreachable("no slot is free on this host yet")
            self.here.slot, self.here.at_sha = slot, None
        return self.here.slot

    async def slot_at(self, sha: str, *, base: str, after_gate: bool = True, with_base: bool = False) -> Slot:
        """Return this ticket's slot standing at a commit, leasing and preparing one where it is not there yet.

        Without `after_gate` what a gate left there goes first; an agent gets copies of the caches. `base` is the merged
        commit that it builds on, `with_base` says that this one is read there too.
        """
        slot = await self.leased()
        if self.here.at_sha != sha or (self.here.for_gate and not after_gate):
            await self._prepare(slot, sha, "copy", base)
        if with_base:
            await self.have(slot, base, sha)
        return slot

    async def slot_for_gate(self, sha: str, base: str) -> Ready:
        """Bring this ticket's slot to exactly a commit: nothing that an agent left beside it is judged with it.

        `base` is what the gate compares with.
        """
        slot = await self.leased()
        ready = await self._prepare(slot, sha, "lend", base)
        await self.have(slot, base, sha)
        if ready.dependencies == "changed by the job":
            self.log("dependencies were changed after they had been installed: thrown away, installed anew")
        for said in ready.left_out:
            self.log(said)
        return ready

    async def _prepare(self, slot: Slot, sha: str, use: Use, base: str) -> Ready:
        stood, self.here.at_sha = self.here.at_sha, None
        if stood != sha:  # else it is here: the agent's commit was made in this slot
            await self.bring(slot, sha)
        caches = self.settings.caches
        ready = await self.desk.pool.prepare(
            slot,
            url=self.url,
            token=await self._token(),
            sha=sha,
            install=self.settings.install,
            keep=caches.keep,
            on_part=self.took,
            cancelled=self.cancelled,
            use=use if caches.enabled else "none",
            base=base,
        )
        self.here.at_sha, self.here.for_gate = sha, use == "lend"
        return ready
