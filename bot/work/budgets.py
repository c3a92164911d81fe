"""How much an agent may still use: the budgets of a ticket, a repository and a day, less what was spent. No I/O."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.errors import UserError
from bot.tickets.ledger import Spent
from bot.work.agents.agent import Limits

_AMOUNT = re.compile(r"^(?P<dollar>\$)?(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kKM]?\s*tokens?|turns?|dollars?|s|m|h)?$")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be used; None is no limit."""

    turns: int | None = None
    wall_s: float | None = None
    tokens: int | None = None
    dollars: float | None = None


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
    """Return what the agent may use now: the least that any scope has left."""
    limits = Limits(command_s=command_s)
    for scope in scopes:
        left = _left(scope)
        for what, rest in left.items():
            if rest <= 0:
                return Exhausted(_say(scope, what))
        least: dict[str, Any] = {what: _least(getattr(limits, what), rest) for what, rest in left.items()}
        limits = replace(limits, **least)
    return limits


def topped_up(budget: Budget, amount: Budget, spent: Spent) -> Budget:
    """Return the budget with an amount more than what was spent, in the kinds that the amount names."""
    return Budget(
        turns=budget.turns if amount.turns is None else spent.turns + amount.turns,
        wall_s=budget.wall_s if amount.wall_s is None else spent.seconds + amount.wall_s,
        tokens=budget.tokens if amount.tokens is None else spent.tokens + amount.tokens,
        dollars=budget.dollars if amount.dollars is None else spent.dollars + amount.dollars,
    )


def read_amount(text: str) -> Budget:
    """Return the amount that people write as `$2`, `500k tokens`, `20 turns` or `30m`; raises UserError."""
    found = _AMOUNT.match(text.strip())
    number = float(found["number"]) if found else 0.0
    unit = "".join((found["unit"] or "").split()).rstrip("s" if found["unit"] != "s" else "") if found else ""
    if not found or number <= 0 or bool(found["dollar"]) == bool(unit):
        raise UserError(f"a budget is written as `$2`, `500k tokens`, `20 turns` or `30m`; got `{text.strip()}`")
    match unit:
        case "" | "dollar":
            return Budget(dollars=number)
        case "turn":
            return Budget(turns=int(number))
        case "s" | "m" | "h":
            return Budget(wall_s=number * _SECONDS[unit])
        case _:
            return Budget(tokens=int(number * {"k": 1e3, "K": 1e3, "M": 1e6}.get(unit[0], 1)))


def _left(scope: Scope) -> dict[str, float]:
    budget, gone = scope.budget, scope.spent
    pairs = {
        "turns": (budget.turns, gone.turns), "wall_s": (budget.wall_s, gone.seconds),
        "tokens": (budget.tokens, gone.tokens), "dollars": (budget.dollars, gone.dollars),
    }  # fmt: skip
    return {what: most - used for what, (most, used) in pairs.items() if most is not None}


def _least(had: float | None, rest: float) -> float:
    return rest if had is None else min(had, rest)


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
