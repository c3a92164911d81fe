"""Last stage: merge exactly the commit that the gate called green."""

from bot.forges.answers import HeadMoved, Merged
from bot.tickets.ticket import Outcome
from bot.work.ended import Ended
from bot.work.job import Job


async def merge(job: Job, pull: int, head_sha: str) -> Ended | None:
    """Merge the pull request at `head_sha` if the repository wants that; what else happened to it is left to people."""
    if not job.settings.merge.auto:
        return None
    found = await job.desk.forge.pull(job.ticket.repository, pull)
    if found.merged:
        return Ended(Outcome.MERGED, f"Merged as pull request #{pull}.", "GREEN")
    job.still_ours()
    done = await job.desk.forge.merge_pull(job.ticket.repository, pull, sha=head_sha, method=job.settings.merge.method)
    match done:
        case Merged():
            return Ended(Outcome.MERGED, f"Merged as pull request #{pull}.", "GREEN")
        case HeadMoved():
            return Ended(Outcome.PROPOSED, "Somebody pushed to the branch, so it was not merged unseen.", "GREEN")
        case _:
            return Ended(Outcome.PROPOSED, f"The forge would not merge it: {done.reason}", "GREEN")
