"""Second stage: the agent writes the change in the slot; its commit is kept beyond this host."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.slots import git
from bot.slots.left_out import some
from bot.tickets import ledger, tickets
from bot.tickets.budget import Budget
from bot.tickets.ticket import Outcome
from bot.work import gating, keeping
from bot.work.agents.agent import AgentResult, Ending, Limits, Task
from bot.work.agents.open import preload
from bot.work.budgets import Exhausted, Scope, limits_of
from bot.work.ended import Ended
from bot.work.failures import render_feedback
from bot.work.job import Job
from bot.work.reach import reach
from bot.work.stages.prepare import Prepared

ENDINGS = {
    Ending.TIMED_OUT: Outcome.TIMED_OUT,
    Ending.OVER_BUDGET: Outcome.OVER_BUDGET,
    Ending.TURN_LIMIT: Outcome.OVER_BUDGET,  # unfinished work may well be green: it must not be merged for that
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


@dataclass(frozen=True, slots=True)
class _Done:
    """What the agent did in one round, and how long it took."""

    result: AgentResult
    seconds: float


@dataclass(frozen=True, slots=True)
class Strayed:
    """The change reaches outside of its claim to where another ticket works; `ended` where the agent insists."""

    head_sha: str
    feedback: str
    ended: Ended


async def edit(job: Job, prepared: Prepared, from_sha: str, round_: int, feedback: str) -> Edited | Strayed | Ended:
    """Let the agent work from `from_sha`; commit what it changed."""
    done = job.here.made.get(round_)  # there, where database or disk failed behind the agent's work: it is paid once
    if done is None:
        done = await _work(job, prepared, from_sha, round_, feedback)
        if isinstance(done, Ended):
            return done
        job.here.made[round_] = done
    result: AgentResult = done.result
    slot = await job.leased()
    head = await _commit(job, prepared, result, from_sha)
    _account(job, result, round_, seconds=done.seconds)
    if head is not None:
        await keeping.keep_beyond(job, prepared.base_sha, head, round_)
    if result.ending in ENDINGS:
        return _cut_short(job, result, head or (from_sha if from_sha != prepared.base_sha else ""))
    if head is None and from_sha == prepared.start.published_sha:
        return Ended(Outcome.NO_CHANGE, result.message or "The agent changed nothing.")
    head = head or from_sha
    touched = await git.changed_paths(slot.mirror, prepared.base_sha, head)
    with job.writing() as c:
        tickets.update_attempt(c, job.ticket.id, job.ticket.attempt, touched=touched, head_sha=head)
    held = reach(job, touched, head)
    if held is not None:
        return Strayed(head, render_strayed(held.reason, job.ticket.claim), held) if held.held_for else held
    job.write(head_sha=head)
    return Edited(head, touched, result.message)


async def _work(job: Job, prepared: Prepared, from_sha: str, round_: int, feedback: str) -> _Done | Ended:
    """Let the agent work in the slot."""
    slot = await job.slot_at(from_sha, base=prepared.base_sha, after_gate=False, with_base=True)
    await asyncio.to_thread(preload, job.settings.agent.kind)  # mostly done: another host may have prepared
    agent = job.desk.open_agent(job.settings)
    written = await git.read_first(slot.mirror, prepared.base_sha, ("AGENTS.md", "CLAUDE.md"))
    conventions = "\n\n".join(text for text in (written, job.settings.agent.instructions) if text)
    task = Task(
        repository=job.ticket.repository, issue=job.ticket.issue, title=job.ticket.title, body=job.ticket.body,
        claim=job.ticket.claim, conventions=conventions, gate=prepared.steps, feedback=feedback,
        resumed=from_sha != prepared.base_sha,
    )  # fmt: skip
    limits = _limits(job)
    if isinstance(limits, Exhausted):
        return Ended(Outcome.OVER_BUDGET, _kept(limits.reason, from_sha if from_sha != prepared.base_sha else ""))
    job.here.keeps_work = True
    began = time.perf_counter()
    async with gating.way_out(job, gating.box_of(job, slot)) as box:
        result = await agent.run(
            task, box=box, limits=limits, transcript=job.folder() / f"transcript-{round_}.jsonl.gz",
            cancelled=job.cancelled, on_line=job.log, gate=lambda: _ask_gate(job, prepared),
        )  # fmt: skip
    strike = job.desk.redactor.text
    result = replace(result, reason=strike(result.reason), message=strike(result.message))
    return _Done(result, time.perf_counter() - began)


def render_left(paths: Sequence[str]) -> str:
    """Return what the ticket's log says of what the job left in its worktree that no commit of it can hold."""
    odd = [path for path in paths if not path.endswith("/")]
    why = {
        "they are git repositories of their own": [path for path in paths if path not in odd],
        "they are no files any more (FIFOs, sockets, devices)": odd,
    }
    return "; ".join(f"left out of the commit, for {words}: {some(which)}" for words, which in why.items() if which)


