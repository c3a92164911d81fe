"""Durable execution on DBOS: a finished stage is never run again, whatever happens to the process."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from dbos import DBOS, SetWorkflowID
from dbos._error import DBOSException

from bot import log
from bot.errors import BotError
from bot.forges.errors import NotGranted, Refused
from bot.slots.install import InstallFailed
from bot.slots.remote import Away, NoAccess
from bot.tickets.store import PATIENCE, first_line, is_away
from bot.tickets.ticket import Outcome, Stage, Ticket
from bot.work import pipeline
from bot.work.ended import Ended
from bot.work.job import Desk, Fenced, Running
from bot.work.pending import look_often, workflow_id
from bot.work.running import job_of, run_patiently
from bot.work.stages.close import close

LOG = log.logger("engine")
VERSION = "2"  # bump only when the shape of pipeline.life changes: an older version's pending work would be stranded

HURRY_S, CALM_S = 0.05, 2.0  # between two looks for what is resumed, and for how long
MOST_TRIES = 3  # a stage that took the whole process down so often is not begun again

_desk: Desk | None = None  # DBOS finds its workflow by name at module level, so the desk has to be found there too


@DBOS.workflow(name="ticket")
async def _ticket(ticket: int, attempt: int) -> str:
    """Run one attempt of a ticket through its life."""
    desk = _the_desk()

    async def do(stage: Stage | None, function: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        name = function.__name__
        return await DBOS.run_step_async({"name": name}, _unless_fenced, desk, ticket, stage, function, arguments)

    try:
        try:
            outcome = (await pipeline.life(do)).outcome
        except DBOSException:
            raise
        except Exception as error:
            if is_away(error):  # of the engine's own: the stage ended, and its result could not be kept
                LOG.warning("database away; going on later", extra={"ticket": ticket, "why": first_line(error)})
                desk.running[ticket].is_idle = True
                return str(await _never())
            outcome = Outcome.FAILED
            await do(None, close, Ended(outcome, _why(error, ticket, attempt)))
    finally:
        desk.running.pop(ticket, None)
        desk.changed(ticket)
    return str(outcome)


def _why(error: Exception, ticket: int, attempt: int) -> str:
    """Return what an error that ended an attempt means to people; ours are logged with all they have."""
    if isinstance(error, NotGranted):  # taken away meanwhile
        return str(error)
    if isinstance(error, InstallFailed):  # the repository's to mend, not ours
        return f"Dependencies could not be installed. {error}"
    if isinstance(error, Refused | NoAccess | Away):
        LOG.warning("the forge said no", extra={"ticket": ticket, "attempt": attempt, "why": str(error)})
        return f"The forge did not allow what this attempt needs. {error}"[:800]
    LOG.exception("stage failed", extra={"ticket": ticket, "attempt": attempt})
    return f"An error of ours ended this attempt: {_words(error)}"[:500]


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, BotError) else f"{type(error).__name__}: {error}"


async def _unless_fenced(
    desk: Desk, ticket: int, stage: Stage | None, function: Callable[..., Awaitable[Any]], arguments: tuple[Any, ...]
) -> Any:
    """Run a stage; where another host holds the ticket, or this one stops, never return: nothing is kept."""
    here = desk.running.get(ticket)
    if here is None:
        return await _never()  # it was taken from this host between two stages
    try:
        async with desk.suspects if here.is_suspect else contextlib.nullcontext():
            result = await run_patiently(desk, ticket, here, stage, function, arguments)
    except Fenced as fenced:
        LOG.warning("fenced", extra={"ticket": ticket, "why": str(fenced)})
        await _let_go(desk, ticket, here)
        return await _never()
    if desk.stopping.is_set():
        desk.running.pop(ticket, None)
        return await _never()  # cut short by the stop: the next start runs this stage again
    here.is_suspect = False
    return result


async def _let_go(desk: Desk, ticket: int, here: Running) -> None:
    """Forget a ticket that is not ours any more, and free its slot."""
    if desk.running.get(ticket) is here:
        del desk.running[ticket]
    if here.slot is not None:
        await desk.pool.release(here.slot)
        here.slot = here.at_sha = None
    desk.changed(ticket)


async def _never() -> Any:
    await asyncio.Event().wait()


class Engine:
    """Starts attempts, goes on with those that a stop interrupted, and cancels them."""

    def __init__(self, desk: Desk, *, database_url: str, host: str) -> None:
        global _desk
        _desk = desk
        self._desk, self._url = desk, database_url
        self._queue = f"host {host}"
        self._calm: asyncio.TimerHandle | None = None
        self._calming: asyncio.Task[object] | None = None
        logging.getLogger("dbos").setLevel(logging.ERROR)
        DBOS(
            config={
                "name": "sluice",
                "system_database_url": database_url,
                "application_version": VERSION,
                # New with every start, so that DBOS resumes nothing by itself: it would hand a workflow to any host
                # that asks first, and who goes on with a ticket is ours to say
                "executor_id": f"{host}-{secrets.token_hex(4)}",
                "log_level": "ERROR",
                "console_log_level": "ERROR",
                "enable_otlp": False,
                **({} if database_url.startswith("sqlite") else {"db_engine_kwargs": {"connect_args": {**PATIENCE}}}),
            }
        )
        noisy = logging.getLogger("dbos")  # its lines go where ours go, secrets struck out
        noisy.handlers[:], noisy.propagate = [], True

    async def launch(self, *, resumes: bool) -> None:
        """Open the engine's tables and begin to work; `resumes`: with attempts that an earlier stop interrupted.

        Those pass through a queue, which the engine looks at once a second, and at a new one after two; so there is
        one from the first start on, and it is looked at often while something is resumed.
        """
        if resumes:
            await asyncio.to_thread(look_often, self._url, self._queue, HURRY_S)
        DBOS.listen_queues([self._queue])
        DBOS.launch()
        if resumes:
            self._calm_soon()
        else:
            await DBOS.register_queue_async(self._queue)

    async def start(self, ticket: Ticket) -> None:
        """Start the attempt; starting it twice is a no-op."""
        self._adopt(ticket)
        with SetWorkflowID(workflow_id(ticket)):
            await DBOS.start_workflow_async(_ticket, ticket.id, ticket.attempt)

    async def go_on(self, ticket: Ticket) -> None:
        """Go on with an attempt that this host or another one began, behind its last finished stage."""
        if ticket.tries >= MOST_TRIES:
            await self._give_up(ticket, f"The bot died {ticket.tries} times in the stage {ticket.stage} of this ticket")
            return
        self._adopt(ticket)
        found = await DBOS.list_workflows_async(workflow_ids=[workflow_id(ticket)], load_input=False, load_output=False)
        if not found:
            await self.start(ticket)  # whoever took the ticket died before starting it
        elif found[0].status in ("PENDING", "ENQUEUED"):
            await DBOS.register_queue_async(self._queue, polling_interval_sec=HURRY_S)
            self._calm_soon()
            await DBOS.resume_workflow_async(workflow_id(ticket), queue_name=self._queue)
        else:
            self._desk.running[ticket.id].slot = await self._desk.pool.lease(
                ticket.repository, ticket=ticket.id, epoch=ticket.epoch
            )
            await self._give_up(ticket, "Its attempt could not be closed")

    def _calm_soon(self) -> None:
        """Have the queue looked at as seldom as before once what was put into it is taken up."""
        if self._calm is not None:
            self._calm.cancel()
        self._calm = asyncio.get_running_loop().call_later(CALM_S, self._calm_down)

    def _calm_down(self) -> None:
        self._calming = asyncio.create_task(self._register())

    async def _register(self) -> None:
        try:
            await DBOS.register_queue_async(self._queue)
        except Exception as error:
            LOG.warning("the engine's queue stays busy", extra={"why": first_line(error)})
            self._calm_soon()

    def _adopt(self, ticket: Ticket) -> None:
        here = self._desk.running.get(ticket.id)
        if here is not None and here.epoch == ticket.epoch:
            here.is_idle = False
            return
        here = Running(epoch=ticket.epoch, is_suspect=ticket.tries >= MOST_TRIES - 1)
        if ticket.cancel_requested:
            here.cancelled.set()
        self._desk.running[ticket.id] = here

    async def _give_up(self, ticket: Ticket, why: str) -> None:
        """Close a ticket without running anything of it."""
        LOG.error("given up", extra={"ticket": ticket.id, "stage": str(ticket.stage), "why": why})
        here = self._desk.running.pop(ticket.id, None) or Running(epoch=ticket.epoch)
        await DBOS.cancel_workflow_async(workflow_id(ticket))
        ended = Ended(Outcome.FAILED, f"{why}, so it is not tried again. Comment `/bot retry` once that is mended.")
        await close(job_of(self._desk, ticket.id, None, here), ended)

    def idle(self, held: Iterable[int]) -> set[int]:
        """Return those of the tickets held here for which nothing runs."""
        running = self._desk.running
        return {ticket for ticket in held if ticket not in running or running[ticket].is_idle}

    def compare(self, ran: Mapping[int, Running], held: Mapping[int, tuple[int, bool]]) -> None:
        """Stop what was cancelled or is held elsewhere.

        `ran`: what ran here before `held` was read; `held`: the epoch at which this host holds a ticket, and whether
        somebody cancelled it.
        """
        for ticket, here in ran.items():
            epoch, is_cancelled = held.get(ticket, (None, False))
            if is_cancelled or epoch != here.epoch:
                here.cancelled.set()

    def stop(self) -> None:
        """Close the engine; what is running stays pending and goes on at the next launch."""
        if self._calm is not None:
            self._calm.cancel()
        DBOS.destroy()


def _the_desk() -> Desk:
    if _desk is None:
        raise RuntimeError("the engine was not opened")
    return _desk
