"""Second stage of an attempt that was held: its work is there and up to date; no agent is asked again."""

from bot.slots import git
from bot.tickets import tickets
from bot.work.ended import Ended
from bot.work.job import Job
from bot.work.reach import reach
from bot.work.stages.edit import Edited
from bot.work.stages.prepare import Prepared


async def take_up(job: Job, prepared: Prepared) -> Edited | Ended:
    """Return the work that the attempt starts from as if an agent had just written it."""
    head = prepared.start.sha
    slot = await job.slot_at(head, base=prepared.base_sha)
    touched = await git.changed_paths(slot.mirror, prepared.base_sha, head)
    with job.writing() as c:
        tickets.update_attempt(c, job.ticket.id, job.ticket.attempt, touched=touched, head_sha=head)
    held = reach(job, touched, head)
    if held is not None:
        return held
    job.write(head_sha=head)
    job.log(f"went on from the work of the attempt before: {head[:10]}")
    return Edited(head, touched, said(await git.message_of(slot.mirror, job.ticket.resume_sha or head)))


def said(message: str) -> str:
    """Return the agent's own words in a commit message of ours: what stands between title and trailers."""
    return "\n\n".join(
        part for part in message.split("\n\n")[1:] if not part.startswith(("Closes #", "Co-authored-by:"))
    )
