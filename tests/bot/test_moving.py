"""Moving to another database loses nothing and mixes nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from bot.errors import ConfigError, UserError
from bot.forges.local import LocalForge
from bot.tickets import bundles, deliveries, hosts, journal, tickets
from bot.tickets.deliveries import Arrived
from bot.tickets.moving import move_all
from bot.tickets.schema import METADATA
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.tickets import Wish
from tests.bot.living import SHOP, Bot, cart_model, open_shop, pulls
from tests.needs import needs

ROOT = Path(__file__).parents[2]
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


def test_the_way_there_and_back_gives_the_same_rows(old: Store, postgres_url: str, tmp_path: Path) -> None:
    with old.write() as c:
        deliveries.keep(c, [Arrived("g-1", "ping", b"\x00\xff{}")], now=2.5)
        bundles.keep(c, 1, 1, 1, head_sha="a" * 40, bundle=bytes(range(256)))
        hosts.beat(c, "gone", slots=3)
        hosts.leave(c, "gone")
    there, back = open_store(postgres_url), open_store(sqlite_url(tmp_path / "back.db"))
    counted = [move_all(old, there), move_all(there, back)]
    assert (counted[0] == counted[1], rows(back)) == (True, rows(old))
    there.close()
    back.close()


def rows(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Return all that is stored."""
    with store.read() as c:
        return {t.name: sorted(tuple(row) for row in c.execute(sa.select(t))) for t in METADATA.sorted_tables}


def test_a_move_that_is_killed_leaves_the_source_whole_and_no_target_to_start_on(
    old: Store, postgres_url: str, tmp_path: Path
) -> None:
    with old.write() as c:
        journal.add_batch(c, [(1, 1, "edit", f"line {n}", 1.0) for n in range(10_000)])
    before = rows(old)
    move = subprocess.Popen(
        [sys.executable, "-m", "bot", "migrate", "--to", postgres_url], cwd=ROOT, stdout=subprocess.DEVNULL,
        env={**os.environ, "BOT_DATA": str(tmp_path), "BOT_DATABASE_URL": str(old.engine.url)},
    )  # fmt: skip
    with psycopg.connect(postgres_url, autocommit=True) as c:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'INSERT INTO log_%'"
        while move.poll() is None and c.execute(query).fetchone() == (0,):
            pass
    move.kill()
    assert move.wait() == -signal.SIGKILL
    with pytest.raises(ConfigError, match="into which `bot migrate` was interrupted"):
        open_store(postgres_url)
    target = open_store(postgres_url, is_target=True)
    moved = move_all(old, target)
    target.close()
    open_store(postgres_url).close()
    assert (rows(old), moved["log_lines"]) == (before, 10_006)


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


@needs("bwrap", package="bubblewrap")
@pytest.mark.slow(seconds=20)
def test_a_bot_that_was_killed_goes_on_in_the_other_database(
    tmp_path: Path, forge: LocalForge, postgres_url: str
) -> None:
    open_shop(forge)
    forge.create_repository("acme/notes", {"README.md": "no gate here\n"})
    forge.add_user("ann", {SHOP: "write", "acme/notes": "write"})
    forge.open_issue("acme/notes", "Waits for a slot", "text", user="ann")
    with cart_model() as model:
        with Bot(tmp_path, forge, model.url, BOT_SLOTS="1") as bot:
            forge.label_issue(SHOP, 1, "bot", user="ann")
            forge.wait(lambda: bool(forge.comments(SHOP, 1)))
            forge.label_issue("acme/notes", 1, "bot", user="ann")
            forge.wait(lambda: bool(forge.comments("acme/notes", 1)))
            bot.until("stage started", stage="verify")
        asked = len(model.requests)
        moved = subprocess.run(
            [sys.executable, "-m", "bot", "migrate", "--to", postgres_url], cwd=ROOT, check=True, text=True,
            env={**os.environ, "BOT_DATA": str(tmp_path / "bot")}, stdout=subprocess.PIPE,
        ).stdout  # fmt: skip
        with Bot(tmp_path, forge, model.url, BOT_DATABASE_URL=postgres_url):
            forge.wait(lambda: forge.issue(SHOP, 1).labels == ["bot: merged"], limit_s=60)
            forge.wait(lambda: forge.issue("acme/notes", 1).labels == ["bot: ungated"], limit_s=60)
    told = [len(forge.comments(name, 1)) for name in (SHOP, "acme/notes")]
    assert (len(model.requests) - asked, told, pulls(forge)) == (0, [1, 1], [True])
    assert moved.splitlines()[-2:] == [
        "1 interrupted attempts go on there, behind their last finished stage.",
        "Everything is there. Set BOT_DATABASE_URL to the new address and start the bot.",
    ]
