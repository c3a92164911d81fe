"""Third stage: the gate judges the commit."""

from dataclasses import dataclass

from bot.tickets import tickets
from bot.work import gating
from bot.work.job import Job
from bot.work.stages.prepare import Prepared
from gate.report import Report, StepOutcome, Verdict, render_json

TAIL = 4000  # characters of a failing step's output that the agent gets to see


@dataclass(frozen=True, slots=True)
class Verified:
    """What the gate said, and what the agent should hear of it."""

    verdict: Verdict
    reason: str
    feedback: str


async def verify(job: Job, prepared: Prepared, head_sha: str) -> Verified:
    """Judge `head_sha` against the base, and keep the report in the receipt."""
    await job.slot_at(head_sha)
    report = await gating.judge(job, prepared.base_sha)
    steps_s = sum(step.seconds for step in report.steps)
    job.took("steps", min(steps_s, report.seconds), kind="gate")  # they may run side by side: never more than the run
    for step in report.steps:
        job.took(step.name, step.seconds, kind="step")
    with job.writing() as c:
        tickets.update_attempt(
            c, job.ticket.id, job.ticket.attempt, report=render_json(report), policy_hash=report.policy.hash
        )
    job.write(verdict=str(report.verdict))
    job.log(f"gate {report.verdict}: {report.reason}")
    return Verified(report.verdict, report.reason, feedback(report))


def feedback(report: Report) -> str:
    """Return what a red report says to the agent: the verdict, findings, and the tail of each failing step."""
    parts = [f"The gate says {report.verdict}: {report.reason}"]
    parts += [f"- {f.path or ''}{f':{f.line}' if f.line else ''} {f.rule}: {f.message}" for f in report.findings[:20]]
    for step in report.steps:
        if step.outcome not in (StepOutcome.PASSED, StepOutcome.NOT_RUN):
            parts.append(
                f"Step {step.name} ({step.run}) {step.outcome}, exit code {step.exit_code}:\n{step.log[-TAIL:]}"
            )
    return "\n\n".join(parts)
