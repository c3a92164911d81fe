"""Durable execution on DBOS: a finished stage is never run again, whatever happens to the process."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from dbos import DBOS, SetWorkflowID
from dbos._error import DBOSException

from bot import log
from bot.errors import BotError
from bot.forges.errors import RateLimited, Unreachable
from bot.outbox import reporter
from bot.slots.install import InstallFailed, InstallStopped
from bot.tickets import hosts, journal, repository, tickets
from bot.tickets.ticket import Outcome, Stage, State, Ticket
from bot.work import pipeline
from bot.work.ended import Ended
from bot.work.job import Desk, Fenced, Job, Running
from bot.work.stages.close import close

LOG = log.logger("engine")
VERSION = "2"  # bump only when the shape of pipeline.life changes: an older version's pending work would be stranded

PATIENCE_S = 6 * 3600.0  # how long a stage waits for a forge that is away
FIRST_PAUSE_S, LAST_PAUSE_S = 2.0, 120.0

_desk: Desk | None = None  # DBOS finds its workflow by name at module level, so the desk has to be found there too


@DBOS.workflow(name="ticket")
async def _ticket(ticket: int, attempt: int) -> str:
    """Run one attempt of a ticket through its life."""
    desk = _the_desk()

    async def do(stage: Stage | None, function: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        name = function.__name__
        return await DBOS.run_step_async({"name": name}, _unless_fenced, desk, ticket, stage, function, arguments)

    try:
        outcome = (await pipeline.life(do)).outcome
    except DBOSException:
        raise
    except InstallFailed as error:  # the repository's to mend, not ours
        outcome = Outcome.FAILED
        await do(None, close, Ended(outcome, f"Dependencies could not be installed. {error}"))
    except Exception as error:
        LOG.exception("stage failed", extra={"ticket": ticket, "attempt": attempt})
        outcome = Outcome.FAILED
        await do(None, close, Ended(outcome, f"An error of ours ended this attempt: {_words(error)}"[:500]))
    desk.running.pop(ticket, None)
    desk.changed(ticket)
    return str(outcome)


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, BotError) else f"{type(error).__name__}: {error}"


async def _unless_fenced(desk: Desk, ticket: int, *stage: Any) -> Any:
    """Run a stage; where another host holds the ticket, or this one stops, never return: nothing is kept."""
    try:
        result = await _patiently(desk, ticket, *stage)
    except Fenced as fenced:
        LOG.warning("fenced", extra={"ticket": ticket, "why": str(fenced)})
        desk.running.pop(ticket, None)
        return await _never()
    if desk.stopping.is_set():
        desk.running.pop(ticket, None)
        return await _never()  # cut short by the stop: the next start runs this stage again
    return result


async def _patiently(desk: Desk, ticket: int, *stage: Any) -> Any:
    """Run a stage, again and again while the forge asks to wait or cannot be reached: an outage changes no verdict."""
    ends_at, pause_s = desk.now() + PATIENCE_S, FIRST_PAUSE_S
    while True:
        try:
            return await run_stage(desk, ticket, *stage)
        except (RateLimited, Unreachable) as error:
            if desk.now() >= ends_at:
                raise
            wait_s = max(1.0, error.until - desk.now()) if isinstance(error, RateLimited) else pause_s
            LOG.warning("waiting for the forge", extra={"ticket": ticket, "why": str(error), "seconds": wait_s})
            pause_s = min(pause_s * 2, LAST_PAUSE_S)
            here = desk.running.get(ticket)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(here.cancelled.wait() if here else asyncio.sleep(wait_s), wait_s)


async def _never() -> Any:
    await asyncio.Event().wait()


async def run_stage(
    desk: Desk, ticket_id: int, stage: Stage | None, function: Callable[..., Awaitable[Any]], arguments: tuple[Any, ...]
) -> Any:
    """Run one stage of a ticket on this host: mark it, measure it, keep its seconds."""
    here = desk.running.get(ticket_id) or _hold(desk, ticket_id)
    job = _job(desk, ticket_id, stage, here)
    if stage is None:
        return await function(job, *arguments)
    if here.cancelled.is_set():
        return Ended(Outcome.CANCELLED, job.ticket.reason or "It was cancelled.")
    _mark(job, stage)
    LOG.info("stage started", extra={"ticket": ticket_id, "attempt": job.ticket.attempt, "stage": str(stage)})
    started_at, began = desk.now(), time.perf_counter()
    try:
        result = await function(job, *arguments)
    except InstallStopped:
        result = Ended(Outcome.CANCELLED, "It was cancelled while dependencies were installed.")
    await desk.logbook.flush()
    job.took("", time.perf_counter() - began, started_at=started_at)
    return result


def _hold(desk: Desk, ticket_id: int) -> Running:
    """Take a ticket whose attempt the engine gave to this host: another one began it and died."""
    with desk.store.write() as c:
        ticket = tickets.get_ticket(c, ticket_id)
        if ticket.state is not State.RUNNING:
            raise Fenced(f"ticket {ticket_id} is {ticket.state}")
        held = hosts.hold(c, ticket, desk.host, desk.now())
    return desk.running.setdefault(ticket_id, Running(epoch=held.epoch))


def _job(desk: Desk, ticket_id: int, stage: Stage | None, here: Running) -> Job:
    with desk.store.read() as c:
        ticket = tickets.get_ticket(c, ticket_id)
        settings = repository.settings_of(c, ticket.repository)
    return Job(desk=desk, ticket=ticket, stage=str(stage or "close"), settings=settings, here=here)


def _mark(job: Job, stage: Stage) -> None:
    """Show the stage on the ticket, and to people."""
    now = job.desk.now()
    with job.desk.store.write() as c:
        if not tickets.write_fenced(c, job.ticket.id, job.here.epoch, stage=stage, updated_at=now):
            raise Fenced(f"ticket {job.ticket.id} is no longer at epoch {job.here.epoch}")
        journal.add_lines(c, job.ticket.id, job.ticket.attempt, stage=stage, lines=[f"stage {stage}"], now=now)
        reporter.report(c, job.ticket.id, links=job.desk.links, now=now)
    job.desk.changed(job.ticket.id)


class Engine:
    """Starts attempts, goes on with those that a stop interrupted, and cancels them."""

    def __init__(self, desk: Desk, *, database_url: str, host: str) -> None:
        global _desk
        _desk = desk
        self._desk = desk
        logging.getLogger("dbos").setLevel(logging.ERROR)
        DBOS(
            config={
                "name": "sluice",
                "system_database_url": database_url,
                "application_version": VERSION,
                "executor_id": host,
                "log_level": "ERROR",
                "console_log_level": "ERROR",
                "enable_otlp": False,
            }
        )

    def launch(self) -> None:
        """Open the engine's tables and go on with what this host was doing; call it inside the event loop."""
        DBOS.launch()

    def adopt(self, ticket: Ticket) -> None:
        """Note that this host holds the ticket at its present epoch."""
        self._desk.running[ticket.id] = Running(epoch=ticket.epoch)

    async def start(self, ticket: Ticket) -> None:
        """Start the attempt; starting it twice is a no-op."""
        self.adopt(ticket)
        with SetWorkflowID(workflow_id(ticket)):
            await DBOS.start_workflow_async(_ticket, ticket.id, ticket.attempt)

    async def take_over(self, ticket: Ticket) -> None:
        """Go on with an attempt that another host began, behind its last finished stage."""
        self.adopt(ticket)
        found = await DBOS.list_workflows_async(workflow_ids=[workflow_id(ticket)], load_input=False, load_output=False)
        if found:
            await DBOS.resume_workflow_async(workflow_id(ticket))
        else:
            await self.start(ticket)  # the other host died between taking the ticket and starting it

    def cancel(self, ticket_id: int) -> bool:
        """Stop what runs for the ticket on this host; False where nothing does."""
        here = self._desk.running.get(ticket_id)
        if here is not None:
            here.cancelled.set()
        return here is not None

    def stop(self) -> None:
        """Close the engine; what is running stays pending and goes on at the next launch."""
        DBOS.destroy()


def workflow_id(ticket: Ticket) -> str:
    """Return the id under which DBOS keeps an attempt."""
    return f"{ticket.id}-{ticket.attempt}"


def _the_desk() -> Desk:
    if _desk is None:
        raise RuntimeError("the engine was not opened")
    return _desk
