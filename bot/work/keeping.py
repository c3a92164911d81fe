"""Keep commits of a ticket beyond the slot and the host that made them."""

from bot.slots import git
from bot.tickets import bundles
from bot.work.job import Job

START_ROUND = 0  # of what an attempt starts from, where that is a merge of ours
UPDATE_ROUND = 1000  # of a base that was merged in: behind all that an agent made


async def keep(job: Job, base_sha: str, head: str, round_: int) -> None:
    """Keep the commits from base to head on a local ref, and in the database for other hosts."""
    await keep_here(job, head)
    await keep_beyond(job, base_sha, head, round_)


async def keep_here(job: Job, head: str) -> None:
    """Keep a commit on a local ref."""
    if job.here.slot is None:
        raise RuntimeError("the slot was lost while the agent worked")
    await git.keep_ref(job.here.slot.mirror, ref_of(job), head)


def ref_of(job: Job) -> str:
    """Return the local ref that keeps this attempt's work."""
    return f"refs/sluice/work/{job.ticket.id}-{job.ticket.attempt}"


async def keep_beyond(job: Job, base_sha: str, head: str, round_: int) -> None:
    """Keep the commits from base to head, which the local ref is at, in the database, for other hosts."""
    if job.here.slot is None:
        raise RuntimeError("the slot was lost while the agent worked")
    await job.have(job.here.slot, head, beyond=base_sha)  # people's commits among them
    with job.timed("keep"):
        data = await git.bundle(job.here.slot.mirror, base_sha, ref_of(job))
        with job.writing() as c:
            bundles.keep(c, job.ticket.id, job.ticket.attempt, round_, head_sha=head, bundle=data)
