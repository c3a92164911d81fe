"""Have the gate judge people's pull requests, one head commit at a time; what a crash cut short is done again."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from bot import log
from bot.errors import BotError
from bot.forges.errors import RateLimited, Unreachable
from bot.outbox import reporter
from bot.slots import git
from bot.slots.install import InstallFailed, InstallStopped
from bot.slots.remote import Away, TokenSpent
from bot.slots.slot import Slot
from bot.tickets import pull_checks, repository
from bot.tickets.pull_checks import PullCheck
from bot.tickets.repository import RepositorySettings
from bot.tickets.store import is_away
from bot.work import gating
from bot.work.job import Desk, Running
from gate.report import Report, Verdict, render_json

LOG = log.logger("checks")
AGAIN_S = 15.0  # later, where the forge or a slot is not to be had
KEPT_LINES = 200
HEADS = "refs/pulls"  # not below refs/sluice, where what is ours stands: a push may replace that


class _Gone(Exception):
    """The pull request is closed, or its head is another commit now."""

    def __init__(self, head_sha: str = "") -> None:
        super().__init__("superseded")
        self.head_sha = head_sha  # that counts now; empty: none does


@dataclass(frozen=True, slots=True)
class Check:
    """One head commit being judged on this host."""

    desk: Desk
    row: PullCheck
    settings: RepositorySettings
    here: Running
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))

    @property
    def repository(self) -> str:
        """Return OWNER/NAME."""
        return self.row.repository

    @property
    def cancelled(self) -> asyncio.Event:
        """Set when the commit was superseded, or the host stops."""
        return self.here.cancelled

    def folder(self) -> Path:
        """Return the folder for the gate's report."""
        path = self.desk.data / "checks" / str(self.row.id)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def log(self, line: str) -> None:
        """Keep the last lines of output, for our own log when something fails."""
        self.lines.append(self.desk.redactor.text(line))


