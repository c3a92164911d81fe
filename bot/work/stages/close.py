"""Close an attempt: write its outcome, release the slot, and leave the wishes for the outbox."""

import json
from dataclasses import asdict, replace

from bot.outbox import reporter
from bot.tickets import merges, tickets
from bot.tickets.presence import tell
from bot.tickets.ticket import Outcome, State
from bot.work import gating, rechecking
from bot.work.ended import Ended
from bot.work.job import Fenced, Job


async def close(job: Job, ended: Ended) -> None:
    """Move the ticket to DONE; its slot goes back proven clean, or into quarantine."""
    ended = replace(ended, reason=job.desk.redactor.text(ended.reason))
    proposal = await gating.proposal(job) if ended.outcome is Outcome.UNGATED else ""
    proof = None
    if job.here.slot is not None:
        with job.timed("reset"):
            proof = await job.desk.pool.release(job.here.slot)
        job.here.slot = job.here.at_sha = None
    now = job.desk.now()
    with job.desk.store.write() as c:
        held = tickets.write_fenced(
            c, job.ticket.id, job.here.epoch, state=State.DONE, stage=None, outcome=ended.outcome,
            reason=ended.reason, verdict=ended.verdict, held_for=ended.held_for, updated_at=now,
        )  # fmt: skip
        if not held:
            raise Fenced(f"ticket {job.ticket.id} was closed elsewhere")
        tickets.update_attempt(
            c, job.ticket.id, job.ticket.attempt, outcome=ended.outcome, reason=ended.reason, ended_at=now,
            sandbox=job.desk.sandbox, proof=None if proof is None else json.dumps(asdict(proof)),
        )  # fmt: skip
        if ended.outcome is Outcome.CANCELLED or tickets.get_ticket(c, job.ticket.id).cancel_requested:
            merges.take_back(c, job.ticket, now=now)
        reporter.report(c, job.ticket.id, links=job.desk.links, now=now, proposal=proposal)
        rechecking.ask(c, job, ended.outcome)
        tell(c)
    job.desk.changed(job.ticket.id)
