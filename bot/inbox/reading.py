"""Read a stored delivery: bytes, event, intent; with the repository's settings and our own name, which intents need."""

from dataclasses import dataclass

from bot.forges.events import Event, IssueEvent, PullEvent, Unread
from bot.forges.github import GitHub
from bot.forges.github_events import read_event
from bot.inbox.house import House
from bot.inbox.intent import Intent, Nothing, Rules, read_intent
from bot.tickets.deliveries import Delivery
from bot.tickets.repository import RepositorySettings

# what may start work, so that the settings are looked at first
_LOOKED_AT = frozenset({"opened", "labeled", "reopened", "synchronize", "ready_for_review"})


@dataclass(frozen=True, slots=True)
class Read:
    """A delivery whose bytes were understood."""

    delivery: Delivery
    event: Event
    intent: Intent

    @property
    def repository(self) -> str:
        """Return where it happened."""
        return "" if isinstance(self.event, Unread) else self.event.origin.repository

    @property
    def sender(self) -> str:
        """Return who did it."""
        return "" if isinstance(self.event, Unread) else self.event.origin.sender.login


class Reader:
    """Reads deliveries; knows our name once the forge told it."""

    def __init__(self, forge: GitHub, house: House, *, label: str, app: int | None) -> None:
        self._forge, self._house, self._label, self._app = forge, house, label, app
        self._login = ""

    async def read(self, delivery: Delivery) -> Read:
        """Return what a delivery asks. Raises ForgeError where that needs an answer of the forge: read it later."""
        event = read_event(delivery.event, delivery.body)
        if isinstance(event, Unread):
            return Read(delivery, event, Nothing(event.reason))
        rules = await self._rules(event)
        return Read(delivery, event, read_intent(event, rules))

    async def _rules(self, event: Event) -> Rules:
        repository = "" if isinstance(event, Unread) else event.origin.repository
        settings = await self._settings(event) if repository else RepositorySettings()
        login = await self._own_login(repository)
        is_app = login.endswith("[bot]")
        return Rules(
            label=settings.labels.trigger or self._label, name=login.removesuffix("[bot]") if is_app else "",
            login=login if is_app else "", shared="" if is_app else login, app=self._app, checks=settings.checks,
        )  # fmt: skip

    async def _settings(self, event: Event) -> RepositorySettings:
        """Return the settings; what may start work has them looked at first."""
        if isinstance(event, IssueEvent | PullEvent) and event.origin.action in _LOOKED_AT:
            return await self._house.settings(
                event.origin.repository, issue=event.number, installation=event.origin.installation
            )
        return self._house.known(event.origin.repository) if not isinstance(event, Unread) else RepositorySettings()

    async def _own_login(self, repository: str) -> str:
        """Return our name there; without it what we did ourselves would be taken for a person's doing."""
        if not self._login and repository:
            self._login = await self._forge.login(repository)
        return self._login
