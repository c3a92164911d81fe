"""A ticket's life, top to bottom."""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from bot.tickets.ticket import Outcome, Stage
from bot.work import failures
from bot.work.ended import Ended
from bot.work.stages.baseline import baseline
from bot.work.stages.close import close
from bot.work.stages.edit import Edited, Strayed, edit
from bot.work.stages.merge import BaseMoved, merge
from bot.work.stages.prepare import Prepared, prepare
from bot.work.stages.publish import publish
from bot.work.stages.take_up import take_up
from bot.work.stages.update import Updated, update
from bot.work.stages.verify import Verified, verify
from gate.report import Verdict

UPDATES = 3  # how often a moving base is followed

Do = Callable[..., Awaitable[Any]]  # do(stage, function, *arguments): run a stage once, its result checkpointed


async def life(do: Do) -> Ended:
    """Run a ticket through its stages and close it; returns how it ended."""
    ended = await _stages(do)
    await do(None, close, ended)
    return ended


async def _stages(do: Do) -> Ended:
    prepared: Prepared | Ended = await do(Stage.PREPARE, prepare)
    if isinstance(prepared, Ended):
        return prepared
    worked = await _work(do, prepared, first=1)
    if isinstance(worked, Ended):
        return worked
    edited, verified = worked.edited, worked.verified
    green = verified.verdict is Verdict.GREEN
    if not green and prepared.start.conflicts:
        return Ended(_not_green(verified.verdict), _unmerged(prepared, verified), verified.verdict)
    for_people = green or verified.verdict is Verdict.TAMPERED
    published = await do(Stage.PUBLISH, publish, prepared, edited.head_sha, edited.message, for_people)
    if isinstance(published, Ended):
        return _judged(published, verified)
    if not green:
        return Ended(_not_green(verified.verdict), verified.reason, verified.verdict)
    proposed = Ended(
        Outcome.PROPOSED, f"Pull request #{published.pull} is open and green.{published.note}", verified.verdict
    )
    merged = await _merge(do, prepared, worked, published.pull)
    return merged or proposed


@dataclass(frozen=True, slots=True)
class _Worked:
    """What agent and gate came to, and how often the agent was asked."""

    edited: Edited
    verified: Verified
    rounds: int


async def _work(do: Do, prepared: Prepared, *, first: int) -> _Worked | Ended:
    """Let agent and gate take turns until the gate is not red, or says the same again, or the rounds are used up."""
    head, feedback, before, last = prepared.start.sha, prepared.start.feedback, None, first + prepared.rounds - 1
    at_base: tuple[tuple[str, str], ...] | None = None
    strayed = False
    for round_ in itertools.count(first):
        edited: Edited | Strayed | Ended
        if round_ == first and prepared.start.is_whole:
            edited = await do(Stage.EDIT, take_up, prepared)
        else:
            edited = await do(Stage.EDIT, edit, prepared, head, round_, feedback)
        if isinstance(edited, Strayed):
            if strayed:
                return edited.ended
            strayed, last = True, last + 1  # told once; that round is not one of those for a red gate
            head, feedback = edited.head_sha, edited.feedback
            continue
        if isinstance(edited, Ended):
            return edited
        if before is not None and edited.head_sha == head:
            return _Worked(edited, before, round_)  # the agent leaves it at that: the gate would say the same again
        verified: Verified = await do(Stage.VERIFY, verify, prepared, edited.head_sha)
        if verified.verdict is Verdict.RED and verified.failing:
            if at_base is None:
                at_base = await do(Stage.VERIFY, baseline, prepared, [name for name, _ in verified.failing])
            verified = _not_its_fault(verified, failures.shared(verified.failing, at_base or ()))
        red = verified.verdict in (Verdict.RED, Verdict.HOLLOW)
        if not red or round_ == last or _says_the_same(verified, before):
            return _Worked(edited, verified, round_)
        head, feedback, before = edited.head_sha, verified.feedback, verified
    raise AssertionError("the loop always returns")


def _says_the_same(verified: Verified, before: Verified | None) -> bool:
    """Return whether the gate failed twice in a row in the same way: another try would cost money for the same."""
    if before is None or before.verdict is not verified.verdict:
        return False
    return (bool(verified.failing) and verified.failing == before.failing) or verified.feedback == before.feedback


def _not_its_fault(verified: Verified, names: tuple[str, ...]) -> Verified:
    """Say of steps that fail on the base in the same way that the change is not to blame."""
    if not names:
        return verified
    shared = failures.render_shared(names)
    told = f"{verified.feedback}\n\n{shared} That is not your change's fault: mend it only if the issue asks for it."
    return replace(verified, reason=f"{verified.reason}. {shared}", feedback=told)


async def _merge(do: Do, prepared: Prepared, worked: _Worked, pull: int) -> Ended | None:
    """Merge the change; while its base moves on, even in that moment, merge that in and have the gate judge it."""
    head, rounds, moves = worked.edited.head_sha, worked.rounds, 0
    for _ in range(2 * UPDATES + 1):  # a base that moves costs one turn, or two
        updated: Updated | None = await do(Stage.MERGE, update, prepared, head)
        if updated is None:
            merged: Ended | BaseMoved | None = await do(Stage.MERGE, merge, prepared, pull, head, moves)
            if not isinstance(merged, BaseMoved):
                return merged
            continue
        moves += 1
        if moves > UPDATES:
            break
        prepared = replace(prepared, base_sha=updated.base_sha, start=updated.start)
        message = worked.edited.message
        if updated.start.conflicts:
            again = await _work(do, prepared, first=rounds + 1)
            if isinstance(again, Ended):
                return again
            head, verified, rounds = again.edited.head_sha, again.verified, again.rounds
            if verified.verdict is not Verdict.GREEN:
                return Ended(Outcome.PROPOSED, _unmerged(prepared, verified), "GREEN")
        else:
            head = updated.start.sha
            verified = await do(Stage.VERIFY, verify, prepared, head)
        published = await do(Stage.PUBLISH, publish, prepared, head, message, True)
        if isinstance(published, Ended):
            return _judged(published, verified)
        if verified.verdict is not Verdict.GREEN:
            return Ended(_not_green(verified.verdict), f"After an update: {verified.reason}", verified.verdict)
    moved = f"`{prepared.base_branch}` moved {UPDATES} times while the gate ran"
    return Ended(Outcome.PROPOSED, f"{moved}; merge pull request #{pull} by hand.", "GREEN")


def _judged(ended: Ended, verified: Verified) -> Ended:
    """Return an end that came after the gate with what the gate had said: no failure to publish changes that."""
    return ended if ended.verdict else replace(ended, verdict=verified.verdict)


def _unmerged(prepared: Prepared, verified: Verified) -> str:
    why = f"`{prepared.base_branch}` moved and the change conflicts with it; the agent's merge of them is not green"
    return f"{why}: {verified.reason}. Merge it by hand, or comment `/bot retry`."


def _not_green(verdict: Verdict) -> Outcome:
    match verdict:
        case Verdict.TAMPERED:
            return Outcome.HELD
        case Verdict.UNGATED:
            return Outcome.UNGATED
        case _:
            return Outcome.RED
