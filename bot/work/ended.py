"""How a ticket's attempt ended."""

from dataclasses import dataclass

from bot.tickets.ticket import Outcome


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome, why, and the gate's verdict where it judged."""

    outcome: Outcome
    reason: str
    verdict: str | None = None
    held_for: int | None = None  # HELD until this ticket no longer runs; then it goes on by itself
