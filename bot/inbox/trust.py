"""Who may start work: roles asked of the forge and remembered briefly, bots by their number, breakers for floods."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import sqlalchemy as sa

from bot.forges.errors import Refused
from bot.forges.events import Actor
from bot.forges.github import GitHub
from bot.tickets import asks

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
REMEMBERED_S = 60.0


@dataclass(frozen=True, slots=True)
class Standing:
    """What a sender is in a repository, and whether that is enough to start work."""

    actor: Actor
    role: str
    floor: str
    may: bool

    def why_not(self) -> str:
        """Return the sentence that tells why this sender cannot start work."""
        if self.actor.is_bot:
            return (
                f"@{self.actor.login} is a bot that is not on the list of allowed ones (its number: {self.actor.id})."
            )
        return (
            f"@{self.actor.login} has {_article(self.role)} access here; starting work needs **{self.floor}** or above."
        )


@dataclass(frozen=True, slots=True)
class Breaker:
    """The most that may be asked within a time before we stop and say so."""

    issue: int = 5  # new work on one issue in `issue_s`
    issue_s: float = 600.0
    sender: int = 60  # in an hour
    repository: int = 200  # in an hour
    words: int = 10  # answers on one issue in `issue_s`
    # answers in an hour to one account below the floor, and to all of them in a repository: the forge allows 500 writes
    # that people see, and those who may start work need them
    stranger: int = 20
    strangers: int = 60


HOUR_S = 3600.0


class People:
    """Remembers for a minute which role somebody has."""

    def __init__(self, forge: GitHub, *, allowed_bots: Collection[int], now: Callable[[], float]) -> None:
        self._forge = forge
        self._allowed_bots = frozenset(allowed_bots)
        self._now = now
        self._known: dict[tuple[str, str], tuple[str, float]] = {}

    async def standing(self, repository: str, actor: Actor, floor: str) -> Standing:
        """Return what somebody may do; raises ForgeError where the forge cannot be asked."""
        if actor.is_bot:
            allowed = actor.id != 0 and actor.id in self._allowed_bots
            return Standing(actor, "allowed bot" if allowed else "none", floor, allowed)
        role = await self._role(repository, actor.login)
        return Standing(actor, role, floor, _reaches(role, floor))

    async def _role(self, repository: str, login: str) -> str:
        if not login:
            return "none"
        role, ends_at = self._known.get((repository, login), ("", 0.0))
        if self._now() >= ends_at:
            try:
                role = await self._forge.permission(repository, login)
            except Refused as refused:
                if refused.status not in (404, 422):
                    raise
                role = "none"
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[repository, login] = (role, self._now() + REMEMBERED_S)
        return role


def tripped(
    c: sa.Connection, breaker: Breaker, repository: str, issue: int, sender: int, *, now: float
) -> str:  # fmt: skip
    """Return why new work is parked, or nothing."""
    of_issue, of_sender, of_repository = asks.work(
        c, repository, issue, sender, issue_since=now - breaker.issue_s, since=now - HOUR_S
    )
    if of_issue >= breaker.issue:
        return f"Parked: work was asked for here {breaker.issue} times within {breaker.issue_s / 60:.0f} minutes."
    if of_sender >= breaker.sender:
        return f"Parked: the same account asked for work {breaker.sender} times within an hour."
    if of_repository >= breaker.repository:
        return f"Parked: work was asked for in this repository {breaker.repository} times within an hour."
    return ""


def _reaches(role: str, floor: str) -> bool:
    return role in ROLES and ROLES.index(role) >= ROLES.index(floor)


def _article(role: str) -> str:
    return "no" if role == "none" else f"**{role}**"
