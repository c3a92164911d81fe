"""Run gates again without caches, beside the jobs, and see whether they say the same."""

import asyncio
import contextlib
import json
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy as sa

from bot import log
from bot.errors import BotError
from bot.forges.errors import RateLimited, Unreachable
from bot.outbox import rechecked
from bot.slots import git
from bot.slots.install import InstallFailed, InstallStopped
from bot.slots.remote import Away, TokenSpent
from bot.slots.shelf import Lent
from bot.slots.slot import Slot
from bot.tickets import bundles, journal, rechecks, repository, tickets
from bot.tickets.rechecks import DIFFERS, FAILED, SAME, UNSTEADY, Recheck
from bot.tickets.repository import RepositorySettings
from bot.tickets.ticket import Outcome
from bot.work import gating
from bot.work.job import Desk, Job, Running
from gate.report import Report, StepOutcome, Verdict, read_report, render_json

LOG = log.logger("rechecks")
AGAIN_S = 60.0  # later, where forge, slot or disk do not allow it now
KEPT_LINES = 200


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one: a state of `rechecks`, why, and the cold report where there is one."""

    state: str
    reason: str
    cold: Report | None = None


@dataclass(frozen=True, slots=True)
class Cold:
    """One commit being judged without caches."""

    desk: Desk
    row: Recheck
    settings: RepositorySettings
    here: Running
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))

    @property
    def repository(self) -> str:
        """Return OWNER/NAME."""
        return self.row.repository

    @property
    def cancelled(self) -> asyncio.Event:
        """Set when the host stops."""
        return self.here.cancelled

    def folder(self) -> Path:
        """Return the folder for the gate's report, beside that of the job."""
        path = self.desk.data / "tickets" / str(self.row.ticket) / str(self.row.attempt) / "cold"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def log(self, line: str) -> None:
        """Keep the last lines of output, for our own log when something fails."""
        self.lines.append(self.desk.redactor.text(line))


def ask(c: sa.Connection, job: Job, outcome: Outcome) -> None:
    """Ask for a gate without caches where caches took part in this job's verdict and its turn has come."""
    every = job.desk.recheck
    if not rechecks.is_due(outcome, every=every, draw=secrets.randbelow(max(every, 1))):
        return
    ticket = tickets.get_ticket(c, job.ticket.id)
    attempt = tickets.find_attempt(c, ticket.id, ticket.attempt)
    if attempt is None or not attempt.report or not attempt.warmth:
        return
    warmth, report = json.loads(attempt.warmth), read_report(attempt.report)
    if warmth["caches"] and report.base and report.head and report.verdict in gating.RAN:
        rechecks.ask(
            c, ticket.repository, installation=ticket.installation, ticket=ticket.id, attempt=ticket.attempt,
            issue=ticket.issue, host=warmth["host"], slot=warmth["slot"], base_sha=report.base, head_sha=report.head,
            caches=[(one["path"], one["tool"], one["key"]) for one in warmth["caches"]], report=attempt.report,
            now=job.desk.now(),
        )  # fmt: skip


class Rechecks:
    """The gates without caches of this host, one at a time, in a slot of their own and behind everything else."""

    def __init__(self, desk: Desk, *, low: Callable[[], str]) -> None:
        """Take the desk, and what says why the disk has no room."""
        self._low = low
        niced = ("nice", "-n", "10", *desk.gate_argv)
        self._desk = replace(desk, gate_argv=niced)
        self._wake = asyncio.Event()
        self._here = Running(epoch=0)

    def wake(self) -> None:
        """Say that there may be one to run."""
        self._wake.set()

    def stop(self) -> None:
        """Cut short what runs; it is done again at the next start."""
        self._here.cancelled.set()
        self._wake.set()

    async def run(self) -> None:
        """Run them until stopped."""
        while not self._here.cancelled.is_set():
            self._wake.clear()
            row = await asyncio.to_thread(self._next)
            if row is None:
                await self._wake.wait()
            elif not await self._settle(row):
                await _pause(self._here.cancelled, AGAIN_S)

    def _next(self) -> Recheck | None:
        with self._desk.store.read() as c:
            return rechecks.next_of(c, self._desk.host)

    async def _settle(self, row: Recheck) -> bool:
        """Bring one to its end; False where it has to wait."""
        with self._desk.store.read() as c:
            settings = repository.settings_of(c, row.repository)
        case = Cold(self._desk, row, settings, replace(self._here, epoch=row.id))
        try:
            if why := self._low():
                raise Unreachable(why)
            found = await look(case)
        except (RateLimited, Unreachable, Away, InstallStopped) as error:
            if isinstance(error, TokenSpent):
                self._desk.forge.forget_grants()
            LOG.info("recheck put off", extra={"recheck": row.id, "why": str(error)})
            return False
        except InstallFailed as error:
            found = Found(FAILED, f"dependencies could not be installed: {error}")
        except Exception as error:
            LOG.exception("recheck failed", extra={"recheck": row.id, "output": list(case.lines)[-20:]})
            words = str(error) if isinstance(error, BotError) else f"{type(error).__name__}: {error}"
            found = Found(FAILED, f"an error of ours ended it: {words}"[:500])
        if case.cancelled.is_set():
            return True
        self._tell(row, found)
        return True

    def _tell(self, row: Recheck, found: Found) -> None:
        desk, now = self._desk, self._desk.now()
        level = LOG.warning if found.state == DIFFERS else LOG.info
        level("gated again without caches", extra={"ticket": row.ticket, "result": found.state, "why": found.reason})
        if found.state == DIFFERS:
            lent = [Lent(*one) for one in row.caches]
            desk.pool.quarantine_caches(row.repository, lent, f"ticket {row.ticket}: {found.reason}")
        line = f"gated again without caches: {found.state}, {found.reason}"
        with desk.store.write() as c:
            cold = None if found.cold is None else render_json(found.cold)
            rechecks.settle(c, row.id, found.state, found.reason, cold=cold, now=now)
            journal.add_lines(c, row.ticket, row.attempt, stage="recheck", lines=[desk.redactor.text(line)], now=now)
            if found.state == DIFFERS and found.cold is not None:
                rechecked.report(c, row, read_report(row.report), found.cold, links=desk.links, now=now)
        desk.changed(row.ticket)


