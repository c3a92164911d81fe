"""Before merging: bring the change up to date where its base moved, so that what is merged is what the gate saw."""

from dataclasses import dataclass, replace

from bot.slots import git
from bot.work import keeping
from bot.work.job import Job
from bot.work.stages.prepare import Prepared
from bot.work.start import Start, on_base


@dataclass(frozen=True, slots=True)
class Updated:
    """The new base, and the change on top of it; not judged yet. Where they conflict, the agent has to finish it."""

    base_sha: str
    start: Start


async def update(job: Job, prepared: Prepared, head_sha: str) -> Updated | None:
    """Merge a base that moved into the change; None where there is nothing to do.

    Without automatic merging only a conflict is worth another judgement: who merges sees the rest.
    """
    forge, repository = job.desk.forge, job.ticket.repository
    base_sha = await forge.branch_sha(repository, prepared.base_branch)
    if base_sha is None or base_sha == prepared.base_sha:
        return None
    slot = await job.slot_at(head_sha, base=prepared.base_sha)
    token = await forge.git_token(repository)
    async with job.desk.pool.lock(repository):
        await git.fetch(slot.mirror, job.url, token=token)
    start = await on_base(job, head_sha, base_sha=base_sha, base_branch=prepared.base_branch, branch=prepared.branch)
    if start.sha == head_sha or (not start.conflicts and not job.settings.merge.auto):
        return None
    await keeping.keep(job, base_sha, start.sha, keeping.UPDATE_ROUND)
    then = "the agent resolves where they conflict" if start.conflicts else "the gate judges the two together"
    job.write(
        base_sha=base_sha, reason=f"`{prepared.base_branch}` moved on and was merged into the change; {then}.",
        **({} if start.conflicts else {"head_sha": start.sha}),
    )  # fmt: skip
    job.log(f"{prepared.base_branch} moved to {base_sha[:10]}: merged into the change as {start.sha[:10]}")
    return Updated(base_sha, replace(start, published_sha=head_sha))
