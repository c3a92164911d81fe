"""Bring the forge to the wanted state: the newest wish wins, failures are tried again, verdicts never change."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot import log
from bot.forges.errors import ForgeError, RateLimited, Refused
from bot.forges.github import GitHub
from bot.tickets import posts
from bot.tickets.posts import Post
from bot.tickets.store import Store

LOG = log.logger("outbox")
FIRST_RETRY_S = 2.0
LAST_RETRY_S = 300.0
LIMIT_S = posts.CLAIM_S - 5.0  # for one post: it must be over before another host may try it
PACE_S = 5.0  # between edits of one thing on the forge, unless its news is urgent

Posted = tuple[Mapping[str, Any], str | None]  # what the forge shows now, and its id there


async def post_comment(forge: GitHub, post: Post) -> Posted:
    """Edit our comment; find it by its marker or make it anew where it is gone."""
    want = post.wanted
    remote = post.remote
    if remote is None:
        found = await forge.find_comment(post.repository, want["issue"], want["marker"])
        remote = str(found.id) if found else None
    if remote is not None and await forge.update_comment(post.repository, int(remote), want["body"]):
        return {}, remote
    made = await forge.create_comment(post.repository, want["issue"], want["body"])
    return {}, str(made.id)


async def post_check(forge: GitHub, post: Post) -> Posted:
    """Update our check run; find it by commit and external id or make it."""
    want = dict(post.wanted)
    remote = post.remote
    if remote is None:
        found = await forge.find_check_run(
            post.repository, want["head_sha"], want["name"], external_id=want["external_id"]
        )
        remote = str(found.id) if found else None
    if remote is None:
        made = await forge.create_check_run(post.repository, **want)
        return {}, str(made.id)
    want.pop("head_sha")
    await forge.update_check_run(post.repository, int(remote), **want)
    return {}, remote


async def post_labels(forge: GitHub, post: Post) -> Posted:
    """Add and remove labels, those alone that differ: one read is cheaper than a dozen writes."""
    want = post.wanted
    there = {label.name for label in (await forge.issue(post.repository, want["issue"])).labels}
    missing = [label for label in want["add"] if label not in there]
    if missing:
        await forge.add_labels(post.repository, want["issue"], missing)
    for label in want["remove"]:
        if label in there:
            await forge.remove_label(post.repository, want["issue"], label)
    return {}, None


async def post_reaction(forge: GitHub, post: Post) -> Posted:
    """React to a comment."""
    await forge.react(post.repository, post.wanted["comment"], post.wanted["content"])
    return {}, None


async def post_pull(forge: GitHub, post: Post) -> Posted:
    """Bring title and body of our pull request up to date."""
    want = post.wanted
    await forge.update_pull(post.repository, want["pull"], title=want["title"], body=want["body"])
    return {}, str(want["pull"])


KINDS: Mapping[str, Callable[[GitHub, Post], Awaitable[Posted]]] = {
    "comment": post_comment,
    "reply": post_comment,
    "check": post_check,
    "labels": post_labels,
    "reaction": post_reaction,
    "pull": post_pull,
}


class Outbox:
    """Posts what is due whenever it is woken, and again when something put off falls due."""

    def __init__(self, store: Store, forge: GitHub, *, now: Callable[[], float]) -> None:
        self._store = store
        self._forge = forge
        self._now = now
        self._wake = asyncio.Event()
        self._posting = asyncio.Lock()

    def wake(self) -> None:
        """Say that there may be something to post."""
        self._wake.set()

    async def run(self) -> None:
        """Post until cancelled."""
        while True:
            self._wake.clear()
            while await self.flush():
                pass
            await self._sleep()

    async def flush(self) -> int:
        """Post everything that is due once; return how many were posted."""
        async with self._posting:  # the same thing posted by two at once would be there twice
            due = await asyncio.to_thread(self._due)
            done = 0
            for post in due:
                done += await self._post(post)
            return done

    def _due(self) -> list[Post]:
        with self._store.read() as c:
            return list(posts.due(c, self._now()))

    async def _post(self, post: Post) -> int:
        if not await asyncio.to_thread(self._claim, post):
            return 0  # another host posts it
        try:
            async with asyncio.timeout(LIMIT_S):
                posted, remote = await KINDS[post.kind](self._forge, post)
        except (ForgeError, TimeoutError) as error:
            not_before = _next_try(error, post.tries, self._now())
            LOG.warning(
                "not posted", extra={"key": post.key, "error": str(error) or "too slow", "not_before": not_before}
            )
            await asyncio.to_thread(
                self._write, posts.record_failure, post, error=str(error) or "too slow", not_before=not_before
            )
            return 0
        shown = {"posted": posted, "remote": remote, "now": self._now(), "pace_s": PACE_S}
        await asyncio.to_thread(self._write, posts.record_posted, post, **shown)
        return 1

    def _claim(self, post: Post) -> bool:
        if self._store.engine.dialect.name == "sqlite":
            return True  # no other host writes to this database
        with self._store.write() as c:
            return posts.claim(c, post, self._now())

    def _write(self, record: Callable[..., None], post: Post, **fields: Any) -> None:
        with self._store.write() as c:
            record(c, post, **fields)

    async def _sleep(self) -> None:
        with self._store.read() as c:
            due_at = posts.next_due_at(c, self._now())
        wait_s = None if due_at is None else max(0.05, due_at - self._now())
        try:
            await asyncio.wait_for(self._wake.wait(), wait_s)
        except TimeoutError:
            return


def _next_try(error: Exception, tries: int, now: float) -> float:
    """Return when to try again: what the forge asked for, else exponentially later, with jitter."""
    if isinstance(error, RateLimited):
        return max(error.until, now + 1.0)
    if isinstance(error, Refused) and error.status in (403, 404, 410, 422):
        return now + LAST_RETRY_S
    return now + min(LAST_RETRY_S, FIRST_RETRY_S * 2.0**tries) * random.uniform(0.8, 1.2)  # noqa: S311 jitter
