"""Before merging: bring the change up to date where its base moved, so that what is merged is what the gate saw."""

from dataclasses import dataclass

from bot.slots import git
from bot.tickets import bundles
from bot.tickets.ticket import Outcome
from bot.work.ended import Ended
from bot.work.job import Job
from bot.work.stages.prepare import Prepared

ROUND = 1000  # of the bundle: behind all that an agent made


@dataclass(frozen=True, slots=True)
class Updated:
    """The new base, and the change on top of it; not judged yet."""

    base_sha: str
    head_sha: str


async def update(job: Job, prepared: Prepared, head_sha: str) -> Updated | Ended | None:
    """Merge a base that moved into the change; None where there is nothing to do."""
    if not job.settings.merge.auto:
        return None
    forge, repository = job.desk.forge, job.ticket.repository
    base_sha = await forge.branch_sha(repository, prepared.base_branch)
    if base_sha is None or base_sha == prepared.base_sha:
        return None
    merged = await merge_base(job, prepared, base_sha, head_sha)
    if merged is None:
        why = f"`{prepared.base_branch}` moved, and the change conflicts with it."
        return Ended(Outcome.PROPOSED, f"{why} Merge it by hand, or comment `/bot retry`.", "GREEN")
    job.write(base_sha=base_sha, head_sha=merged)
    return Updated(base_sha, merged)


async def merge_base(job: Job, prepared: Prepared, base_sha: str, head_sha: str) -> str | None:
    """Return a kept commit that has both base and change; None where the two conflict."""
    forge, repository = job.desk.forge, job.ticket.repository
    slot = await job.leased()
    await job.bring(slot, head_sha)
    url, token = f"{job.desk.git_url}/{repository}.git", await forge.git_token(repository)
    async with job.desk.pool.lock(repository):
        if not await git.has_commit(slot.mirror, base_sha):
            await git.fetch(slot.mirror, url, token=token)
        if await git.is_ancestor(slot.mirror, base_sha, head_sha):
            return head_sha
        message = f"Merge {prepared.base_branch} into {prepared.branch}"
        merged = await git.merge_commits(slot.mirror, head_sha, base_sha, message=message, author=job.desk.author)
    if merged is None:
        return None
    await git.keep_ref(slot.mirror, f"refs/sluice/work/{job.ticket.id}-{job.ticket.attempt}", merged)
    data = await git.bundle(slot.mirror, base_sha, merged)
    with job.writing() as c:
        bundles.keep(c, job.ticket.id, job.ticket.attempt, ROUND, head_sha=merged, bundle=data)
    job.log(f"{prepared.base_branch} moved to {base_sha[:10]}: merged into the change as {merged[:10]}")
    return merged