async def look(case: Cold) -> Found:
    """Judge a commit without caches; once more where that differs, for a check may be unsteady by itself."""
    row, pool = case.row, case.desk.pool
    slot = await pool.lease(row.repository, ticket=0, epoch=row.id, cold=True)
    if slot is None:
        raise Unreachable("the slot for gates without caches is in use")
    case.here.slot = slot
    try:
        warm = read_report(row.report)
        first = await _judge(case, slot)
        found = compare(warm, first)
        if found.state != DIFFERS or case.cancelled.is_set():
            return found
        second = await _judge(case, slot)
        if compare(first, second).state != SAME:
            return Found(UNSTEADY, f"two gates without caches said {first.verdict} and {second.verdict}", second)
        return found
    finally:
        await pool.release(slot)
        case.here.slot = None


def compare(warm: Report, cold: Report) -> Found:
    """Return whether two reports say the same of every step. No I/O."""
    if cold.verdict is Verdict.ERROR:
        return Found(FAILED, f"the gate could not be run: {cold.reason}", cold)
    if warm.policy.hash != cold.policy.hash:
        return Found(FAILED, "the policy is another one now", cold)
    late = [step.name for step in cold.steps if step.outcome is StepOutcome.TIMED_OUT]
    if late:
        return Found(FAILED, f"step {late[0]} did not finish in its time without caches", cold)
    before = {step.name: step.outcome for step in warm.steps}
    other = [(s.name, before.get(s.name), s.outcome) for s in cold.steps if before.get(s.name) is not s.outcome]
    if warm.verdict is cold.verdict and not other:
        return Found(SAME, f"{cold.verdict} both times", cold)
    words = [f"{name} {was or 'missing'}, then {outcome}" for name, was, outcome in other[:3]]
    return Found(DIFFERS, "; ".join([f"{warm.verdict} with caches, {cold.verdict} without", *words]), cold)


async def _judge(case: Cold, slot: Slot) -> Report:
    row, desk = case.row, case.desk
    token = await desk.forge.git_token(row.repository, write=False)
    url = f"{desk.git_url}/{row.repository}.git"
    await _bring(case, slot, url, token)
    await desk.pool.prepare(
        slot, url=url, token=token, sha=row.head_sha, install=case.settings.install, on_part=lambda *_: None,
        cancelled=case.cancelled, beside=(row.base_sha,), base=row.base_sha,
    )  # fmt: skip
    return await gating.judge(case, row.base_sha)


async def _bring(case: Cold, slot: Slot, url: str, token: str | None) -> None:
    """Have the commit in the mirror, from the database where the mirror was made anew since."""
    row = case.row
    async with case.desk.pool.lock(row.repository):
        await case.desk.pool.mirrors.ensure(slot)
        if await git.has_commit(slot.mirror, row.head_sha):
            return
        await git.fetch(slot.mirror, url, token=token)
        with case.desk.store.read() as c:
            data = bundles.find(c, row.ticket, row.head_sha)
        if data is not None:
            await case.desk.pool.mirrors.unbundle(slot, data, row.head_sha, url=url, token=token)


async def _pause(ended: asyncio.Event, limit_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            await ended.wait()
