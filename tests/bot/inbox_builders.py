"""A house for tests of intake: a local forge, a store, payloads as the forge writes them, and a clock set by hand."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
import sqlalchemy as sa

from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.inbox.intake import Intake
from bot.inbox.trust import Breaker
from bot.tickets import deliveries, posts, tickets
from bot.tickets.deliveries import Arrived
from bot.tickets.store import Store
from bot.tickets.ticket import Outcome, State, Ticket

REPO = "acme/app"
LABEL = "bot"
PEOPLE = {"ann": "write", "tim": "triage", "max": "maintain"}
IDS = {"ann": 11, "tim": 12, "max": 13, "eve": 14, "helper[bot]": 15, "sluice[bot]": 16}


def user(login: str) -> dict[str, Any]:
    return {"login": login, "id": IDS[login], "type": "Bot" if login.endswith("[bot]") else "User"}


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class House:
    """Intake with all that it stands on."""

    forge: LocalForge
    github: GitHub
    store: Store
    http: httpx.AsyncClient | None = None  # for a client of one's own
    breaker: Breaker = field(default_factory=lambda: Breaker(issue=50))
    now: float = 1_000_000.0
    told: list[int] = field(default_factory=list)
    acted: list[int] = field(default_factory=list)  # tickets, whenever a delivery had come to something
    count: int = 0

    def __post_init__(self) -> None:
        self.forge.create_repository(REPO, {"a.txt": "one\n"})
        for login, role in PEOPLE.items():
            self.forge.add_user(login, {REPO: role})
        self.intake = self.open_intake()

    def open_intake(self) -> Intake:
        return Intake(
            self.store, self.github, label=LABEL, now=lambda: self.now, told=lambda _, ticket: self.told.append(ticket),
            acted=self._act, allowed_bots=(15,), app=self.forge.app_id, breaker=self.breaker,
        )  # fmt: skip

    def _act(self) -> None:
        with self.store.read() as c:
            self.acted.append(len(tickets.list_tickets(c)))

    def payload(self, action: str, *, sender: str = "ann", **fields: Any) -> dict[str, Any]:
        return {"action": action, "sender": user(sender), "repository": {"full_name": REPO}, **fields}

    def issue(
        self, number: int = 1, *, title: str = "Bug", body: str = "It breaks.", labels: tuple[str, ...] = (LABEL,),
        at: float = 100.0, state: str = "open",
    ) -> dict[str, Any]:  # fmt: skip
        return {
            "number": number, "title": title, "body": body, "state": state, "user": user("eve"),
            "labels": [{"name": label} for label in labels], "updated_at": stamp(at),
        }  # fmt: skip

    def deliver(self, event: str, payload: dict[str, Any], *, guid: str = "") -> None:
        """Store a delivery as the receiver does."""
        self.count += 1
        arrived = Arrived(guid or f"g-{self.count}", event, json.dumps(payload).encode())
        with self.store.write() as c:
            deliveries.keep(c, [arrived], now=self.now)

    async def hear(self, event: str, action: str, *, sender: str = "ann", **fields: Any) -> str:
        """Deliver one event, have it acted on, and return what became of it."""
        self.deliver(event, self.payload(action, sender=sender, **fields))
        await self.intake.process_new()
        with self.store.read() as c:
            row = c.execute(sa.text("SELECT state, reason FROM deliveries ORDER BY seq DESC LIMIT 1")).one()
        return f"{row.state}: {row.reason}"

    async def label(self, number: int = 1, *, sender: str = "ann", **issue: Any) -> str:
        return await self.hear(
            "issues", "labeled", sender=sender, issue=self.issue(number, **issue), label={"name": LABEL}
        )

    async def say(self, text: str, *, sender: str = "ann", number: int = 1, comment: int = 500, **issue: Any) -> str:
        said = {"id": comment, "body": text, "user": user(sender)}
        return await self.hear(
            "issue_comment", "created", sender=sender, issue=self.issue(number, **issue), comment=said
        )

    def ticket(self, number: int = 1) -> Ticket | None:
        with self.store.read() as c:
            return tickets.find_ticket(c, REPO, number)

    def state(self, number: int = 1) -> str:
        """Return the ticket in one line: state, attempt, who asked."""
        found = self.ticket(number)
        return f"{found.state} {found.attempt} {found.requester}" if found else "none"

    def run(self, number: int = 1) -> None:
        """Have the ticket taken by a host."""
        with self.store.write() as c:
            found = tickets.find_ticket(c, REPO, number)
            assert found is not None
            tickets.take(c, found, "host", self.now)

    def end(self, outcome: Outcome, number: int = 1, **fields: Any) -> None:
        """Have the running ticket end."""
        with self.store.write() as c:
            found = tickets.find_ticket(c, REPO, number)
            assert found is not None
            if found.state is State.QUEUED:
                found = tickets.take(c, found, "host", self.now)
            tickets.move(c, found, State.DONE, now=self.now, outcome=outcome, **fields)

    def posts(self, kind: str) -> list[dict[str, Any]]:
        """Return what is wished for on the forge."""
        with self.store.read() as c:
            return [dict(p.wanted) for p in posts.due(c, self.now) if p.kind == kind]

    def replies(self) -> list[str]:
        """Return the texts of the replies, without their markers."""
        return [p["body"].split("\n", 1)[1] for p in self.posts("reply")]
