"""How much an agent may still use: the budgets of a ticket, a repository and a day, less what was spent. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.tickets.budget import Budget, Spent
from bot.work.agents.agent import Limits


@dataclass(frozen=True, slots=True)
class Scope:
    """A budget, whose it is, and what of it is gone."""

    name: str  # as people read it: this ticket, acme/app today, today
    budget: Budget
    spent: Spent


@dataclass(frozen=True, slots=True)
class Exhausted:
    """Nothing is left; `reason` is for people."""

    reason: str


def limits_of(scopes: Sequence[Scope], *, command_s: float = 300.0) -> Limits | Exhausted:
    """Return what the agent may use now: the least that any scope has left, or its own limit where none says."""
    least: dict[str, Any] = {}
    for scope in scopes:
        left = _left(scope)
        for what, rest in left.items():
            if rest <= 0:
                return Exhausted(_say(scope, what))
        least |= {what: min(least.get(what, rest), rest) for what, rest in left.items()}
    return Limits(command_s=command_s, **least)


def _left(scope: Scope) -> dict[str, float]:
    budget, gone = scope.budget, scope.spent
    pairs = {
        "turns": (budget.turns, gone.turns), "wall_s": (budget.wall_s, gone.seconds),
        "tokens": (budget.tokens, gone.tokens), "dollars": (budget.dollars, gone.dollars),
    }  # fmt: skip
    return {what: most - used for what, (most, used) in pairs.items() if most is not None}


def _say(scope: Scope, what: str) -> str:
    budget, gone = scope.budget, scope.spent
    match what:
        case "dollars":
            return f"the budget of {scope.name}, ${budget.dollars:.2f}, is used up (${gone.dollars:.2f} spent)"
        case "tokens":
            return f"the budget of {scope.name}, {budget.tokens:,} tokens, is used up ({gone.tokens:,} spent)"
        case "turns":
            return f"the budget of {scope.name}, {budget.turns} turns, is used up ({gone.turns} taken)"
        case _:
            return f"the budget of {scope.name}, {budget.wall_s:g} s, is used up ({gone.seconds:.0f} s taken)"