class Checks:
    """The checks that run on this host."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, free: int) -> list[PullCheck]:
        """Mark at most `free` queued checks as this host's, and return them; not for the event loop."""
        desk, now = self._desk, self._desk.now()
        with desk.store.read() as c:
            if free <= 0 or not pull_checks.queued(c, now=now, limit=1):
                return []
        with desk.store.write() as c:
            taken = pull_checks.take(c, desk.host, most=free, paused=repository.paused(c), now=now)
            for row in taken:
                reporter.report_check(c, row.id, links=desk.links, now=now)
        return taken

    def start(self, taken: Sequence[PullCheck]) -> None:
        """Run what was taken."""
        for row in taken:
            self._desk.running[row.holder] = Running(epoch=row.epoch)
            task = asyncio.create_task(check_pull(self._desk, row))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if taken:
            self._desk.changed(0)

    def lost(self) -> list[int]:
        """Return the holders whose commit was superseded or is checked elsewhere; not for the event loop."""
        running = {-holder: here.epoch for holder, here in self._desk.running.items() if holder < 0}
        with self._desk.store.read() as c:
            return [-number for number in pull_checks.lost(c, running)]

    def cancel(self, holders: Sequence[int]) -> None:
        """Stop checks at once."""
        for holder in holders:
            if (here := self._desk.running.get(holder)) is not None:
                here.cancelled.set()

    async def stop(self) -> None:
        """End what is left; it is queued again at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def check_pull(desk: Desk, row: PullCheck) -> None:
    """Judge the head commit that this host took, keep the report, and leave the wish for its check run."""
    with desk.store.read() as c:
        check = Check(desk, row, repository.settings_of(c, row.repository), desk.running[row.holder])
    LOG.info("check started", extra={"check": row.id, "repository": row.repository, "pull": row.pull})
    try:
        await _settle(check)
    except sa.exc.SQLAlchemyError as error:
        if not is_away(error):
            raise
        await desk.outage.over(error)
        _put_back(check, 0.0)
    finally:
        await _give_back(check)
        desk.running.pop(row.holder, None)
        desk.changed(0)


async def _settle(check: Check) -> None:
    """Bring the check to its end, or put it back."""
    desk, row = check.desk, check.row
    try:
        base_sha, report = await _judge(check)
    except _Gone as gone:
        _outdate(check, gone.head_sha)
    except (RateLimited, Unreachable, Away) as error:
        if isinstance(error, TokenSpent):
            desk.forge.forget_grants()
        LOG.warning("check put off", extra={"check": row.id, "why": str(error)})
        _put_back(check, error.until if isinstance(error, RateLimited) else desk.now() + AGAIN_S)
    except InstallStopped:
        _put_back(check, 0.0)
    except InstallFailed as error:
        _finish(check, None, Report(Verdict.ERROR, f"dependencies could not be installed: {error}"))
    except Exception as error:
        LOG.exception("check failed", extra={"check": row.id, "output": list(check.lines)[-20:]})
        words = str(error) if isinstance(error, BotError) else f"{type(error).__name__}: {error}"
        _finish(check, None, Report(Verdict.ERROR, f"an error of ours ended this check: {words}"[:500]))
    else:
        if check.cancelled.is_set():
            _put_back(check, 0.0)  # cut short by a stop; where the commit was superseded this changes nothing
        else:
            _finish(check, base_sha, report)


async def _judge(check: Check) -> tuple[str | None, Report]:
    """Return the merge base and what the gate says of the head against it."""
    desk, row = check.desk, check.row
    pull = await desk.forge.pull(row.repository, row.pull)
    if pull.state != "open" or pull.head.sha != row.head_sha:
        raise _Gone(pull.head.sha if pull.state == "open" else "")
    slot = await desk.pool.lease(row.repository, ticket=row.holder, epoch=row.epoch)
    if slot is None:
        raise Unreachable("no slot is free on this host yet")
    check.here.slot = slot
    url, token = f"{desk.git_url}/{row.repository}.git", await desk.forge.git_token(row.repository, write=False)
    base_sha = await _fetch(check, slot, url, token, pull.base.sha)
    if base_sha is None:
        return None, Report(Verdict.ERROR, f"{row.head_sha[:10]} and `{pull.base.ref}` share no commit")
    ready = await desk.pool.prepare(
        slot, url=url, token=token, sha=row.head_sha, install=check.settings.install,
        keep=check.settings.caches.keep, on_part=lambda _part, _seconds: None, cancelled=check.cancelled,
        beside=(base_sha,), base=base_sha, use="none" if row.is_fork or not check.settings.caches.enabled else "lend",
    )  # fmt: skip
    report = await gating.judge(check, base_sha)
    if not row.is_fork:
        await gating.keep_caches(check, ready, report)
    return base_sha, report


async def _fetch(check: Check, slot: Slot, url: str, token: str, tip: str) -> str | None:
    """Bring head and base into the mirror, a fork's head too; return their merge base."""
    row = check.row
    head = f"+refs/pull/{row.pull}/head:{HEADS}/{row.pull}"  # the base repository has it, whoever's the fork is
    async with check.desk.pool.lock(row.repository):
        await check.desk.pool.mirrors.ensure(slot)
        there = [await git.has_commit(slot.mirror, sha) for sha in (row.head_sha, tip)]
        if not all(there):
            await git.fetch(slot.mirror, url, token=token, refs=("+refs/heads/*:refs/remotes/origin/*", head))
        if not await git.has_commit(slot.mirror, row.head_sha):
            raise Unreachable("the head was pushed over while it was fetched")
        return await git.merge_base(slot.mirror, tip, row.head_sha)


async def _give_back(check: Check) -> None:
    """Give the slot back; the worktree in which a stranger's commit ran is used for nothing else."""
    slot = check.here.slot
    if slot is None:
        return
    await check.desk.pool.release(slot)
    if check.row.is_fork:
        await check.desk.pool.mend(slot)


def _finish(check: Check, base_sha: str | None, report: Report) -> None:
    desk, row = check.desk, check.row
    with desk.store.write() as c:
        if pull_checks.finish(c, row, render_json(report), base_sha=base_sha, now=desk.now()):
            _tell(check, c)
    LOG.info("check done", extra={"check": row.id, "verdict": str(report.verdict), "why": report.reason})


def _put_back(check: Check, not_before: float) -> None:
    with check.desk.store.write() as c:
        if pull_checks.put_back(c, check.row, not_before=not_before):
            _tell(check, c)


def _outdate(check: Check, head_sha: str) -> None:
    """Give this commit up; the one that counts goes on where two pushes in one second were heard of in disorder."""
    row, now = check.row, check.desk.now()
    with check.desk.store.write() as c:
        if pull_checks.move(c, row, pull_checks.OUTDATED, now=now):
            _tell(check, c, row)
        newest = pull_checks.find(c, row.repository, head_sha)
        if newest is not None and newest.state == pull_checks.OUTDATED:
            pull_checks.revive(c, newest, now=now)
            _tell(check, c, newest)


def _tell(check: Check, c: sa.Connection, row: PullCheck | None = None) -> None:
    reporter.report_check(c, (row or check.row).id, links=check.desk.links, now=check.desk.now())
