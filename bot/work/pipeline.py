"""A ticket's life, top to bottom."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from bot.tickets.ticket import Outcome, Stage
from bot.work.ended import Ended
from bot.work.stages.close import close
from bot.work.stages.edit import Edited, edit
from bot.work.stages.merge import merge
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
    worked = await _work(do, prepared, rounds=prepared.rounds)
    if isinstance(worked, Ended):
        return worked
    edited, verified = worked
    green = verified.verdict is Verdict.GREEN
    for_people = green or verified.verdict is Verdict.TAMPERED
    published = await do(Stage.PUBLISH, publish, prepared, edited.head_sha, edited.message, for_people)
    if isinstance(published, Ended):
        return published
    if not green:
        return Ended(_not_green(verified.verdict), verified.reason, verified.verdict)
    proposed = Ended(Outcome.PROPOSED, f"Pull request #{published.pull} is open and green.", verified.verdict)
    head = await _up_to_date(do, prepared, edited)
    if isinstance(head, Ended):
        return head
    merged: Ended | None = await do(Stage.MERGE, merge, published.pull, head)
    return merged or proposed


async def _up_to_date(do: Do, prepared: Prepared, edited: Edited) -> str | Ended:
    """Return the commit to merge; while the base moves on, merge it in and have the gate judge that."""
    head = edited.head_sha
    for _ in range(UPDATES):
        updated: Updated | Ended | None = await do(Stage.MERGE, update, prepared, head)
        if updated is None:
            return head
        if isinstance(updated, Ended):
            return updated
        prepared, head = replace(prepared, base_sha=updated.base_sha), updated.head_sha
        verified: Verified = await do(Stage.VERIFY, verify, prepared, head)
        published = await do(Stage.PUBLISH, publish, prepared, head, edited.message, True)
        if isinstance(published, Ended):
            return published
        if verified.verdict is not Verdict.GREEN:
            return Ended(_not_green(verified.verdict), f"After an update: {verified.reason}", verified.verdict)
    return Ended(Outcome.PROPOSED, f"The base moved {UPDATES} times while the gate ran; merge it by hand.", "GREEN")


async def _work(do: Do, prepared: Prepared, *, rounds: int) -> tuple[Edited, Verified] | Ended:
    """Let agent and gate take turns until the gate is not red, or says the same again, or the rounds are used up."""
    head, feedback = prepared.base_sha, ""
    kept: Edited | Ended | str = ""  # work of an attempt that was held, or why it must be done again
    if prepared.resume_sha is not None:
        kept = await do(Stage.EDIT, take_up, prepared, prepared.resume_sha)
        feedback = kept if isinstance(kept, str) else ""
    for round_ in range(1, rounds + 1):
        edited: Edited | Ended
        if isinstance(kept, str):
            edited = await do(Stage.EDIT, edit, prepared, head, round_, feedback)
        else:
            edited, kept = kept, ""
        if isinstance(edited, Ended):
            return edited
        verified: Verified = await do(Stage.VERIFY, verify, prepared, edited.head_sha)
        if verified.verdict not in (Verdict.RED, Verdict.HOLLOW) or round_ == rounds:
            return edited, verified
        if verified.feedback == feedback:
            return edited, verified  # the same failure twice in a row: another try would cost money and say the same
        head, feedback = edited.head_sha, verified.feedback
    raise AssertionError("the loop always returns")


def _not_green(verdict: Verdict) -> Outcome:
    match verdict:
        case Verdict.TAMPERED:
            return Outcome.HELD
        case Verdict.UNGATED:
            return Outcome.UNGATED
        case _:
            return Outcome.RED
