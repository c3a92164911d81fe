"""What all hosts together wrote on the forge of late: its limits count for an installation, not for a process."""

import asyncio
from collections.abc import Sequence

import sqlalchemy as sa

from bot.tickets.hosts import clock
from bot.tickets.schema import written
from bot.tickets.store import Store

SPACE = 0x5105CF  # of advisory locks: accounts on the forge


class Written:
    """Counts writes in the database that the hosts share; `limits` are pairs of a most and of the seconds it is for."""

    def __init__(self, store: Store, limits: Sequence[tuple[int, float]]) -> None:
        self._store, self._limits = store, limits

    async def take(self, account: str) -> float:
        """Count one more write for an account and return 0, or the seconds until there is room for it."""
        return await asyncio.to_thread(self._take, account)

    def _take(self, account: str) -> float:
        with self._store.write() as c:
            c.execute(sa.select(sa.func.pg_advisory_xact_lock(SPACE, sa.func.hashtext(account))))
            now = c.execute(sa.select(clock(c))).scalar_one()
            wait_s = max(_wait_s(c, account, most, span_s, now) for most, span_s in self._limits)
            if wait_s <= 0:
                c.execute(written.insert().values(account=account, at=now))
                longest_s = max(span_s for _, span_s in self._limits)
                c.execute(written.delete().where(written.c.account == account, written.c.at < now - longest_s))
            return wait_s


def _wait_s(c: sa.Connection, account: str, most: int, span_s: float, now: float) -> float:
    """Return when the write leaves the window that was there `most` writes ago, in seconds; 0 where it has."""
    newest = sa.select(written.c.at).where(written.c.account == account).order_by(written.c.at.desc())
    at: float | None = c.execute(newest.offset(most - 1).limit(1)).scalar()
    return 0.0 if at is None else max(0.0, at + span_s - now)
