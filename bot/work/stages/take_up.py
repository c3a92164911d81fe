"""Second stage of an attempt that was held: bring the work that is there up to date, and ask no agent again."""

from bot.slots import git
from bot.tickets import tickets
from bot.work.ended import Ended
from bot.work.job import Job
from bot.work.reach import reach
from bot.work.stages.edit import Edited
from bot.work.stages.prepare import Prepared
from bot.work.stages.update import merge_base

LOST = "The work of the attempt before this one is no longer there. Write the change again."
CONFLICT = (
    "An earlier version of this change conflicts with what was merged meanwhile, so it was dropped. "
    "Write the change again on the files as they are now."
)


async def take_up(job: Job, prepared: Prepared, sha: str) -> Edited | Ended | str:
    """Return the work at `sha` with the base merged in; or what the agent should hear, where it must start anew."""
    slot = await job.leased()
    await job.bring(slot, sha)
    if not await git.has_commit(slot.mirror, sha):
        job.log(f"{sha[:10]} is lost: the agent writes the change again")
        return LOST
    with job.timed("update"):
        head = await merge_base(job, prepared, prepared.base_sha, sha)
    if head is None:
        job.log(f"{sha[:10]} conflicts with {prepared.base_branch}: the agent writes the change again")
        return CONFLICT
    touched = await git.changed_paths(slot.mirror, prepared.base_sha, head)
    with job.writing() as c:
        tickets.update_attempt(c, job.ticket.id, job.ticket.attempt, touched=touched, head_sha=head)
    held = reach(job, touched, head)
    if held is not None:
        return held
    job.write(head_sha=head)
    job.log(f"went on from the work of the attempt before: {head[:10]}")
    return Edited(head, touched, said(await git.message_of(slot.mirror, sha)))


def said(message: str) -> str:
    """Return the agent's own words in a commit message of ours: what stands between title and trailers."""
    return "\n\n".join(
        part for part in message.split("\n\n")[1:] if not part.startswith(("Closes #", "Co-authored-by:"))
    )
