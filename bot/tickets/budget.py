"""A budget: the most that may be used, and how people write one."""

import re
from dataclasses import astuple, dataclass

from bot.errors import UserError

_AMOUNT = re.compile(
    r"^(?P<dollar>\$)?(?P<number>\d{1,12}(?:\.\d{1,6})?)\s*(?P<unit>[kKM]?\s*tokens?|turns?|dollars?|s|m|h)?$"
)
_SECONDS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be used; None is no limit."""

    turns: int | None = None
    wall_s: float | None = None
    tokens: int | None = None
    dollars: float | None = None


# of one amount: more is a slip of the finger
MOST_IN_WORDS = "$10000, 1000M tokens, 10000 turns or 168h"
MOST = Budget(turns=10_000, wall_s=7 * 86_400, tokens=1_000_000_000, dollars=10_000)


@dataclass(frozen=True, slots=True)
class Spent:
    """A sum of entries. `unpriced` counts those whose dollars are not known and not in `dollars`."""

    turns: int = 0
    seconds: float = 0.0
    tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0


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
            amount = Budget(dollars=number)
        case "turn":
            amount = Budget(turns=int(number))
        case "s" | "m" | "h":
            amount = Budget(wall_s=number * _SECONDS[unit])
        case _:
            amount = Budget(tokens=int(number * {"k": 1e3, "K": 1e3, "M": 1e6}.get(unit[0], 1)))
    if any((value or 0) > most for value, most in zip(astuple(amount), astuple(MOST), strict=True)):
        raise UserError(f"at most {MOST_IN_WORDS} can be granted at once; got `{text.strip()}`")
    return amount
