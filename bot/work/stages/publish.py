"""Fourth stage: push the branch and open the pull request."""

from dataclasses import dataclass

from bot.outbox import comments, reporter
from bot.slots import git
from bot.slots.remote import NoAccess
from bot.tickets import merges, posts, tickets
from bot.tickets.ticket import Outcome
from bot.work import workflows
from bot.work.ended import Ended
from bot.work.job import Job
from bot.work.stages.prepare import Prepared
from gate.report import read_report


@dataclass(frozen=True, slots=True)
class Published:
    """The pull request that people see; None where only a branch was pushed."""

    pull: int | None
    note: str = ""  # what people should know of it besides


async def publish(job: Job, prepared: Prepared, head_sha: str, message: str, open_pull: bool) -> Published | Ended:
    """Push `head_sha` fast-forward, then find or open the pull request."""
    slot = await job.slot_at(head_sha, base=prepared.base_sha)
    forge, repository = job.desk.forge, job.ticket.repository
    with job.timed("push"):
        expected = await forge.branch_sha(repository, prepared.branch)
        token = await forge.git_token(repository)
        await _take_back_merge(job)
        job.still_ours()
        try:
            pushed = await git.push(
                slot.mirror, url=f"{job.desk.git_url}/{repository}.git", token=token,
                sha=head_sha, branch=prepared.branch, expected=expected, ours=_heads(job),
            )  # fmt: skip
        except NoAccess as error:
            pushed = git.Rejected(str(error))
    if isinstance(pushed, git.Rejected):
        return Ended(Outcome.FAILED, f"The push of `{prepared.branch}` was refused: {pushed.reason}")
    _want_check(job, head_sha)
    if not open_pull:
        return Published(None)
    with job.timed("pull request"):
        found = await forge.find_pull(repository, prepared.branch)
        with job.desk.store.read() as c:
            story = reporter.story(c, job.ticket, job.desk.links)
        strike = job.desk.redactor.text
        title, body = strike(comments.pull_title(job.ticket)), strike(comments.pull_body(story, message))
        if found is None:
            found = await forge.open_pull(
                repository, head=prepared.branch, base=prepared.base_branch, title=title, body=body,
                before=job.still_ours,
            )  # fmt: skip
        else:
            _want_body(job, found.number, title, body)
    job.write(pull=found.number)
    job.log(f"pull request #{found.number}")
    return Published(found.number, await workflows.note(forge, repository, head_sha, slot.mirror))


async def _take_back_merge(job: Job) -> None:
    """See to it that the forge does not merge by itself, at a check of others, what is pushed now."""
    with job.desk.store.read() as c:
        is_left = job.ticket.pull is not None and merges.is_left(c, job.ticket)
    if is_left:
        await job.desk.forge.merge_not_later(job.ticket.repository, job.ticket.pull or 0)
        with job.writing() as c:
            merges.note(c, job.ticket, None, now=job.desk.now())


def _heads(job: Job) -> list[str]:
    """Return the commits that attempts of this ticket pushed: they may be replaced, people's may not."""
    with job.desk.store.read() as c:
        return tickets.heads_of(c, job.ticket.id)


def _want_body(job: Job, pull: int, title: str, body: str) -> None:
    """Leave the wish that the pull request tells of this attempt: what it did, its evidence and cost."""
    ticket = job.ticket
    with job.desk.store.write() as c:
        posts.want(
            c, f"pull:{ticket.repository}#{pull}", "pull", repository=ticket.repository,
            installation=ticket.installation, wanted={"pull": pull, "title": title, "body": body}, now=job.desk.now(),
        )  # fmt: skip


def _want_check(job: Job, head_sha: str) -> None:
    """Note that the commit is on the forge now, and leave the wish for its check run."""
    with job.writing() as c:
        tickets.update_attempt(c, job.ticket.id, job.ticket.attempt, head_sha=head_sha)
        attempt = tickets.find_attempt(c, job.ticket.id, job.ticket.attempt)
        if attempt is not None and attempt.report:
            report, url = read_report(attempt.report), job.desk.links.ticket(job.ticket)
            reporter.want_check(c, job.ticket, head_sha, report, now=job.desk.now(), url=url)
    job.desk.changed(job.ticket.id)
