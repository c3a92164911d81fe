"""The ledger: what was spent, by day, repository, ticket and model."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.tickets.budget import Spent
from bot.tickets.ledger import DayCost, Entry, costs, enter, of_attempt, spent
from bot.tickets.store import Store, open_store, sqlite_url

RUN = Entry(
    "2026-11-30", "acme/app", "claude-sonnet-5-5", ticket=1, attempt=1, turns=5, seconds=30.0,
    input_tokens=10, output_tokens=20, cache_read_tokens=30, cache_write_tokens=40, dollars=0.5,
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return an empty store."""
    store = open_store(sqlite_url(tmp_path / "bot.sqlite"))
    yield store
    store.close()


def fill(store: Store, *entries: Entry) -> None:
    with store.write() as c:
        for entry in entries:
            enter(c, entry)


def test_nothing_spent_is_zero(store: Store) -> None:
    with store.read() as c:
        assert spent(c, day="2026-11-30") == Spent()


def test_a_sum_says_how_many_had_no_price(store: Store) -> None:
    fill(store, RUN, replace(RUN, round=2, dollars=None, model="local-coder"))

    with store.read() as c:
        assert spent(c, ticket=1) == Spent(turns=10, seconds=60.0, tokens=200, dollars=0.5, unpriced=1)


def test_the_same_round_twice_counts_once(store: Store) -> None:
    fill(store, RUN, replace(RUN, dollars=0.7))

    with store.read() as c:
        assert spent(c).dollars == 0.7


@pytest.mark.parametrize(
    ("asked", "dollars"),
    [
        ({}, 3.5),
        ({"day": "2026-12-01"}, 1.0),
        ({"repository": "acme/app"}, 1.5),
        ({"repository": "acme/app", "day": "2026-12-01"}, 1.0),
        ({"ticket": 2}, 2.0),
    ],
)
def test_sums_are_kept_apart(store: Store, asked: dict[str, str], dollars: float) -> None:
    chat = Entry("2026-12-01", "acme/app", "claude-haiku-5-5", dollars=0.5)
    fill(store, RUN, replace(RUN, ticket=2, repository="acme/web", dollars=2.0), chat, chat)

    with store.read() as c:
        assert spent(c, **asked).dollars == dollars  # type: ignore[arg-type]


def test_costs_come_by_day_repository_and_model(store: Store) -> None:
    fill(
        store,
        RUN,
        replace(RUN, round=2),
        replace(RUN, ticket=2, day="2026-12-01", dollars=None),
        replace(RUN, ticket=3, day="2026-11-01"),
    )

    with store.read() as c:
        found = costs(c, since="2026-11-30")
    assert found == [
        DayCost("2026-12-01", "acme/app", "claude-sonnet-5-5", 1, 1, 5, 30.0, 10, 20, 30, 40, 0, 1),
        DayCost("2026-11-30", "acme/app", "claude-sonnet-5-5", 1, 2, 10, 60.0, 20, 40, 60, 80, 1.0, 0),
    ]


def test_an_attempt_is_the_sum_of_its_rounds(store: Store) -> None:
    fill(store, RUN, replace(RUN, round=2, turns=2), replace(RUN, attempt=2, round=1))

    with store.read() as c:
        assert of_attempt(c, 1, 1) == {
            "model": "claude-sonnet-5-5", "rounds": 2, "turns": 7, "seconds": 60.0, "input_tokens": 20,
            "output_tokens": 40, "cache_read_tokens": 60, "cache_write_tokens": 80, "dollars": 1.0,
        }  # fmt: skip


def test_one_round_without_a_price_leaves_the_attempt_without(store: Store) -> None:
    fill(store, RUN, replace(RUN, round=2, model="local-coder", dollars=None))

    with store.read() as c:
        found = of_attempt(c, 1, 1)
    assert (found["model"], found["dollars"]) == ("claude-sonnet-5-5, local-coder", None)
