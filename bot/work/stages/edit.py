"""Second stage: the agent writes the change in the slot; its commit is kept beyond this host."""

from dataclasses import asdict, dataclass
from typing import Any

from bot.slots import git
from bot.tickets import bundles, ledger, tickets
from bot.tickets.budget import Budget
from bot.tickets.ticket import Outcome
from bot.work import gating
from bot.work.agents.agent import AgentResult, Ending, Limits, Task
from bot.work.budgets import Exhausted, Scope, limits_of
from bot.work.ended import Ended
from bot.work.job import Job
from bot.work.reach import reach
from bot.work.stages.prepare import Prepared
from bot.work.stages.verify import feedback as feedback_of

ENDINGS = {
    Ending.TIMED_OUT: Outcome.TIMED_OUT,
    Ending.OVER_BUDGET: Outcome.OVER_BUDGET,
    Ending.CANCELLED: Outcome.CANCELLED,
    Ending.REFUSED: Outcome.NO_CHANGE,
    Ending.FAILED: Outcome.FAILED,
}


@dataclass(frozen=True, slots=True)
class Edited:
    """The commit that the agent's work became, and what it said."""

    head_sha: str
    touched: tuple[str, ...]
    message: str


async def edit(job: Job, prepared: Prepared, from_sha: str, round_: int, feedback: str) -> Edited | Ended:
    """Let the agent work from `from_sha`; commit what it changed."""
    result = job.here.made.get(round_)  # there, where database or disk failed behind the agent's work: it is paid once
    if result is None:
        result = await _work(job, prepared, from_sha, round_, feedback)
        if isinstance(result, Exhausted):
            return Ended(Outcome.OVER_BUDGET, result.reason)
        job.here.made[round_] = result
    slot = await job.leased()
    head = await _commit(job, result, from_sha)
    _account(job, result, round_)
    if head is not None:
        await _keep(job, prepared.base_sha, head, round_)
    if result.ending in ENDINGS:
        kept = f" The work so far is kept as `{head[:10]}`." if head else ""
        return Ended(ENDINGS[result.ending], (result.reason or result.message) + kept)
    if head is None and from_sha == prepared.base_sha:
        return Ended(Outcome.NO_CHANGE, result.message or "The agent changed nothing.")
    head = head or from_sha
    touched = await git.changed_paths(slot.mirror, prepared.base_sha, head)
    with job.writing() as c:
        tickets.update_attempt(c, job.ticket.id, job.ticket.attempt, touched=touched, head_sha=head)
    held = reach(job, touched, head)
    if held is not None:
        return held
    job.write(head_sha=head)
    return Edited(head, touched, result.message)


async def _work(job: Job, prepared: Prepared, from_sha: str, round_: int, feedback: str) -> AgentResult | Exhausted:
    """Let the agent work in the slot."""
    slot = await job.slot_at(from_sha)
    agent = job.desk.open_agent(job.settings)
    written = await git.read_first(slot.mirror, prepared.base_sha, ("AGENTS.md", "CLAUDE.md"))
    conventions = "\n\n".join(text for text in (written, job.settings.agent.instructions) if text)
    task = Task(
        repository=job.ticket.repository, issue=job.ticket.issue, title=job.ticket.title, body=job.ticket.body,
        claim=job.ticket.claim, conventions=conventions, gate=prepared.steps, feedback=feedback,
    )  # fmt: skip
    limits = _limits(job)
    if isinstance(limits, Exhausted):
        return limits
    job.here.keeps_work = True
    async with gating.way_out(job, gating.box_of(job, slot)) as box:
        return await agent.run(
            task, box=box, limits=limits, transcript=job.folder() / f"transcript-{round_}.jsonl.gz",
            cancelled=job.cancelled, on_line=job.log, gate=lambda: _ask_gate(job, prepared),
        )  # fmt: skip


async def _ask_gate(job: Job, prepared: Prepared) -> str:
    """Return what the gate says of the working tree as it is: the agent's own look, which decides nothing."""
    return feedback_of(await gating.judge(job, prepared.base_sha))


def _limits(job: Job) -> Limits | Exhausted:
    """Return the least that ticket, repository and day have left."""
    wish, today = job.settings, ledger.day_of(job.desk.now())
    granted: dict[str, Any] = dict(job.ticket.budget)  # by `/bot budget`
    own = Budget(**{**asdict(wish.budget), **granted})
    with job.desk.store.read() as c:
        scopes = [
            Scope("this ticket", own, ledger.spent(c, ticket=job.ticket.id)),
            Scope(
                f"{job.ticket.repository} today", Budget(tokens=wish.day.tokens, dollars=wish.day.dollars),
                ledger.spent(c, day=today, repository=job.ticket.repository),
            ),
        ]  # fmt: skip
    return limits_of(scopes)


async def _commit(job: Job, result: AgentResult, from_sha: str) -> str | None:
    slot = job.here.slot
    if slot is None:
        raise RuntimeError("the slot was lost while the agent worked")
    head = await git.commit_all(
        slot.tree, parent=from_sha, message=_message(job, result), author=job.desk.author,
        co_author=f"{job.ticket.requester} <{job.ticket.requester}@users.noreply.github.com>",
    )  # fmt: skip
    if head is not None:
        await git.keep_ref(slot.mirror, f"refs/sluice/work/{job.ticket.id}-{job.ticket.attempt}", head)
    job.here.at_sha = head or from_sha
    return head


async def _keep(job: Job, base_sha: str, head: str, round_: int) -> None:
    """Keep the commit in the database for other hosts."""
    slot = job.here.slot
    if slot is None:
        raise RuntimeError("the slot was lost while the agent worked")
    with job.timed("keep"):
        data = await git.bundle(slot.mirror, base_sha, head)
        with job.writing() as c:
            bundles.keep(c, job.ticket.id, job.ticket.attempt, round_, head_sha=head, bundle=data)


def _account(job: Job, result: AgentResult, round_: int) -> None:
    usage = result.usage
    job.took("model", usage.model_s, kind="model")
    job.took("tools", usage.tools_s, kind="tools")
    with job.desk.store.write() as c:
        ledger.record(
            c, repository=job.ticket.repository, ticket=job.ticket.id, attempt=job.ticket.attempt, round_=round_,
            model=result.model, usage=usage, now=job.desk.now(),
        )  # fmt: skip
    with job.writing() as c:
        tickets.update_attempt(c, job.ticket.id, job.ticket.attempt, usage={"model": result.model, **asdict(usage)})
    job.log(f"agent {result.ending}: {usage.turns} turns, {usage.input_tokens + usage.output_tokens} tokens")


def _message(job: Job, result: AgentResult) -> str:
    first = result.message.strip().splitlines()[0][:300] if result.message.strip() else ""
    return f"{job.ticket.title[:72]}\n\n{first}\n\nCloses #{job.ticket.issue}".replace("\n\n\n\n", "\n\n")
