"""Last stage: merge exactly the commit that the gate called green."""

import asyncio
from dataclasses import dataclass

from bot.forges.answers import HeadMoved, Merged, NotMergeable, Pull
from bot.outbox import reporter
from bot.tickets import merges, posts
from bot.tickets.ticket import Outcome
from bot.work.ended import Ended
from bot.work.job import Job
from bot.work.stages.prepare import Prepared

PAUSES_S = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # while our own check is on its way, or the forge still looks for conflicts
LATER = "It merges by itself once everything is there that the branch requires."
ALLOW = "Allow auto-merge in the repository's settings, and it merges by itself once the required checks have passed."


@dataclass(frozen=True, slots=True)
class BaseMoved:
    """The forge does not merge it because the base is another commit than the one that the gate judged it on."""


async def merge(job: Job, prepared: Prepared, pull: int, head_sha: str, moves: int) -> Ended | BaseMoved | None:
    """Merge the pull request at `head_sha` if the repository wants that; what else happened to it is left to people.

    `moves`: how often the base had moved, for people to know.
    """
    if not job.settings.merge.auto:
        return None
    found = await job.desk.forge.pull(job.ticket.repository, pull)
    if found.merged:
        return _merged(pull, prepared.base_branch, moves)
    done = await _merge(job, prepared, pull, head_sha)
    if isinstance(done, NotMergeable):
        return await _later(job, pull, head_sha, done)
    return _merged(pull, prepared.base_branch, moves) if isinstance(done, Merged) else done


def _merged(pull: int, base: str, moves: int) -> Ended:
    times = "once" if moves == 1 else f"{moves} times"
    moved = f" `{base}` moved {times} meanwhile: the change was brought up to date and gated again." if moves else ""
    return Ended(Outcome.MERGED, f"Merged as pull request #{pull}.{moved}", "GREEN")


async def _merge(job: Job, prepared: Prepared, pull: int, head_sha: str) -> Merged | BaseMoved | NotMergeable | Ended:
    """Merge, and try again what is refused only because the forge does not know yet what it will know in a moment."""
    forge, repository = job.desk.forge, job.ticket.repository
    for pause_s in (*PAUSES_S, None):
        job.still_ours()
        done = await forge.merge_pull(repository, pull, sha=head_sha, method=job.settings.merge.method)
        if isinstance(done, Merged):
            return done
        found = await forge.pull(repository, pull)
        if found.head.sha != head_sha:
            return _pushed(prepared.branch, found.head.sha)
        if _is_about_base(done, found):
            base_sha = await forge.branch_sha(repository, prepared.base_branch)
            if base_sha != prepared.base_sha:
                return BaseMoved()
        elif not _will_pass(job, head_sha, found):
            break
        if pause_s is not None:
            await asyncio.sleep(pause_s)
    return done if isinstance(done, NotMergeable) else NotMergeable("it says that the branch was modified.")


def _pushed(branch: str, sha: str) -> Ended:
    why = f"Somebody pushed `{sha[:10]}` to `{branch}`, which the gate has not judged, so it was not merged unseen."
    return Ended(Outcome.PROPOSED, why, "GREEN")


def _is_about_base(done: HeadMoved | NotMergeable, found: Pull) -> bool:
    """Return whether a merge at the present head was refused for what the base is by now.

    405 "Base branch was modified" is said of a base that moves in that very moment, and passes.
    """
    said = isinstance(done, HeadMoved) or "branch was modified" in done.reason
    return said or found.mergeable_state in ("behind", "dirty")


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
        _note(job, head_sha)  # before it is so: whoever is cut off here has it taken back all the same
        why = await forge.merge_later(repository, found, sha=head_sha, method=job.settings.merge.method)
        if not why:
            return Ended(Outcome.PROPOSED, f"{refused.reason} {LATER}", "GREEN")
        _note(job, None)
    hint = f" {ALLOW}" if "not allowed" in why else ""
    return Ended(Outcome.PROPOSED, f"The forge would not merge it: {refused.reason}{hint}", "GREEN")


def _note(job: Job, head_sha: str | None) -> None:
    with job.writing() as c:
        merges.note(c, job.ticket, head_sha, now=job.desk.now())
