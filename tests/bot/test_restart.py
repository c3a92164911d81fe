"""What was interrupted goes on at once after a restart, and the engine's queue is looked at seldom again behind it."""

import asyncio
from pathlib import Path

import sqlalchemy as sa

from bot.tickets.store import sqlite_url
from bot.work.pending import look_often
from tests.bot.world import living
from tests.needs import needs


def every_s(url: str) -> list[tuple[str, float]]:
    """Return the engine's queues with the seconds between two looks."""
    engine = sa.create_engine(url)
    with engine.connect() as c:
        found = [(row.name, row.polling_interval_sec) for row in c.execute(sa.text("SELECT * FROM queues"))]
    engine.dispose()
    return found


async def started(folder: Path) -> list[tuple[str, float]]:
    """Return the queues of a bot that has started with nothing to resume."""
    async with living(folder):
        return every_s(sqlite_url(folder / "bot/engine.db"))


@needs("bwrap", package="bubblewrap")
def test_there_is_a_queue_from_the_first_start_on_and_what_made_it_busy_ends_with_the_next(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "bot/engine.db")
    look_often(sqlite_url(tmp_path / "new.db"), "host h", 0.05)  # no engine was here: nothing to do
    first = asyncio.run(started(tmp_path))  # the engine takes a loop's threads with it: each start has its own loop
    look_often(url, "host h", 0.05)
    often = every_s(url)
    assert (first, often, asyncio.run(started(tmp_path))) == ([("host h", 1.0)], [("host h", 0.05)], [("host h", 1.0)])
