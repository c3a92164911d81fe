"""Run one stage of a ticket on this host: marked, measured, cut off when it is to stop, patient with outages."""

import asyncio
import contextlib
import errno
import time
from collections.abc import Awaitable, Callable
from typing import Any

import sqlalchemy as sa

from bot import log
from bot.forges.errors import ForgeError, RateLimited, Unreachable
from bot.outbox import reporter
from bot.slots.git import GitError
from bot.slots.install import InstallFailed, InstallStopped
from bot.slots.remote import Away, TokenSpent
from bot.tickets import journal, repository, tickets
from bot.tickets.store import is_away
from bot.tickets.ticket import Outcome, Stage
from bot.work.ended import Ended
from bot.work.job import Desk, Fenced, Job, Running

LOG = log.logger("engine")
PATIENCE_S = 6 * 3600.0  # how long a stage waits for a forge that is away, or for room on the disk
FIRST_PAUSE_S, LAST_PAUSE_S = 2.0, 120.0
LINE_LENGTH = 500
LONGEST_S = 3700.0  # no forge asks to wait for more than an hour
FULL = (errno.ENOSPC, errno.EDQUOT)
FULL_WORDS = ("No space left on device", "ENOSPC")
GRACE_S = 0.5  # how long a stage that was told to stop may go on before it is cut off
KEEPING_S = 20.0  # the same where an agent's work has to be kept first


async def run_patiently(
    desk: Desk, ticket: int, here: Running, stage: Stage | None, function: Callable[..., Awaitable[Any]],
    arguments: tuple[Any, ...],
) -> Any:  # fmt: skip
    """Run a stage, again and again while forge, database or disk cannot serve it: an outage changes no verdict."""
    ends_at, pause_s = time.monotonic() + PATIENCE_S, FIRST_PAUSE_S
    renewed = False
    while True:
        try:
            return await run_stage(desk, ticket, stage, function, arguments, here=here)
        except Exception as error:
            if is_away(error):
                await desk.outage.over(error)
                continue
            if isinstance(error, TokenSpent) and not renewed:
                desk.forge.forget_grants()  # the next token is a new one; if that is refused too, waiting mends nothing
                renewed = True
                continue
            if time.monotonic() >= ends_at or not _passes(error):
                raise
            wait_s = max(1.0, error.until - desk.now()) if isinstance(error, RateLimited) else pause_s
            wait_s = min(wait_s, LONGEST_S)  # a clock that jumped makes no wait of days
            what = "forge" if isinstance(error, ForgeError | Away) else "disk"
            LOG.warning(f"waiting for the {what}", extra={"ticket": ticket, "why": str(error), "seconds": wait_s})
            _tell(desk, ticket, stage, f"waiting for the {what}, next try in {wait_s:.0f} s: {error}")
        pause_s = min(pause_s * 2, LAST_PAUSE_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await (here.cancelled.wait() if stage else asyncio.sleep(wait_s))


def _passes(error: Exception) -> bool:
    """Return whether waiting mends an error: the forge is away or asks to wait, or the disk is full."""
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    says_full = isinstance(error, GitError | InstallFailed) and any(word in str(error) for word in FULL_WORDS)
    is_away = isinstance(error, RateLimited | Unreachable | Away) and not isinstance(error, TokenSpent)
    return is_away or says_full


def _tell(desk: Desk, ticket_id: int, stage: Stage | None, line: str) -> None:
    """Show on the ticket what it waits for."""
    with contextlib.suppress(sa.exc.SQLAlchemyError), desk.store.write() as c:  # the wait goes on all the same
        ticket = tickets.get_ticket(c, ticket_id)
        words = desk.redactor.text(line)[:LINE_LENGTH]
        journal.add_lines(c, ticket_id, ticket.attempt, stage=str(stage or "close"), lines=[words], now=desk.now())
    desk.changed(ticket_id)


async def run_stage(
    desk: Desk, ticket_id: int, stage: Stage | None, function: Callable[..., Awaitable[Any]],
    arguments: tuple[Any, ...], *, here: Running,
) -> Any:  # fmt: skip
    """Run one stage of a ticket on this host: mark it, measure it, keep its seconds. Raises Fenced."""
    job = job_of(desk, ticket_id, stage, here)
    if stage is None:
        result = await function(job, *arguments)
        job.end_lines()
        return result
    if here.cancelled.is_set():
        return Ended(Outcome.CANCELLED, job.ticket.reason or "It was cancelled.")
    _mark(job, stage)
    LOG.info("stage started", extra={"ticket": ticket_id, "attempt": job.ticket.attempt, "stage": str(stage)})
    started_at, began = desk.now(), time.perf_counter()
    result = await _unless_cancelled(here, function(job, *arguments), stage)
    job.end_lines()
    await desk.logbook.flush()
    seconds = time.perf_counter() - began
    while True:
        try:
            _unmark(job, stage, started_at=started_at, seconds=seconds)
            break
        except sa.exc.SQLAlchemyError as error:  # the stage has ended: only this is tried again
            if not is_away(error):
                raise
            await desk.outage.over(error)
    LOG.info("stage ended", extra={"ticket": ticket_id, "attempt": job.ticket.attempt, "stage": str(stage)})
    return result


async def _unless_cancelled(here: Running, working: Awaitable[Any], stage: Stage) -> Any:
    """Await a stage; once the ticket is to stop, let it end by itself for a moment, then cut it off."""
    work, stop = asyncio.ensure_future(working), asyncio.ensure_future(here.cancelled.wait())
    try:
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({work}, timeout=KEEPING_S if here.keeps_work else GRACE_S)
        if work.done():
            return work.result()
    except InstallStopped:
        pass
    finally:
        stop.cancel()
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
    here.at_sha = None  # whatever was cut off may have left the slot anywhere
    return Ended(Outcome.CANCELLED, f"It was cancelled in the middle of {stage}.")


def job_of(desk: Desk, ticket_id: int, stage: Stage | None, here: Running) -> Job:
    with desk.store.read() as c:
        ticket = tickets.get_ticket(c, ticket_id)
        settings = repository.settings_of(c, ticket.repository)
    return Job(desk=desk, ticket=ticket, stage=str(stage or "close"), settings=settings, here=here)


def _mark(job: Job, stage: Stage) -> None:
    """Show the stage on the ticket, and to people."""
    now = job.desk.now()
    with job.desk.store.write() as c:
        begun = tickets.write_fenced(
            c, job.ticket.id, job.here.epoch, stage=stage, updated_at=now, tries=tickets.one_more_try()
        )
        if not begun:
            raise Fenced(f"ticket {job.ticket.id} is no longer at epoch {job.here.epoch}")
        journal.add_lines(c, job.ticket.id, job.ticket.attempt, stage=stage, lines=[f"stage {stage}"], now=now)
        reporter.report(c, job.ticket.id, links=job.desk.links, now=now)
    job.desk.changed(job.ticket.id)


def _unmark(job: Job, stage: Stage, *, started_at: float, seconds: float) -> None:
    """Keep the seconds of a stage that ended; raises Fenced where its result is not ours to keep."""
    with job.desk.store.write() as c:
        if not tickets.write_fenced(c, job.ticket.id, job.here.epoch, tries=0):
            raise Fenced(f"ticket {job.ticket.id} is no longer at epoch {job.here.epoch}")
        journal.add_time(
            c, job.ticket.id, job.ticket.attempt, stage=stage, part="", kind="infrastructure",
            started_at=started_at, seconds=seconds,
        )  # fmt: skip
