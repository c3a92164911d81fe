"""Bring the forge to the wanted state: the newest wish wins, failures are tried again, verdicts never change."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from bot import log
from bot.forges.errors import ForgeError, NotGranted, RateLimited, Refused
from bot.forges.github import GitHub
from bot.outbox import reporter
from bot.outbox.reporter import Links
from bot.tickets import posts, repositories
from bot.tickets.posts import Post
from bot.tickets.store import Store

LOG = log.logger("outbox")
FIRST_RETRY_S = 2.0
LAST_RETRY_S = 300.0
LIMIT = 0.75  # of a claim is the time for one post: it must be over before another host may try it
PACE_S = 5.0  # between edits of one thing on the forge, unless its news is urgent

STATUS_OF = {"success": "success", "failure": "failure", "cancelled": "error"}  # conclusion to a status's word
LACKING_S = 6 * 3600.0  # before a missing permission is tried again unasked
REFUSED = frozenset({403, 404, 410, 422})  # by a forge that understood what was asked
GONE = frozenset({404, 410})
REFUSALS = 12  # of one wish, over two days: then it is given up, and only a newer wish is posted
GATHER_S = 0.1  # after a wake-up: a ticket that is let in at once is told once, and its start goes first

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
    """Bring our check run up to date; a commit status stands in where we may write none."""
    if not forge.is_app:
        await _post_status(forge, post)
        return {}, None
    try:
        return await _post_check_run(forge, post)
    except NotGranted:
        try:
            await _post_status(forge, post)
        except NotGranted as refused:
            raise NotGranted(post.repository, "checks: write") from refused  # the one that is worth asking for
        return {"missing": "checks: write"}, None


async def _post_status(forge: GitHub, post: Post) -> None:
    want = post.wanted
    state = STATUS_OF.get(str(want.get("conclusion")), "pending")
    await forge.set_status(
        post.repository, want["head_sha"], state=state, context=want["name"], description=want["output"]["title"],
        target_url=want.get("details_url"),
    )  # fmt: skip


async def _post_check_run(forge: GitHub, post: Post) -> Posted:
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
    labels = (await forge.issue(post.repository, want["issue"])).labels
    there = {label.name.casefold(): label.name for label in labels}  # as the forge compares them
    missing = [label for label in want["add"] if label.casefold() not in there]
    if missing:
        await forge.add_labels(post.repository, want["issue"], missing)
    for label in want["remove"]:
        if label.casefold() in there:
            await forge.remove_label(post.repository, want["issue"], there[label.casefold()])
    return {}, None


async def post_reaction(forge: GitHub, post: Post) -> Posted:
    """React to a comment, or to one on a line of a pull request; one that is gone needs no answer."""
    react = forge.react_to_line if post.wanted.get("on_line") else forge.react
    try:
        await react(post.repository, post.wanted["comment"], post.wanted["content"])
    except Refused as refused:
        if refused.status not in GONE:
            raise
    return {}, None


async def post_pull(forge: GitHub, post: Post) -> Posted:
    """Bring title and body of our pull request up to date."""
    want = post.wanted
    await forge.update_pull(post.repository, want["pull"], title=want["title"], body=want["body"])
    return {}, str(want["pull"])


async def take_back_merge(forge: GitHub, post: Post) -> Posted:
    """Have our pull request wait for a person; that the forge merges it was wished for where the merge was refused."""
    if post.wanted["head"] is None:
        await forge.merge_not_later(post.repository, post.wanted["pull"])
    return {}, None


KINDS: Mapping[str, Callable[[GitHub, Post], Awaitable[Posted]]] = {
    "comment": post_comment,
    "reply": post_comment,
    "check": post_check,
    "labels": post_labels,
    "reaction": post_reaction,
    "pull": post_pull,
    "automerge": take_back_merge,
}


class Outbox:
    """Posts what is due whenever it is woken, and again when something put off falls due."""

    def __init__(
        self, store: Store, forge: GitHub, *, now: Callable[[], float], links: Links | None = None,
        strike: Callable[[Any], Any] = lambda data: data, host: str = "",
        claim_s: float = posts.CLAIM_S,
    ) -> None:  # fmt: skip
        self._links = links or Links("")
        self._store = store
        self._forge = forge
        self._now = now
        self._strike = strike  # takes secrets out of what is posted
        self._host, self._claim_s, self._limit_s = host, claim_s, claim_s * LIMIT
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
            await asyncio.sleep(GATHER_S)

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
        end = asyncio.get_running_loop().time() + self._limit_s  # before the claim is over
        claimed_until = await asyncio.to_thread(self._claim, post)
        if claimed_until is None:
            return 0  # another host posts it
        clean = replace(post, wanted=self._strike(post.wanted))
        try:
            async with asyncio.timeout_at(end):
                await asyncio.sleep(0)  # it ends here for a host that wakes too late
                posted, remote = await KINDS[post.kind](self._forge, clean)
        except (ForgeError, TimeoutError) as error:
            await asyncio.to_thread(self._record_failure, post, error, claimed_until)
            return 0
        await asyncio.to_thread(self._record_posted, post, posted, remote)
        return 1

    def _claim(self, post: Post) -> float | None:
        if self._store.engine.dialect.name == "sqlite":
            return 0.0  # no other host writes to this database
        with self._store.write() as c:
            return posts.claim(c, post, self._now(), host=self._host, seconds=self._claim_s)

    def _record_failure(self, post: Post, error: Exception, claimed_until: float) -> None:
        not_before = _next_try(error, post.tries, self._now())
        why = str(error) or f"not done within {self._limit_s:g} s"
        if _is_hopeless(error, post.tries):
            with self._store.write() as c:
                posts.give_up(c, post, error=why)
            LOG.error("given up", extra={"key": post.key, "error": why, "tries": post.tries + 1})
            return
        with self._store.write() as c:
            posts.record_failure(c, post, error=why, not_before=not_before, claimed_until=claimed_until)
            known = isinstance(error, NotGranted) and not self._lacks(c, post, error.permission)
        if not known:
            LOG.warning("not posted", extra={"key": post.key, "error": why, "not_before": not_before})

    def _record_posted(self, post: Post, posted: Mapping[str, Any], remote: str | None) -> None:
        with self._store.write() as c:
            posts.record_posted(c, post, posted=posted, remote=remote, now=self._now(), pace_s=PACE_S)
            if "missing" in posted:
                self._lacks(c, post, posted["missing"])
            elif repositories.note_granted(c, post.repository, "checks" if post.kind == "check" else "issues"):
                reporter.report_again(c, post, links=self._links, now=self._now())

    def _lacks(self, c: sa.Connection, post: Post, permission: str) -> bool:
        """Note a missing permission, in the log and in the ticket's comment; False where that was said already."""
        if not repositories.note_missing(c, post.repository, permission):
            return False
        LOG.warning("permission not granted", extra={"repository": post.repository, "permission": permission})
        reporter.report_again(c, post, links=self._links, now=self._now())
        return True

    async def _sleep(self) -> None:
        with self._store.read() as c:
            due_at = posts.next_due_at(c, self._now())
        wait_s = None if due_at is None else max(0.05, due_at - self._now())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._wake.wait()


def _next_try(error: Exception, tries: int, now: float) -> float:
    """Return when to try again: what the forge asked for, else exponentially later, with jitter."""
    if isinstance(error, RateLimited):
        return max(error.until, now + 1.0)
    if isinstance(error, NotGranted):
        return now + LACKING_S
    if isinstance(error, Refused) and error.status in REFUSED:
        return now + min(LACKING_S, LAST_RETRY_S * 2.0**tries)
    return now + min(LAST_RETRY_S, FIRST_RETRY_S * 2.0**tries) * random.uniform(0.8, 1.2)  # noqa: S311 jitter


def _is_hopeless(error: Exception, tries: int) -> bool:
    """Tell whether the forge said no too often; a missing permission may be granted at any time."""
    is_no = isinstance(error, Refused) and error.status in REFUSED and not isinstance(error, NotGranted)
    return is_no and tries + 1 >= REFUSALS
