"""The agent's budget: it is told at 80 %, and stopped at 100 %."""

from typing import Any

import pytest

from bot.work.agents.agent import AgentSettings, Ending, Limits, Usage
from tests.bot.agents.conftest import Work

COSTS = {"input_tokens": 100_000, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
ENDLESS: tuple[dict[str, Any], ...] = ({"type": "start", "loop": True}, {"bash": "true", "usage": COSTS})


@pytest.mark.parametrize(
    ("limits", "ending", "reason", "turns"),
    [
        (Limits(dollars=1.0), Ending.OVER_BUDGET, "the budget of $1.00 is used up", 5),
        (Limits(tokens=250_000), Ending.OVER_BUDGET, "the budget of 250,000 tokens is used up", 3),
        (Limits(turns=4), Ending.TURN_LIMIT, "not finished after 4 turns", 4),
        (Limits(turns=5, dollars=1.0), Ending.OVER_BUDGET, "the budget of $1.00 is used up", 5),
    ],
)
async def test_a_budget_that_is_used_up_ends_the_run(
    work: Work, limits: Limits, ending: Ending, reason: str, turns: int
) -> None:
    result = await work.run(*ENDLESS, limits=limits)

    assert (result.ending, result.reason, result.usage.turns) == (ending, reason, turns)


async def test_at_80_percent_the_agent_is_told_once_to_finish(work: Work) -> None:
    await work.run(*ENDLESS, limits=Limits(turns=10))

    told = [len(message["content"]) for message in work.model.requests[-1]["messages"][2::2]]
    assert (told, work.answers(8)[1]) == (
        [1, 1, 1, 1, 1, 1, 1, 2, 1],
        "You have used 80 % of your turns. Finish now: bring the change into a state that passes, and close.",
    )


async def test_the_cost_is_counted_by_kind_of_token(work: Work) -> None:
    usage = {
        "input_tokens": 1_000_000, "output_tokens": 100_000,
        "cache_read_input_tokens": 2_000_000, "cache_creation_input_tokens": 400_000,
    }  # fmt: skip
    result = await work.run({"say": "Done.", "usage": usage}, settings=AgentSettings(model="claude-sonnet-4-5"))

    assert result.usage == Usage(
        1, 1_000_000, 100_000, 2_000_000, 400_000, dollars=pytest.approx(3 + 1.5 + 0.6 + 1.5),
        model_s=result.usage.model_s, tools_s=0.0,
    )  # fmt: skip


async def test_an_unknown_model_counts_tokens_but_no_dollars(work: Work) -> None:
    settings = AgentSettings(model="local-coder")
    result = await work.run({"say": "Done.", "usage": COSTS}, settings=settings, limits=Limits(dollars=0.01))

    assert (result.model, result.usage.input_tokens, result.usage.dollars) == ("local-coder", 100_000, None)
