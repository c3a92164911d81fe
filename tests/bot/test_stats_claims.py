"""bot stats claims: declared against touched."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from bot.commands.stats import claims_table, stats
from bot.measure.claims import Compared, compared, reached_often
from bot.tickets import tickets
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.tickets import Wish

WISH = Wish(
    repository="acme/shop", issue=1, title="t", body="b", requester="ann", label="bot", trigger_key="bot",
    claim=("docs/", "src/"),
)  # fmt: skip


def attempt(store: Store, issue: int, *touched: str) -> None:
    with store.write() as c:
        made = tickets.create_ticket(c, replace(WISH, issue=issue), now=1.0)
        assert made is not None
        tickets.update_attempt(c, made.id, 1, touched=list(touched))


def test_attempts_that_touched_anything_are_compared_newest_first(store: Store) -> None:
    attempt(store, 1, "src/a.py", "README.md")
    attempt(store, 2)
    attempt(store, 3, "docs/x.md", "src/b.py")
    with store.read() as c:
        found = compared(c, limit=10)
    assert [(row.issue, row.outside, row.unused) for row in found] == [(3, (), ()), (1, ("README.md",), ("docs/",))]


def test_the_table_names_what_was_outside_and_what_was_claimed_in_vain() -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    rows = [
        Compared(1, "acme/shop", 7, 2, ("src/", "docs/"), ("src/a.py", "b.md")),
        Compared(2, "acme/shop", 8, 1, ("**",), ("a", "b", "c", "d")),
    ]
    console.print(claims_table(rows))
    assert [" ".join(line.split()) for line in console.export_text().splitlines()] == [
        "issue attempt declared touched outside unused",
        "acme/shop#7 2 src/, docs/ src/a.py, b.md b.md docs/",
        "acme/shop#8 1 everything a, b, c +1 - -",
    ]


def test_what_many_reach_for_is_said_so_that_it_can_be_named_as_shared() -> None:
    rows = [Compared(n, "acme/shop", n, 1, ("src/",), ("src/a", "CHANGELOG.md")) for n in range(3)]
    assert reached_often([*rows, Compared(9, "acme/shop", 9, 1, ("src/",), ("once",))]) == [
        ("acme/shop", "CHANGELOG.md", 3)
    ]


def test_the_command_prints_the_same_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_DATA", str(tmp_path))
    store = open_store(sqlite_url(tmp_path / "sluice.db"))
    attempt(store, 1, "src/a.py", "README.md")
    store.close()
    done = CliRunner().invoke(stats, ["claims", "--json"])
    assert json.loads(done.output) == {
        "claims": [{
            "ticket": 1, "repository": "acme/shop", "issue": 1, "attempt": 1, "declared": ["docs/", "src/"],
            "touched": ["src/a.py", "README.md"], "outside": ["README.md"], "unused": ["docs/"],
        }],
        "often_outside": [],
    }  # fmt: skip
