"""Work on one issue with no server, no forge and no durable engine: the same stages, up to a branch."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from bot.tickets import tickets
from bot.tickets.ticket import Outcome, Ticket
from bot.tickets.tickets import Wish
from bot.work import pipeline
from bot.work.ended import Ended
from bot.work.job import Desk, Running
from bot.work.running import run_stage
from bot.work.stages.merge import merge
from bot.work.stages.update import update
from gate.report import Report, read_report


async def work(desk: Desk, wish: Wish) -> tuple[Ended, Ticket, Report | None]:
    """Take the wish through its stages; the branch is in the repository when this returns, nothing is merged."""
    with desk.store.write() as c:
        made = tickets.create_ticket(c, wish, now=desk.now())
        if made is None:
            raise RuntimeError("a fresh store held this ticket already")
        ticket = tickets.take(c, made, "alone", desk.now())
    here = desk.running[ticket.id] = Running(epoch=ticket.epoch)

    async def do(stage: Any, function: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        if function in (merge, update):
            return None
        if function.__name__ == "publish":
            arguments = (*arguments[:3], False)  # a branch, and no pull request: there is no forge
        return await run_stage(desk, ticket.id, stage, function, arguments, here=here)

    ended = await pipeline.life(do)
    ended = replace(ended, reason=desk.redactor.text(ended.reason))
    with desk.store.read() as c:
        done, attempt = tickets.get_ticket(c, ticket.id), tickets.find_attempt(c, ticket.id, ticket.attempt)
    if ended.outcome is Outcome.PROPOSED:
        ended = replace(ended, reason=f"Branch {done.branch} is green.")
    return ended, done, read_report(attempt.report) if attempt and attempt.report else None
