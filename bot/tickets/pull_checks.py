"""The SQL of checks on people's pull requests: each head commit is wanted, approved and run on its own."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import sqlalchemy as sa

from bot.tickets.schema import pull_checks

NEEDS_APPROVAL, QUEUED, RUNNING, DONE, OUTDATED = "needs_approval", "queued", "running", "done", "outdated"
OPEN = (NEEDS_APPROVAL, QUEUED, RUNNING)


@dataclass(frozen=True, slots=True)
class PullCheck:
    """One head commit of one pull request; `epoch` counts how often a host took it."""

    id: int
    repository: str
    pull: int
    head_sha: str
    state: str
    is_fork: bool
    author: str
    approved_by: str
    installation: int | None
    host: str | None
    epoch: int
    not_before: float
    base_sha: str | None
    report: str | None
    created_at: float
    updated_at: float

    @property
    def holder(self) -> int:
        """Return the number under which it holds a slot: tickets count up from zero, checks down."""
        return -self.id


def want(
    c: sa.Connection,
    repository: str,
    pull: int,
    head_sha: str,
    *,
    approved_by: str,
    is_fork: bool,
    author: str,
    installation: int | None,
    now: float,
) -> PullCheck | None:
    """Ask for a check of a head commit, vouched for or not; None where it was asked for before and still counts."""
    known = find(c, repository, head_sha)
    if known is None:
        c.execute(
            pull_checks.insert().values(
                repository=repository, pull=pull, head_sha=head_sha, state=QUEUED if approved_by else NEEDS_APPROVAL,
                is_fork=is_fork, author=author, approved_by=approved_by, installation=installation, created_at=now,
                updated_at=now,
            )
        )  # fmt: skip
    elif known.state == OUTDATED:  # reopened, or pushed back to this commit
        revive(c, known, approved_by=approved_by, now=now)
    else:
        return None
    return find(c, repository, head_sha)


def revive(c: sa.Connection, check: PullCheck, *, approved_by: str = "", now: float) -> bool:
    """Have a commit that was given up count again, with the approval that it had."""
    vouched = approved_by or check.approved_by
    return move(c, check, QUEUED if vouched else NEEDS_APPROVAL, now=now, approved_by=vouched)


def outdate(c: sa.Connection, repository: str, pull: int, *, but: str = "", now: float) -> list[PullCheck]:
    """Give up what is under way for a pull request, all but one head commit; return what was given up."""
    where = (pull_checks.c.repository == repository, pull_checks.c.pull == pull, pull_checks.c.state.in_(OPEN))
    rows = c.execute(sa.select(pull_checks).where(*where, pull_checks.c.head_sha != but)).fetchall()
    return [replace(check, state=OUTDATED) for row in rows if move(c, check := _check(row), OUTDATED, now=now)]


def find(c: sa.Connection, repository: str, head_sha: str) -> PullCheck | None:
    """Return the check of a commit."""
    row = c.execute(
        sa.select(pull_checks).where(pull_checks.c.repository == repository, pull_checks.c.head_sha == head_sha)
    ).first()
    return None if row is None else _check(row)


def get(c: sa.Connection, number: int) -> PullCheck | None:
    """Return the check with this number."""
    row = c.execute(sa.select(pull_checks).where(pull_checks.c.id == number)).first()
    return None if row is None else _check(row)


def waiting(c: sa.Connection, repository: str, pull: int) -> PullCheck | None:
    """Return the head of a pull request that waits for approval."""
    where = (pull_checks.c.repository == repository, pull_checks.c.pull == pull, pull_checks.c.state == NEEDS_APPROVAL)
    row = c.execute(sa.select(pull_checks).where(*where).order_by(pull_checks.c.id.desc())).first()
    return None if row is None else _check(row)


def queued(c: sa.Connection, *, now: float = float("inf"), limit: int = 20) -> list[PullCheck]:
    """Return the checks that may run by now, oldest first."""
    where = (pull_checks.c.state == QUEUED, pull_checks.c.not_before <= now)
    rows = c.execute(sa.select(pull_checks).where(*where).order_by(pull_checks.c.updated_at).limit(limit))
    return [_check(row) for row in rows]


def latest(c: sa.Connection, *, limit: int = 50) -> list[PullCheck]:
    """Return the checks that changed last, newest first."""
    rows = c.execute(sa.select(pull_checks).order_by(pull_checks.c.updated_at.desc()).limit(limit))
    return [_check(row) for row in rows]


def move(c: sa.Connection, check: PullCheck, to: str, *, now: float, approved_by: str = "") -> bool:
    """Bring a check to another state; False where somebody was faster."""
    values = {"state": to, "updated_at": now} | ({"approved_by": approved_by} if approved_by else {})
    return _write(c, check, values)


def take(c: sa.Connection, host: str, *, most: int, paused: Collection[str], now: float) -> list[PullCheck]:
    """Mark at most `most` queued checks as running on this host, and return them."""
    if most <= 0 or "*" in paused:
        return []
    taken: list[PullCheck] = []
    for check in queued(c, now=now):
        if check.repository not in paused and len(taken) < most:
            values = {"state": RUNNING, "host": host, "epoch": check.epoch + 1, "updated_at": now}
            if _write(c, check, values):
                taken.append(replace(check, state=RUNNING, host=host, epoch=check.epoch + 1, updated_at=now))
    return taken


def put_back(c: sa.Connection, check: PullCheck, *, not_before: float) -> bool:
    """Have a check that this host runs run again later; it keeps its place."""
    return _write(c, check, {"state": QUEUED, "host": None, "not_before": not_before})


def finish(c: sa.Connection, check: PullCheck, report: str, *, base_sha: str | None, now: float) -> bool:
    """Keep the gate's report; False where this host does not hold the check any more."""
    return _write(c, check, {"state": DONE, "report": report, "base_sha": base_sha, "updated_at": now})


def release_of(c: sa.Connection, host: str) -> int:
    """Queue again what a host was running when it stopped; return how many."""
    where = (pull_checks.c.state == RUNNING, pull_checks.c.host == host)
    return c.execute(pull_checks.update().where(*where).values(state=QUEUED, host=None)).rowcount


def lost(c: sa.Connection, running: Mapping[int, int]) -> list[int]:
    """Return which of these checks (number to epoch) are no longer this host's to run."""
    if not running:
        return []
    rows = c.execute(
        sa.select(pull_checks.c.id, pull_checks.c.epoch).where(
            pull_checks.c.id.in_(running), pull_checks.c.state == RUNNING
        )
    )
    kept = {row.id for row in rows if running[row.id] == row.epoch}
    return [number for number in running if number not in kept]


def _write(c: sa.Connection, check: PullCheck, values: Mapping[str, object]) -> bool:
    """Write while the check stands as it was read."""
    where = (pull_checks.c.id == check.id, pull_checks.c.state == check.state, pull_checks.c.epoch == check.epoch)
    return c.execute(pull_checks.update().where(*where).values(**values)).rowcount == 1


def _check(row: sa.Row[tuple[object, ...]]) -> PullCheck:
    return PullCheck(**row._mapping)
