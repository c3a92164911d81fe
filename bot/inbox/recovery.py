"""Find what never arrived: failed deliveries are asked for again or pulled, labelled issues get their ticket."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from bot import log
from bot.forges.answers import Delivery, Issue
from bot.forges.errors import ForgeError, Refused
from bot.forges.github import GitHub
from bot.tickets import deliveries, posts, repositories, repository, tickets
from bot.tickets.deliveries import Arrived
from bot.tickets.store import Store

LOG = log.logger("inbox")
EVERY_S = 300.0
PULL_EVERY_S = 5.0
KEPT_S = 3 * 86_400.0  # as long as github.com keeps deliveries
OVERLAP_S = 900.0  # the list is looked at again this far back
MOST_ATTEMPTS = 6  # at one delivery
SETTLED_S = 30.0  # a younger attempt may still be answered


class Recovery:
    """Looks for what was missed; `stored` says that deliveries wait to be read."""

    def __init__(
        self, store: Store, forge: GitHub, *, label: str, now: Callable[[], float], stored: Callable[[], None]
    ) -> None:
        self._store, self._forge, self._label, self._now, self._stored = store, forge, label, now, stored
        self._looked_at: float | None = None
        self._pruned_to = 0
        self._not_here = False

    async def run(self, *, redelivers: bool = True, every_s: float = EVERY_S) -> None:
        """Recover now and every few minutes, until cancelled; a bot that pulls has nothing delivered again."""
        while True:
            await self.recover(redelivers=redelivers)
            await asyncio.to_thread(self.prune)
            await asyncio.sleep(every_s)

    async def run_pull(self, *, every_s: float = PULL_EVERY_S) -> None:
        """Pull deliveries every few seconds, until cancelled: for a bot that no webhook can reach."""
        while True:
            await self._try("pulled", self.pull)
            await asyncio.sleep(every_s)

    async def recover(self, *, redelivers: bool = True) -> None:
        """Ask for what failed, then look for labelled issues; a forge that is away is asked next time."""
        if redelivers and not self._not_here:
            await self._try("asked for again", self.redeliver)
        await self._try("found by their label", self.sweep)

    async def redeliver(self) -> int:
        """Ask once more for every delivery that never got through; return how many."""
        groups = await self._listed()
        known = await asyncio.to_thread(self._known, list(groups))
        missed = [tries for guid, tries in groups.items() if guid not in known and self._is_missed(tries)]
        for tries in missed:
            await self._forge.redeliver(tries[0].id)
        return len(missed)

    async def pull(self) -> int:
        """Store every delivery that is not here yet, whatever came of the forge's own attempts; return how many."""
        groups = await self._listed()
        known = await asyncio.to_thread(self._known, list(groups))
        missing = [tries[0] for guid, tries in groups.items() if guid not in known]
        arrived = []
        for delivery in sorted(missing, key=lambda d: d.id):
            found = await self._forge.delivery_payload(delivery.id)
            payload = (found.get("request") or {}).get("payload")
            if isinstance(payload, dict):
                arrived.append(Arrived(delivery.guid, delivery.event, json.dumps(payload).encode()))
        if arrived:
            await asyncio.to_thread(self._keep, arrived)
        return len(arrived)

    async def sweep(self) -> int:
        """Hand open issues that carry the label and have no ticket to intake; return how many."""
        names = await asyncio.to_thread(self._repositories)
        found = 0
        for name in names:
            label = await asyncio.to_thread(self._label_of, name)
            try:
                issues = await self._forge.labelled_issues(name, label)
            except Refused as refused:
                LOG.warning("not swept", extra={"repository": name, "error": str(refused)})
                continue
            missing = await asyncio.to_thread(self._without_ticket, name, issues)
            if missing:
                await asyncio.to_thread(self._keep, [_labeled(name, issue, label) for issue in missing])
                found += len(missing)
        return found

    def prune(self) -> None:
        """Forget deliveries and posts that nobody can ask about any more; what is due in short transactions."""
        looked = -1
        while looked != self._pruned_to:
            looked = self._pruned_to
            with self._store.write() as c:
                self._pruned_to = deliveries.prune(c, after=looked, now=self._now())
        with self._store.write() as c:
            posts.prune(c, now=self._now())

    async def _listed(self) -> dict[str, list[Delivery]]:
        """Return the forge's latest attempts by delivery, the newest attempt first."""
        began = self._now()
        since = began - KEPT_S if self._looked_at is None else self._looked_at - OVERLAP_S
        listed = await self._forge.deliveries(since=datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        self._looked_at = began
        groups: dict[str, list[Delivery]] = {}
        for delivery in listed:
            groups.setdefault(delivery.guid, []).append(delivery)
        return groups

    def _is_missed(self, tries: Sequence[Delivery]) -> bool:
        if any(delivery.status == "OK" for delivery in tries) or len(tries) >= MOST_ATTEMPTS:
            return False
        return self._now() - _time(tries[0].delivered_at) >= SETTLED_S

    def _known(self, guids: Sequence[str]) -> set[str]:
        with self._store.read() as c:
            return deliveries.known(c, guids)

    def _keep(self, arrived: Sequence[Arrived]) -> None:
        with self._store.write() as c:
            deliveries.keep(c, arrived, now=self._now())
        self._stored()

    def _repositories(self) -> list[str]:
        with self._store.read() as c:
            return sorted({*repositories.known(c), *tickets.repositories_of(c)})

    def _label_of(self, name: str) -> str:
        with self._store.read() as c:
            return repository.settings_of(c, name).labels.trigger or self._label

    def _without_ticket(self, name: str, issues: Sequence[Issue]) -> list[Issue]:
        with self._store.read() as c:
            settled = [i for i in issues if self._now() - _time(i.updated_at) >= SETTLED_S]
            return [issue for issue in settled if tickets.find_ticket(c, name, issue.number) is None]

    async def _try(self, what: str, act: Callable[[], Awaitable[int]]) -> None:
        try:
            count = await act()
        except Refused as refused:
            self._not_here = refused.status in (403, 404)  # a personal token has no deliveries
            LOG.warning("nothing recovered", extra={"what": what, "error": str(refused)})
        except ForgeError as error:
            self._looked_at = None
            LOG.warning("nothing recovered", extra={"what": what, "error": str(error)})
        else:
            if count:
                LOG.info("deliveries recovered", extra={"what": what, "count": count})


def _labeled(name: str, issue: Issue, label: str) -> Arrived:
    """Return the delivery that was lost; who put the label on is not known, so the author must be trusted."""
    user = issue.user
    sender = {"login": user.login, "id": user.id, "type": user.type} if user else None
    payload = {
        "action": "labeled", "label": {"name": label}, "repository": {"full_name": name}, "sender": sender,
        "issue": {
            "number": issue.number, "title": issue.title, "body": issue.body, "state": issue.state, "user": sender,
            "labels": [{"name": has.name} for has in issue.labels], "updated_at": issue.updated_at,
        },
    }  # fmt: skip
    return Arrived(f"sweep:{name}#{issue.number}:{issue.updated_at}", "issues", json.dumps(payload).encode())


def _time(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except ValueError:
        return 0.0
