"""What was spent: one row for each time an agent, or the chat, was asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import sqlalchemy as sa

from bot.tickets.budget import Budget, Spent
from bot.tickets.schema import ledger


@dataclass(frozen=True, slots=True)
class Entry:
    """What one run cost; dollars is None where the model's price is not known."""

    day: str  # YYYY-MM-DD, UTC
    repository: str
    model: str
    ticket: int | None = None  # None: the chat
    attempt: int | None = None
    round: int = 1
    turns: int = 0
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class DayCost:
    """What one model cost in one repository on one day."""

    day: str
    repository: str
    model: str
    tickets: int
    runs: int
    turns: int
    seconds: float
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    dollars: float
    unpriced: int


class Used(Protocol):
    """What the usage of an agent has; its type stands above the tickets."""

    @property
    def turns(self) -> int: ...
    @property
    def input_tokens(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...
    @property
    def cache_read_tokens(self) -> int: ...
    @property
    def cache_write_tokens(self) -> int: ...
    @property
    def dollars(self) -> float | None: ...
    @property
    def model_s(self) -> float: ...
    @property
    def tools_s(self) -> float: ...


def record(
    c: sa.Connection,
    *,
    repository: str,
    model: str,
    usage: Used,
    now: float,
    seconds: float | None = None,
    ticket: int | None = None,
    attempt: int | None = None,
    round_: int = 1,
) -> None:
    """Write what a run cost on the day of `now`; `seconds` of wall clock, where they are more than model and tools."""
    enter(
        c,
        Entry(
            day=day_of(now), repository=repository, model=model, ticket=ticket, attempt=attempt, round=round_,
            turns=usage.turns, seconds=usage.model_s + usage.tools_s if seconds is None else seconds,
            dollars=usage.dollars,
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens, cache_write_tokens=usage.cache_write_tokens,
        ),
    )  # fmt: skip


def day_of(now: float) -> str:
    """Return the day of a time, in UTC."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()


def enter(c: sa.Connection, entry: Entry) -> None:
    """Write what a run cost; the same ticket, attempt and round again replaces it: a stage may run twice."""
    values = {name: getattr(entry, name) for name in entry.__slots__}
    if entry.ticket is not None:
        c.execute(
            ledger.delete().where(
                ledger.c.ticket == entry.ticket, ledger.c.attempt == entry.attempt, ledger.c.round == entry.round
            )
        )
    c.execute(ledger.insert().values(values))


def spent(
    c: sa.Connection, *, day: str | None = None, repository: str | None = None, ticket: int | None = None
) -> Spent:
    """Return what was spent on a day, in a repository, on a ticket, or all of them together."""
    row = c.execute(
        sa.select(_sum(ledger.c.turns), _sum(ledger.c.seconds), _sum(_TOKENS), _sum(ledger.c.dollars), _UNPRICED).where(
            *_where(day=day, repository=repository, ticket=ticket)
        )
    ).one()
    return Spent(int(row[0]), float(row[1]), int(row[2]), float(row[3]), int(row[4]))


def of_attempt(c: sa.Connection, ticket: int, attempt: int) -> dict[str, Any]:
    """Return what all rounds of one attempt used; dollars is None where the price of one is not known."""
    rows = c.execute(
        sa.select(ledger).where(ledger.c.ticket == ticket, ledger.c.attempt == attempt).order_by(ledger.c.round)
    ).all()
    names = ("turns", "seconds", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    priced = [row.dollars for row in rows if row.dollars is not None]
    return {
        "model": ", ".join(dict.fromkeys(row.model for row in rows)),
        "rounds": len(rows),
        **{name: sum(getattr(row, name) for row in rows) for name in names},
        "dollars": sum(priced) if len(priced) == len(rows) else None,
    }


def exhausted(c: sa.Connection, budgets: Mapping[str, Budget], *, bot: Budget, now: float) -> dict[str, str]:
    """Return the repositories that may use nothing more today, each with the reason; `bot` is for all together."""
    day = day_of(now)
    rows = c.execute(
        sa.select(ledger.c.repository, _sum(_TOKENS), _sum(ledger.c.dollars))
        .where(ledger.c.day == day)
        .group_by(ledger.c.repository)
    )
    gone = {row[0]: (int(row[1]), float(row[2])) for row in rows}
    tokens, dollars = (sum(used[n] for used in gone.values()) for n in (0, 1))
    everybody = _used_up("all repositories together", bot, int(tokens), dollars, "`day_dollars` and `day_tokens`")
    found: dict[str, str] = {}
    for name, budget in budgets.items():
        used = gone.get(name, (0, 0.0))
        why = everybody or _used_up(name, budget, *used, "`[day]` in .github/bot.toml")
        if why:
            found[name] = why
    return found


def _used_up(whose: str, budget: Budget, tokens: int, dollars: float, key: str) -> str:
    if budget.dollars is not None and dollars >= budget.dollars:
        most = f"${budget.dollars:.2f}, is used up (${dollars:.2f} spent)"
    elif budget.tokens is not None and tokens >= budget.tokens:
        most = f"{budget.tokens:,} tokens, is used up ({tokens:,} spent)"
    else:
        return ""
    return f"Today's budget of {whose}, {most}. It goes on at 00:00 UTC, or with more in {key}."


def costs(c: sa.Connection, *, since: str, repository: str | None = None) -> Sequence[DayCost]:
    """Return the cost by day, repository and model from a day on, the newest day first."""
    groups = (ledger.c.day, ledger.c.repository, ledger.c.model)
    rows = c.execute(
        sa.select(
            *groups,
            sa.func.count(ledger.c.ticket.distinct()),
            sa.func.count(),
            *(_sum(ledger.c[name]) for name in _SUMMED),
            _UNPRICED,
        )
        .where(ledger.c.day >= since, *_where(repository=repository))
        .group_by(*groups)
        .order_by(ledger.c.day.desc(), ledger.c.repository, ledger.c.model)
    )
    return [DayCost(*row) for row in rows]


_SUMMED = (
    "turns", "seconds", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "dollars",
)  # fmt: skip
_TOKENS = ledger.c.input_tokens + ledger.c.output_tokens + ledger.c.cache_read_tokens + ledger.c.cache_write_tokens
_UNPRICED = sa.func.count() - sa.func.count(ledger.c.dollars)


def _sum(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    return sa.func.coalesce(sa.func.sum(column), 0)


def _where(**wanted: str | int | None) -> list[sa.ColumnElement[bool]]:
    return [ledger.c[name] == value for name, value in wanted.items() if value is not None]
