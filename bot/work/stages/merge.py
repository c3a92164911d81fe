"""Last stage: merge exactly the commit that the gate called green."""

import asyncio

from bot.forges.answers import HeadMoved, Merged, NotMergeable, Pull
from bot.outbox import reporter
from bot.tickets import posts
from bot.tickets.ticket import Outcome
from bot.work.ended import Ended
from bot.work.job import Job

PAUSES_S = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # while our own check is on its way, or the forge still looks for conflicts
LATER = "It merges by itself once everything is there that the branch requires."
ALLOW = "Allow auto-merge in the repository's settings, and it merges by itself once the required checks have passed."


async def merge(job: Job, pull: int, head_sha: str) -> Ended | None:
    """Merge the pull request at `head_sha` if the repository wants that; what else happened to it is left to people."""
    if not job.settings.merge.auto:
        return None
    found = await job.desk.forge.pull(job.ticket.repository, pull)
    if found.merged:
        return _merged(pull)
    done = await _merge(job, pull, head_sha)
    if isinstance(done, NotMergeable):
        return await _later(job, pull, head_sha, done)
    if isinstance(done, HeadMoved):
        return Ended(Outcome.PROPOSED, "Somebody pushed to the branch, so it was not merged unseen.", "GREEN")
    return _merged(pull)


def _merged(pull: int) -> Ended:
    return Ended(Outcome.MERGED, f"Merged as pull request #{pull}.", "GREEN")


async def _merge(job: Job, pull: int, head_sha: str) -> Merged | HeadMoved | NotMergeable:
    """Merge, and try again what is refused only because the forge does not know yet what it will know in a moment."""
    forge, repository = job.desk.forge, job.ticket.repository
    for pause_s in (*PAUSES_S, None):
        job.still_ours()
        done = await forge.merge_pull(repository, pull, sha=head_sha, method=job.settings.merge.method)
        if pause_s is None or not isinstance(done, NotMergeable):
            break
        if not _will_pass(job, head_sha, await forge.pull(repository, pull)):
            break
        await asyncio.sleep(pause_s)
    return done


def _will_pass(job: Job, head_sha: str, found: Pull) -> bool:
    if found.mergeable_state in ("", "unknown"):
        return True
    with job.desk.store.read() as c:
        return not posts.is_shown(c, reporter.check_key(job.ticket.repository, head_sha))


async def _later(job: Job, pull: int, head_sha: str, refused: NotMergeable) -> Ended:
    """Leave a merge that waits for required checks to the forge, where it takes that."""
    forge, repository = job.desk.forge, job.ticket.repository
    found = await forge.pull(repository, pull)
    why = ""
    if found.mergeable_state == "blocked" and found.head.sha == head_sha:
        job.still_ours()
        why = await forge.merge_later(repository, found, sha=head_sha, method=job.settings.merge.method)
        if not why:
            return Ended(Outcome.PROPOSED, f"{refused.reason} {LATER}", "GREEN")
    hint = f" {ALLOW}" if "not allowed" in why else ""
    return Ended(Outcome.PROPOSED, f"The forge would not merge it: {refused.reason}{hint}", "GREEN")
