"""Keep commits of a ticket beyond the slot and the host that made them."""

from bot.slots import git
from bot.tickets import bundles
from bot.work.job import Job

START_ROUND = 0  # of what an attempt starts from, where that is a merge of ours
UPDATE_ROUND = 1000  # of a base that was merged in: behind all that an agent made


async def keep(job: Job, base_sha: str, head: str, round_: int) -> None:
    """Keep the commits from base to head on a local ref, and in the database for other hosts."""
    slot = job.here.slot
    if slot is None:
        raise RuntimeError("the slot was lost while the agent worked")
    with job.timed("keep"):
        await git.keep_ref(slot.mirror, f"refs/sluice/work/{job.ticket.id}-{job.ticket.attempt}", head)
        data = await git.bundle(slot.mirror, base_sha, head)
        with job.desk.store.write() as c:
            bundles.keep(c, job.ticket.id, job.ticket.attempt, round_, head_sha=head, bundle=data)
