"""After a red gate: whether the same steps fail on the base commit too, and so are not the change's doing."""

from collections.abc import Sequence

from bot.work import failures, gating
from bot.work.job import Job
from bot.work.stages.prepare import Prepared


async def baseline(job: Job, prepared: Prepared, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return which of the steps fail at the base, each with the signature of its failure."""
    await job.slot_at(prepared.base_sha, base=prepared.base_sha)
    job.log(f"the gate on the base, to see whether {', '.join(names)} failed before the change")
    with job.timed("gate on the base", kind="gate"):
        report = await gating.judge(job, prepared.base_sha, only=names)
    return failures.failing(report)
