"""The SQL of checks on people's pull requests: each head commit is wanted, approved and run on its own."""

from dataclasses import dataclass

import sqlalchemy as sa

from bot.tickets.schema import pull_checks

NEEDS_APPROVAL, QUEUED, RUNNING, DONE, OUTDATED = "needs_approval", "queued", "running", "done", "outdated"


@dataclass(frozen=True, slots=True)
class PullCheck:
    """One head commit of one pull request."""

    repository: str
    pull: int
    head_sha: str
    state: str
    is_fork: bool
    author: str
    approved_by: str
    installation: int | None
    created_at: float
    updated_at: float


def want(
    c: sa.Connection,
    repository: str,
    pull: int,
    head_sha: str,
    *,
    approved: bool,
    is_fork: bool,
    author: str,
    installation: int | None,
    now: float,
) -> bool:
    """Ask for a check of a head commit; older heads of the pull request are outdated. False: it was asked before."""
    if find(c, repository, head_sha) is not None:
        return False
    waiting = (pull_checks.c.state.in_((NEEDS_APPROVAL, QUEUED)), pull_checks.c.pull == pull)
    c.execute(pull_checks.update().where(pull_checks.c.repository == repository, *waiting).values(state=OUTDATED))
    c.execute(
        pull_checks.insert().values(
            repository=repository, pull=pull, head_sha=head_sha, state=QUEUED if approved else NEEDS_APPROVAL,
            is_fork=is_fork, author=author, installation=installation, created_at=now, updated_at=now,
        )
    )  # fmt: skip
    return True


def find(c: sa.Connection, repository: str, head_sha: str) -> PullCheck | None:
    """Return the check of a commit."""
    row = c.execute(
        sa.select(pull_checks).where(pull_checks.c.repository == repository, pull_checks.c.head_sha == head_sha)
    ).first()
    return None if row is None else PullCheck(**row._mapping)


def waiting(c: sa.Connection, repository: str, pull: int) -> PullCheck | None:
    """Return the head of a pull request that waits for approval."""
    where = (pull_checks.c.repository == repository, pull_checks.c.pull == pull, pull_checks.c.state == NEEDS_APPROVAL)
    row = c.execute(sa.select(pull_checks).where(*where).order_by(pull_checks.c.created_at.desc())).first()
    return None if row is None else PullCheck(**row._mapping)


def queued(c: sa.Connection, *, limit: int = 20) -> list[PullCheck]:
    """Return the checks that may run, oldest first."""
    rows = c.execute(
        sa.select(pull_checks).where(pull_checks.c.state == QUEUED).order_by(pull_checks.c.updated_at).limit(limit)
    )
    return [PullCheck(**row._mapping) for row in rows]


def move(c: sa.Connection, check: PullCheck, to: str, *, now: float, approved_by: str = "") -> bool:
    """Bring a check to another state; False where somebody was faster."""
    values = {"state": to, "updated_at": now} | ({"approved_by": approved_by} if approved_by else {})
    where = (
        pull_checks.c.repository == check.repository, pull_checks.c.pull == check.pull,
        pull_checks.c.head_sha == check.head_sha, pull_checks.c.state == check.state,
    )  # fmt: skip
    return c.execute(pull_checks.update().where(*where).values(**values)).rowcount == 1
