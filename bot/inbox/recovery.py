"""Find what never arrived: failed deliveries are asked for again or pulled, labelled issues get their ticket."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from bot import log
from bot.forges.answers import Delivery, Issue
from bot.forges.errors import ForgeError, Refused
from bot.forges.github import GitHub
from bot.forges.manifest import NOWHERE
from bot.forges.missed import absent, missed
from bot.tickets import deliveries, posts, repositories, repository, tickets
from bot.tickets.deliveries import Arrived
from bot.tickets.store import Store

LOG = log.logger("inbox")
EVERY_S = 300.0
PULL_EVERY_S = 5.0
KEPT_S = 7 * 86_400.0  # as long as an Enterprise Server keeps deliveries; github.com's list ends after 3 days
OVERLAP_S = 900.0  # the list is looked at again this far back
PULL_OVERLAP_S = 120.0  # and every few seconds this far: a busy App would use up its requests of the hour
MOST_PAGES = 300  # of a hundred deliveries: three days of a busy App
MOST_ASKED = 36  # times for one delivery, three hours long; the next start asks for it anew
MOST_FETCHED = 3  # times for one that the forge lists and does not give
TOGETHER = 50  # pulled, before they are stored: so much may be held in memory
SETTLED_S = 30.0  # a younger attempt that was not answered may still be


class Recovery:
    """Looks for what was missed; `stored` says that deliveries wait to be read."""

    def __init__(
        self, store: Store, forge: GitHub, *, label: str, now: Callable[[], float], stored: Callable[[], None]
    ) -> None:
        self._store, self._forge, self._label, self._now, self._stored = store, forge, label, now, stored
        self._looked_at: float | None = None
        self._pruned_to = 0
        self._asked: Counter[str] = Counter()  # guids, and how often the forge was asked for them in vain
        self._is_soon = False  # something is on its way, or may be
        self._has_waited = False  # a sweep, for that

    async def run(self, *, every_s: float = EVERY_S, soon_s: float = SETTLED_S) -> None:
        """Recover now and every few minutes, until cancelled; sooner while something is on its way."""
        await self._try("looked up: the webhook's address", self._look_at_address)
        while True:
            await self.recover()
            await asyncio.to_thread(self.prune)
            await asyncio.sleep(soon_s if self._is_soon else every_s)

    async def run_pull(self, *, every_s: float = PULL_EVERY_S, sweep_every_s: float = EVERY_S) -> None:
        """Pull deliveries every few seconds, until cancelled: for a bot that no webhook can reach."""
        swept_at = -sweep_every_s
        while True:
            await self._try("pulled", self.pull)
            if self._now() - swept_at >= sweep_every_s:
                swept_at = self._now()
                await self._try("found by their label", self.sweep)
                await asyncio.to_thread(self.prune)
            await asyncio.sleep(every_s)

    async def recover(self) -> None:
        """Ask for what failed, then look for labelled issues; a forge that is away is asked next time.

        Deliveries that come again tell who put a label on, a sweep does not: it waits a round for them.
        """
        self._is_soon = False
        if self._forge.is_app:  # a personal token has no deliveries
            await self._try("asked for again", self.redeliver)
        self._has_waited = self._is_soon and not self._has_waited
        if not self._has_waited:
            await self._try("found by their label", self.sweep)

    async def _look_at_address(self) -> int:
        """Say so where nothing will ever be delivered: the App was made to be pulled from."""
        if self._forge.is_app and await self._forge.hook_url() == NOWHERE:
            LOG.error("nothing is delivered: the App has no public address", extra={"mend": "start `bot serve --pull`"})
        return 0

    async def redeliver(self) -> int:
        """Ask once more for every delivery that never got through; return how many."""
        began, listed = await self._listed(OVERLAP_S)
        known = await asyncio.to_thread(self._known, [delivery.guid for delivery in listed])
        due = [delivery for delivery in missed(listed, known) if self._asked[delivery.guid] < MOST_ASKED]
        self._is_soon = any(not self._asked[delivery.guid] for delivery in due)
        asked = 0
        for delivery in [delivery for delivery in due if self._is_settled(delivery)]:
            self._asked[delivery.guid] += 1
            try:
                await self._forge.redeliver(delivery.id)
            except Refused as refused:  # too old, or gone
                LOG.warning("not delivered again", extra={"guid": delivery.guid, "error": str(refused)})
                continue
            asked += 1
        self._looked_at = began  # only now: what a fault left undone is looked at again
        return asked

    async def pull(self) -> int:
        """Store every delivery that is not here yet, whatever came of the forge's own attempts; return how many."""
        began, listed = await self._listed(PULL_OVERLAP_S)
        known = await asyncio.to_thread(self._known, [delivery.guid for delivery in listed])
        wanted = [d for d in absent(listed, known) if self._asked[d.guid] < MOST_FETCHED]
        pulled = 0
        for start in range(0, len(wanted), TOGETHER):
            pulled += await self._pull(wanted[start : start + TOGETHER])
        self._looked_at = began
        return pulled

    async def _pull(self, wanted: Sequence[Delivery]) -> int:
        arrived: list[Arrived] = []
        try:
            for delivery in wanted:
                arrived += await self._fetch(delivery)
        finally:
            if arrived:  # what is here stays here, though the forge went away behind it
                await asyncio.to_thread(self._keep, arrived)
        return len(arrived)

    async def _fetch(self, delivery: Delivery) -> list[Arrived]:
        self._asked[delivery.guid] += 1
        try:
            found = await self._forge.delivery_payload(delivery.id)
        except Refused as refused:
            LOG.warning("not pulled", extra={"guid": delivery.guid, "error": str(refused)})
            return []
        payload = (found.get("request") or {}).get("payload")
        if not isinstance(payload, dict):
            return []
        return [Arrived(delivery.guid, delivery.event, json.dumps(payload).encode())]

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

    async def _listed(self, overlap_s: float) -> tuple[float, list[Delivery]]:
        """Return when the look began, and the forge's attempts since a while before the last one, the newest first."""
        began = self._now()
        since = began - KEPT_S if self._looked_at is None else self._looked_at - overlap_s
        listed = await self._forge.deliveries(
            most_pages=MOST_PAGES, since=datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        )
        self._asked = Counter({delivery.guid: self._asked[delivery.guid] for delivery in listed})
        return began, listed

    def _is_settled(self, delivery: Delivery) -> bool:
        """Tell whether to ask (again) for a delivery: its newest attempt is over, and another one was not just made."""
        age_s = self._now() - _time(delivery.delivered_at)
        if self._asked[delivery.guid]:
            return age_s >= EVERY_S / 2
        return delivery.status_code >= 400 or age_s >= SETTLED_S

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
        except ForgeError as error:
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
