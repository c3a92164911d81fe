"""Third stage: the gate judges the commit."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bot.slots import git
from bot.slots.pool import Ready
from bot.tickets import tickets
from bot.work import failures, gating
from bot.work.job import Job
from bot.work.stages.prepare import Prepared
from gate.report import Finding, Level, Report, Verdict, render_json


@dataclass(frozen=True, slots=True)
class Verified:
    """What the gate said, and what the agent should hear of it."""

    verdict: Verdict
    reason: str
    feedback: str
    failing: tuple[tuple[str, str], ...] = ()  # steps with their signatures, see failures.py


async def verify(job: Job, prepared: Prepared, head_sha: str) -> Verified:
    """Judge `head_sha` against the base, and keep the report in the receipt."""
    ready = await job.slot_for_gate(head_sha, prepared.base_sha)
    slot = await job.leased()
    left = await git.marked(slot.mirror, head_sha, prepared.start.conflicts)
    report = _unresolved(left) if left else await gating.judge(job, prepared.base_sha)
    with job.timed("keep caches"):
        refused = await gating.keep_caches(job, ready, report)
    steps_s = sum(step.seconds for step in report.steps)
    job.took("steps", min(steps_s, report.seconds), kind="gate")  # they may run side by side: never more than the run
    for step in report.steps:
        job.took(step.name, step.seconds, kind="step")
    with job.writing() as c:
        tickets.update_attempt(
            c, job.ticket.id, job.ticket.attempt, report=render_json(report), policy_hash=report.policy.hash,
            warmth=json.dumps(_warmth(job, ready, refused)),
        )  # fmt: skip
    job.write(verdict=str(report.verdict))
    job.log(f"gate {report.verdict}: {report.reason}")
    return Verified(report.verdict, report.reason, failures.render_feedback(report), failures.failing(report))


def _unresolved(paths: Sequence[str]) -> Report:
    """Return the report on a merge that was not finished: no step needs to run to know that."""
    found = [Finding("conflict-left", Level.ERROR, "holds the markers of a conflict", path) for path in paths]
    shown = ", ".join(f"`{path}`" for path in paths[:5])
    return Report(Verdict.RED, f"conflicts with the base are left in {shown}", findings=tuple(found))


def _warmth(job: Job, ready: Ready, refused: dict[str, str]) -> dict[str, object]:
    """Return what the receipt says of what was there before the job."""
    slot = job.here.slot
    return {
        "host": job.desk.host, "slot": slot.name if slot else "", "warm": ready.warm,
        "dependencies": ready.dependencies, "caches": [asdict(one) for one in ready.lent], "not kept": refused,
        "left out": ready.left_out,
    }  # fmt: skip
