"""Where an attempt starts: at the base, at what an earlier attempt left, or at its pull request; on a present base."""

from dataclasses import dataclass, replace

from bot.slots import git
from bot.slots.git import GitError
from bot.tickets import bundles, tickets
from bot.tickets.ticket import Outcome
from bot.tickets.tickets import Attempt
from bot.work import keeping
from bot.work.failures import render_feedback
from bot.work.job import Job
from gate.report import Verdict, read_report

# these ended in the middle of work that may be good; after any other end a new attempt begins anew
CUT_SHORT = frozenset({Outcome.OVER_BUDGET, Outcome.TIMED_OUT, Outcome.FAILED})


@dataclass(frozen=True, slots=True)
class Start:
    """What the worktree holds when the agent begins, and what it hears of it."""

    sha: str
    published_sha: str  # what people have already: where nothing is added to it, nothing is published
    parents: tuple[str, ...] = ()  # of the agent's first commit; none: `sha`. Two where it resolves a merge
    conflicts: tuple[str, ...] = ()  # paths that hold both sides between markers
    feedback: str = ""
    is_whole: bool = False  # an earlier attempt finished it: no agent needs to be asked


LOST = "The work of the attempt before this one is no longer there. Write the change again."


async def find_start(job: Job, *, base_branch: str, base_sha: str, branch: str) -> Start:
    """Return where this attempt goes on; the slot stands at the base."""
    said = job.ticket.feedback
    if job.ticket.resume_sha is not None:
        return await _resumed(job, job.ticket.resume_sha, base_sha=base_sha, base_branch=base_branch, branch=branch)
    pull_head = await _pull_head(job, branch)
    kept = await _kept(job, pull_head)
    head = kept or pull_head
    if head is None:
        return Start(base_sha, base_sha, feedback=said)
    told = "\n\n".join(part for part in (said, _judged(_before(job))) if part)
    start = await on_base(job, head, base_sha=base_sha, base_branch=base_branch, branch=branch)
    if start.sha != head:
        await keeping.keep(job, base_sha, start.sha, keeping.START_ROUND)
    conflicts = start.conflicts or await _left(job, base_sha, kept)
    job.log(f"goes on from {head[:10]}, {'what the last attempt left' if kept else 'the pull request'}")
    feedback = "\n\n".join(part for part in (told, start.feedback) if part)
    return Start(start.sha, pull_head or base_sha, start.parents, conflicts, feedback)


async def _resumed(job: Job, head: str, *, base_sha: str, base_branch: str, branch: str) -> Start:
    """Return the finished work of an attempt that was held, brought up to date; the agent is asked where that fails."""
    slot = await job.leased()
    await job.bring(slot, head)
    if not await git.has_commit(slot.mirror, head):
        job.log(f"{head[:10]} is lost: the agent writes the change again")
        return Start(base_sha, base_sha, feedback=LOST)
    start = await on_base(job, head, base_sha=base_sha, base_branch=base_branch, branch=branch)
    if start.sha != head:
        await keeping.keep(job, base_sha, start.sha, keeping.START_ROUND)
    return replace(start, published_sha=base_sha, is_whole=not start.conflicts)


async def on_base(job: Job, head: str, *, base_sha: str, base_branch: str, branch: str) -> Start:
    """Return `head` with the base merged in; where they conflict, a commit that holds both sides between markers."""
    slot = job.here.slot
    if slot is None:
        raise RuntimeError("merging needs a slot")
    await job.have(slot, base_sha, head, beyond=base_sha)
    if await git.is_ancestor(slot.mirror, base_sha, head):
        return Start(head, head)
    message = f"Merge {base_branch} into {branch}"
    merged = await git.merge_commits(slot.mirror, head, base_sha, message=message, author=await job.author())
    if not merged.conflicts:
        return Start(merged.sha, head)
    job.log(f"{base_branch} at {base_sha[:10]} conflicts in {', '.join(merged.conflicts[:10])}")
    told = render_conflicts(base_branch, merged.conflicts)
    return Start(merged.sha, head, parents=(head, base_sha), conflicts=merged.conflicts, feedback=told)


def render_conflicts(base_branch: str, paths: tuple[str, ...]) -> str:
    """Return what the agent is told of a merge that it shall finish."""
    files = "\n".join(f"- {path}" for path in paths[:50])
    return (
        f"`{base_branch}` moved on and was merged into the change. These files conflict; where both sides are text, "
        "the worktree holds them between the markers <<<<<<<, ======= and >>>>>>>, the change above, "
        f"`{base_branch}` below:\n{files}\n"
        "Bring each into a state in which what both wanted holds, without markers, and check it."
    )


async def _pull_head(job: Job, branch: str) -> str | None:
    """Return the head of the ticket's pull request while it is open; people may have pushed to it."""
    forge, ticket = job.desk.forge, job.ticket
    if ticket.attempt == 1 or ticket.pull is None:
        return None
    pull = await forge.pull(ticket.repository, ticket.pull)
    return await forge.branch_sha(ticket.repository, branch) if pull.state == "open" and not pull.merged else None


async def _kept(job: Job, pull_head: str | None) -> str | None:
    """Return the newest commit that attempts which were cut short left, where it can still be had and fits the pull."""
    slot, first = job.here.slot, job.ticket.attempt
    if slot is None:
        raise RuntimeError("what is kept is brought into a slot")
    with job.desk.store.read() as c:
        while (before := tickets.find_attempt(c, job.ticket.id, first - 1)) and before.outcome in CUT_SHORT:
            first -= 1
        head = bundles.newest(c, job.ticket.id, since=first) if first < job.ticket.attempt else None
    if head is None:
        return None
    try:
        await job.bring(slot, head)
        fits = pull_head is None or await git.is_ancestor(slot.mirror, pull_head, head)
    except GitError as error:
        job.log(f"what the last attempt left ({head[:10]}) cannot be had any more: {error}")
        return None
    return head if fits else None


async def _left(job: Job, base_sha: str, kept: str | None) -> tuple[str, ...]:
    """Return which files of kept work hold markers of a merge that was not finished."""
    if kept is None or job.here.slot is None:
        return ()
    mirror = job.here.slot.mirror
    return await git.marked(mirror, kept, await git.changed_paths(mirror, base_sha, kept))


def _before(job: Job) -> Attempt | None:
    with job.desk.store.read() as c:
        return tickets.find_attempt(c, job.ticket.id, job.ticket.attempt - 1)


def _judged(before: Attempt | None) -> str:
    """Return what the gate said of the last attempt, where it was not green."""
    if before is None or not before.report:
        return ""
    report = read_report(before.report)
    return "" if report.verdict is Verdict.GREEN else render_feedback(report)
