"""Budgets: what an agent may still use."""

import pytest

from bot.errors import UserError
from bot.tickets.budget import Budget, Spent, read_amount, topped_up
from bot.work.agents.agent import Limits
from bot.work.budgets import Exhausted, Scope, limits_of


def test_without_budgets_the_agent_has_its_own_limits() -> None:
    assert limits_of([], command_s=60) == Limits(command_s=60)


def test_a_budget_above_the_agents_own_limits_counts() -> None:
    assert limits_of([Scope("this ticket", Budget(turns=300, wall_s=7200.0), Spent(turns=10))]) == Limits(290, 7200.0)


def test_the_least_that_any_scope_has_left_counts() -> None:
    scopes = [
        Scope("this ticket", Budget(turns=40, dollars=2.0), Spent(turns=30, dollars=0.5)),
        Scope("acme/app today", Budget(dollars=20.0, tokens=1_000_000), Spent(tokens=400_000, dollars=19.0)),
        Scope("today", Budget(wall_s=3600), Spent(seconds=3000)),
    ]

    assert limits_of(scopes) == Limits(turns=10, wall_s=600, tokens=600_000, dollars=1.0)


@pytest.mark.parametrize(
    ("budget", "spent", "reason"),
    [
        (Budget(dollars=2), Spent(dollars=2.034), "the budget of this ticket, $2.00, is used up ($2.03 spent)"),
        (Budget(tokens=5000), Spent(tokens=5000), "the budget of this ticket, 5,000 tokens, is used up (5,000 spent)"),
        (Budget(turns=7), Spent(turns=9), "the budget of this ticket, 7 turns, is used up (9 taken)"),
        (Budget(wall_s=60), Spent(seconds=61.4), "the budget of this ticket, 60 s, is used up (61 s taken)"),
    ],
)
def test_an_empty_budget_says_which_and_how_much(budget: Budget, spent: Spent, reason: str) -> None:
    assert limits_of([Scope("this ticket", budget, spent)]) == Exhausted(reason)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("$2", Budget(dollars=2)),
        ("$0.50", Budget(dollars=0.5)),
        ("3 dollars", Budget(dollars=3)),
        ("500k tokens", Budget(tokens=500_000)),
        ("2M tokens", Budget(tokens=2_000_000)),
        ("1500 tokens", Budget(tokens=1500)),
        ("20 turns", Budget(turns=20)),
        ("1 turn", Budget(turns=1)),
        ("90s", Budget(wall_s=90)),
        ("30m", Budget(wall_s=1800)),
        ("1h", Budget(wall_s=3600)),
    ],
)
def test_an_amount_is_read(text: str, amount: Budget) -> None:
    assert read_amount(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2",
        "$",
        "$0",
        "-$2",
        "$2 tokens",
        "two dollars",
        "5k turns",
        "$2; rm",
        "$" + "9" * 400,
        "9" * 400 + " tokens",
    ],
)
def test_what_is_no_amount_is_said(text: str) -> None:
    with pytest.raises(UserError) as raised:
        read_amount(text)

    assert str(raised.value) == (f"a budget is written as `$2`, `500k tokens`, `20 turns` or `30m`; got `{text}`")


@pytest.mark.parametrize("text", ["$10001", "2000M tokens", "10001 turns", "169h"])
def test_an_amount_that_nobody_can_mean_is_refused(text: str) -> None:
    with pytest.raises(UserError) as raised:
        read_amount(text)

    said = f"at most $10000, 1000M tokens, 10000 turns or 168h can be granted at once; got `{text}`"
    assert str(raised.value) == said


def test_topping_up_gives_the_amount_on_top_of_what_is_gone() -> None:
    topped = topped_up(Budget(turns=50, dollars=1), read_amount("$2"), Spent(turns=50, dollars=1.25))

    assert topped == Budget(turns=50, dollars=3.25)
