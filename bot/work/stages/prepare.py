"""First stage: settings, base commit, branch name, a slot at the base, and whether anything gates this repository."""

import asyncio
import re
from dataclasses import dataclass, replace

from bot.errors import ConfigError
from bot.forges.auth import PULLS, PUSH
from bot.outbox import comments
from bot.slots.links import read_links
from bot.tickets import repository
from bot.tickets.repository import RepositorySettings
from bot.tickets.ticket import Outcome
from bot.work import gating
from bot.work.agents.open import preload
from bot.work.ended import Ended
from bot.work.job import Job
from bot.work.reach import through_links
from bot.work.start import Start, find_start
from gate.report import Verdict

BRANCH_PREFIX = "sluice/"
MOST_BRANCHES = 20  # that may be there already for one issue
TITLE_LENGTH = 40  # of a title in a branch's name


@dataclass(frozen=True, slots=True)
class Prepared:
    """Where the change starts and where it will go."""

    base_branch: str
    base_sha: str
    branch: str
    steps: str  # what the gate will run, one step a line
    rounds: int  # how often the agent is asked while the gate is red
    start: Start  # where the agent begins


async def prepare(job: Job) -> Prepared | Ended:
    """Decide base and branch, make the slot ready, and end early where no gate would judge the change."""
    forge, repository = job.desk.forge, job.ticket.repository
    lacks = await forge.lacks(repository, PUSH, PULLS)
    if lacks:
        return Ended(Outcome.FAILED, comments.not_granted(lacks))
    base_branch = await forge.default_branch(repository)
    base_sha, branch = await asyncio.gather(forge.branch_sha(repository, base_branch), _branch(job))
    if base_sha is None:
        return Ended(Outcome.FAILED, f"The branch `{base_branch}` of {repository} has no commit.")
    settings = await _settings(job, base_sha)
    job = replace(job, settings=settings)
    job.write(base_sha=base_sha, branch=branch)
    await asyncio.gather(job.slot_at(base_sha, base=base_sha), asyncio.to_thread(preload, settings.agent.kind))
    noted = asyncio.create_task(_note_links(job, base_sha))
    try:
        plan = await gating.plan(job)
    finally:
        await noted
    if plan.verdict is Verdict.UNGATED:
        return Ended(Outcome.UNGATED, plan.reason, verdict=plan.verdict)
    if plan.verdict is Verdict.ERROR:
        return Ended(Outcome.RED, f"The gate's policy cannot be read: {plan.reason}", verdict=plan.verdict)
    held = through_links(job)
    if held is not None:
        return held
    steps = "\n".join(f"{step.name}: {step.run}" for step in plan.steps)
    job.log(f"base {base_sha[:10]} of {base_branch}, branch {branch}")
    start = await find_start(job, base_branch=base_branch, base_sha=base_sha, branch=branch)
    return Prepared(base_branch, base_sha, branch, steps, settings.agent.rounds, start)


async def _branch(job: Job) -> str:
    """Return the ticket's branch; the first attempt takes a name that is free: what is there may be anybody's."""
    if job.ticket.branch is not None:
        return job.ticket.branch
    issue, title = job.ticket.issue, re.sub(r"[^a-z0-9]+", "-", job.ticket.title.lower())[:TITLE_LENGTH].strip("-")
    stem = f"issue-{issue}" if issue else title or "change"  # no forge, no number
    forge, taken = job.desk.forge, BRANCH_PREFIX.rstrip("/")
    first = f"{BRANCH_PREFIX}{stem}"
    above, there = await asyncio.gather(*(forge.branch_sha(job.repository, name) for name in (taken, first)))
    if above is None and there is None:
        return first
    if above is not None:
        first = f"{taken}-{stem}"
        job.log(f"a branch is named `{taken}`, beside which git keeps no `{taken}/...`: ours begins with `{taken}-`")
    for name in (first, *(f"{first}-{n}" for n in range(2, MOST_BRANCHES))):
        if await forge.branch_sha(job.repository, name) is None:
            return name
    return first  # publishing says what is there


async def _note_links(job: Job, base_sha: str) -> None:
    """Keep the symlinks of the base, so that claims through them meet those on their targets."""
    repo, slot = job.ticket.repository, job.here.slot
    with job.desk.store.read() as c:
        if slot is None or repository.links_sha(c, repo) == base_sha:
            return
    links = await read_links(slot.mirror, base_sha, slot.path)
    with job.desk.store.write() as c:
        repository.keep_links(c, repo, links, sha=base_sha)


async def _settings(job: Job, base_sha: str) -> RepositorySettings:
    """Return the settings at the base commit; where those have an error, the last good ones, and say so."""
    repo = job.ticket.repository
    with job.desk.store.read() as c:
        if repository.settings_sha(c, repo) == base_sha:
            return repository.settings_of(c, repo)
    data = await job.desk.forge.file(repo, repository.PATH, base_sha)
    error, settings = "", None
    try:
        settings = repository.read_settings(data or b"")
    except ConfigError as problem:
        error = str(problem)
        job.log(f"{error}; the last good settings stay in force")
    with job.desk.store.write() as c:
        repository.keep_settings(c, repo, settings, sha=base_sha, error=error)
        return repository.settings_of(c, repo)
