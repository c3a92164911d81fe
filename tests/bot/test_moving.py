"""Moving to another database loses nothing and mixes nothing."""

from pathlib import Path

import pytest

from bot.errors import UserError
from bot.tickets import hosts, journal, tickets
from bot.tickets.moving import move_all
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.tickets import Wish

WISH = Wish(repository="a/b", issue=1, title="t", body="b", requester="r", label="bot", trigger_key="k")


@pytest.fixture
def old(tmp_path: Path) -> Store:
    store = open_store(sqlite_url(tmp_path / "old.db"))
    with store.write() as c:
        for number in range(1, 4):
            made = tickets.create_ticket(
                c, Wish(**{**{f: getattr(WISH, f) for f in WISH.__slots__}, "issue": number}), now=1.0
            )
            assert made is not None
            journal.add_lines(c, made.id, 1, stage="edit", lines=["a", "b"], now=1.0)
    return store


def test_everything_is_there_and_numbering_goes_on(old: Store, postgres_url: str) -> None:
    new = open_store(postgres_url)
    moved = move_all(old, new)
    with new.write() as c:
        more = tickets.create_ticket(c, Wish(**{**{f: getattr(WISH, f) for f in WISH.__slots__}, "issue": 9}), now=2.0)
        assert more is not None
        assert (moved["tickets"], moved["attempts"], moved["log_lines"], more.id) == (3, 3, 6, 4)
    new.close()


def test_a_target_that_holds_rows_is_left_alone(old: Store, tmp_path: Path) -> None:
    other = open_store(sqlite_url(tmp_path / "other.db"))
    move_all(old, other)
    with pytest.raises(UserError, match="holds rows already"):
        move_all(old, other)


def test_a_bot_that_still_runs_is_not_moved(old: Store, tmp_path: Path) -> None:
    with old.write() as c:
        hosts.beat(c, "alive", slots=1)
    with pytest.raises(UserError, match="alive still runs"):
        move_all(old, open_store(sqlite_url(tmp_path / "other.db")))