def render_strayed(reason: str, claim: tuple[str, ...]) -> str:
    """Return what the agent is told of a change that reaches to where another ticket works."""
    return (
        f"{reason} This ticket claims {', '.join(f'`{path}`' for path in claim)}. "
        "If the issue can be solved without that, undo it there and keep the rest. "
        "If it cannot, change nothing more and say why: then this ticket waits for the other one."
    )


def _cut_short(job: Job, result: AgentResult, head: str) -> Ended:
    """Return how the ticket ends whose agent did not finish; a time that was the budget's end is the budget's."""
    left = _limits(job) if result.ending is Ending.TIMED_OUT else None
    if isinstance(left, Exhausted):
        return Ended(Outcome.OVER_BUDGET, _kept(left.reason, head))
    return Ended(ENDINGS[result.ending], _kept(result.reason or result.message, head))


def _kept(reason: str, head: str) -> str:
    said = reason if reason.endswith((".", "!", "?")) or not reason else f"{reason[0].upper()}{reason[1:]}."
    return f"{said} The work so far is kept as `{head[:10]}`." if head else said


async def _ask_gate(job: Job, prepared: Prepared) -> str:
    """Return what the gate says of the working tree as it is: the agent's own look, which decides nothing."""
    return render_feedback(await gating.judge(job, prepared.base_sha))


def _limits(job: Job) -> Limits | Exhausted:
    """Return the least that the ticket, the repository's day and the operator's day have left."""
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
            Scope("this bot today", job.desk.day, ledger.spent(c, day=today)),
        ]  # fmt: skip
    return limits_of(scopes)


def _co_author(job: Job) -> str:
    """Return who asked for the work; nobody where no account is known, for a bare name could be a stranger's there."""
    who, number = job.ticket.requester, job.ticket.requester_id
    return f"{who} <{job.address(who, number)}>" if number else ""


async def _commit(job: Job, prepared: Prepared, result: AgentResult, from_sha: str) -> str | None:
    slot = job.here.slot
    if slot is None:
        raise RuntimeError("the slot was lost while the agent worked")
    head = await git.commit_all(
        slot.tree, parent=from_sha, parents=prepared.start.parents if from_sha == prepared.start.sha else (),
        message=job.desk.redactor.text(_message(job, prepared, result, from_sha)), author=await job.author(),
        co_author=_co_author(job), keep_as=keeping.ref_of(job), on_left=lambda paths: job.log(render_left(paths)),
    )  # fmt: skip
    job.here.keeps_work = False  # it is kept: from here on a stop need not wait
    job.here.at_sha = head or from_sha
    return head


def _account(job: Job, result: AgentResult, round_: int, *, seconds: float) -> None:
    usage = result.usage
    job.took("model", usage.model_s, kind="model")
    job.took("tools", usage.tools_s, kind="tools")
    with job.desk.store.write() as c:
        ledger.record(
            c, repository=job.ticket.repository, ticket=job.ticket.id, attempt=job.ticket.attempt, round_=round_,
            model=result.model, usage=usage, now=job.desk.now(), seconds=seconds,
        )  # fmt: skip
    with job.writing() as c:
        used = ledger.of_attempt(c, job.ticket.id, job.ticket.attempt)
        tickets.update_attempt(c, job.ticket.id, job.ticket.attempt, usage=used)
    job.log(f"agent {result.ending}: {usage.turns} turns, {usage.input_tokens + usage.output_tokens} tokens")


def _message(job: Job, prepared: Prepared, result: AgentResult, from_sha: str) -> str:
    """Return the commit's message: the issue's title first; later commits say in their first line what they add."""
    said = result.message.strip().splitlines()[0][:300] if result.message.strip() else ""
    if from_sha == prepared.base_sha or not said:
        closes = f"Closes #{job.ticket.issue}" if job.ticket.issue else ""
        return "\n\n".join(part for part in (job.ticket.title[:72], said, closes) if part)
    if from_sha == prepared.start.sha and prepared.start.conflicts:
        return f"Merge {prepared.base_branch} into {prepared.branch}\n\n{said}"
    first = said if len(said) <= 72 else f"{said[:72].rpartition(' ')[0]} …"
    number = f"#{job.ticket.issue}: " if job.ticket.issue else ""
    return f"{first}\n\nFollows up on {number}{job.ticket.title[:200]}"
