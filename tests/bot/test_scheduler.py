"""The queue as it is stored: what a tick takes, what it writes, and what people are told."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.tickets import hosts, ledger, marks, repository, scheduler, tickets
from bot.tickets.budget import Budget
from bot.tickets.edges import HARD
from bot.tickets.ledger import Entry
from bot.tickets.marks import Mark
from bot.tickets.open_issues import OPEN
from bot.tickets.queue import Queue
from bot.tickets.repository import DayWish, RepositorySettings
from bot.tickets.scheduler import Here
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.ticket import Outcome, State, Ticket
from bot.tickets.tickets import Wish

DAY = 1_700_000_000.0
TODAY = ledger.day_of(DAY)
WISH = Wish(
    repository="acme/shop", issue=1, title="t", body="b", requester="ann", label="bot", trigger_key="bot", claim=("a",)
)
SPENT = Entry(TODAY, "acme/shop", "m", input_tokens=900, output_tokens=100, cache_read_tokens=0, cache_write_tokens=0,
              dollars=5.0)  # fmt: skip
Put = Callable[[sa.Connection], None]


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[Store]:
    store = open_store(sqlite_url(tmp_path / "s.db"))
    yield store
    store.close()


def put(c: sa.Connection, **fields: object) -> Ticket:
    made = tickets.create_ticket(c, replace(WISH, **fields), now=DAY)  # type: ignore[arg-type]
    assert made is not None
    return made


def keep(c: sa.Connection, settings: RepositorySettings) -> None:
    repository.keep_settings(c, "acme/shop", settings, sha="s")


def reason_after(store: Store, here: Here, ticket: int = 1) -> str:
    """Return what stands as the reason of a ticket after a tick; empty where it was taken."""
    scheduler.tick(store, here, host="h")
    with store.read() as c:
        return tickets.get_ticket(c, ticket).reason


@pytest.mark.parametrize(
    ("before", "here", "reason"),
    [
        pytest.param(lambda _: None, Here(0, DAY), "All slots are in use.", id="slots"),
        pytest.param(
            lambda c: repository.pause(c, "acme/shop", paused=True, reason="release day"), Here(1, DAY),
            "acme/shop is paused: release day. `/bot resume` lets it go on.", id="paused",
        ),
        pytest.param(
            lambda c: (keep(c, RepositorySettings(day=DayWish(dollars=5.0))), ledger.enter(c, SPENT)), Here(1, DAY),
            "Today's budget of acme/shop, $5.00, is used up ($5.00 spent). "
            "It goes on at 00:00 UTC, or with more in `[day]` in .github/bot.toml.", id="the repository's day",
        ),
        pytest.param(
            lambda c: ledger.enter(c, replace(SPENT, repository="acme/other")), Here(1, DAY, day=Budget(tokens=1000)),
            "Today's budget of all repositories together, 1,000 tokens, is used up (1,000 spent). "
            "It goes on at 00:00 UTC, or with more in `day_dollars` and `day_tokens`.", id="everybody's day",
        ),
        pytest.param(
            lambda c: ledger.enter(c, replace(SPENT, day="2001-01-01")), Here(1, DAY, day=Budget(tokens=1000)),
            "", id="yesterday's spending",
        ),
        pytest.param(
            lambda c: (keep(c, RepositorySettings(tickets=1)), tickets.take(c, put(c, issue=2, claim=("b",)), "h", 1.0)),
            Here(1, DAY), "1 ticket runs in acme/shop, and its limit is 1.", id="the repository's limit",
        ),
        pytest.param(
            lambda c: tickets.take(c, put(c, issue=2, repository="acme/other"), "h", 1.0), Here(1, DAY, total=1),
            "1 ticket runs, and the limit is 1.", id="everybody's limit",
        ),
        pytest.param(lambda _: None, Here(1, DAY, low_disk="Only 3 MB are free."), "Only 3 MB are free.", id="disk"),
    ],
)  # fmt: skip
def test_every_limit_is_kept_and_named(lite: Store, before: Put, here: Here, reason: str) -> None:
    with lite.write() as c:
        put(c)
        before(c)
    assert reason_after(lite, here) == reason


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        pytest.param(lambda _: None, "", id="never heard of"),
        pytest.param(lambda c: marks.put(c, "acme/shop", 9, OPEN, Mark(True, 1.0)),
                     "Depends on #9, which is not done.", id="known to be open"),
        pytest.param(lambda c: marks.put(c, "acme/shop", 9, OPEN, Mark(False, 1.0)), "", id="closed"),
        pytest.param(lambda c: tickets.move(c, put(c, issue=9), State.DONE, now=DAY, outcome=Outcome.RED),
                     "Depends on #9, which is not done.", id="its ticket is red"),
        pytest.param(lambda c: tickets.move(c, put(c, issue=9), State.DONE, now=DAY, outcome=Outcome.MERGED),
                     "", id="its ticket is merged"),
        pytest.param(lambda c: (tickets.move(c, put(c, issue=9), State.DONE, now=DAY, outcome=Outcome.RED),
                                marks.put(c, "acme/shop", 9, OPEN, Mark(False, 1.0))),
                     "", id="its ticket is red, and somebody closed it"),
    ],
)  # fmt: skip
def test_what_is_depended_on_is_done_or_not(lite: Store, before: Put, reason: str) -> None:
    with lite.write() as c:
        put(c, edges=((HARD, 9),))
        before(c)
    assert reason_after(lite, Here(1, DAY)) == reason


def test_people_are_told_the_chain_and_the_stored_reason_stays_as_the_queue_moves(store: Store) -> None:
    with store.write() as c:
        hosts.beat(c, "h", slots=4)
        tickets.take(c, put(c, issue=12), "h", DAY)
        for number in (13, 14, 15):
            put(c, issue=number)
    assert reason_after(store, Here(3, DAY), ticket=4) == "Waits for #12 on `a`, which runs since 22:13 UTC."
    with store.read() as c:
        last = tickets.get_ticket(c, 4)
        told = scheduler.explain(c, last, now=DAY)
    assert told == "Waits for #12 on `a`, which runs since 22:13 UTC; then 2 older."


def test_a_priority_is_kept_and_goes_first(lite: Store) -> None:
    with lite.write() as c:
        put(c)
        put(c, issue=2, claim=("b",), priority=1)
    assert [t.issue for t in scheduler.tick(lite, Here(1, DAY), host="h")] == [2]


def test_a_queue_is_read_without_its_texts(lite: Store) -> None:
    with lite.write() as c:
        put(c, body="x" * 60_000, edges=((HARD, 9),))
        [queued], _ = Queue().read(c)
    assert (queued.body, queued.claim, queued.edges) == ("", ("a",), ((HARD, 9),))
    assert json.dumps(queued.budget) == "{}"


def test_a_queue_that_was_read_before_reads_only_what_changed(lite: Store) -> None:
    queue, read = Queue(), list[Any]()  # the parameters of each question
    with lite.write() as c:
        for n in range(1, 41):
            put(c, issue=n, claim=(f"m{n}/",))
        queue.read(c)
        tickets.set_reason(c, tickets.get_ticket(c, 7), "because")
        tickets.move(c, tickets.get_ticket(c, 8), State.DONE, now=DAY)
        tickets.take(c, tickets.get_ticket(c, 9), "h", DAY)
        put(c, issue=41)
        sa.event.listen(lite.engine, "before_cursor_execute", lambda *asked: read.append(asked[3]))
        again = queue.read(c)
        assert [sorted(asked) for asked in read[1:]] == [[7, 9, 41]]
        assert again == Queue().read(c)


def test_what_was_read_in_a_transaction_that_failed_is_read_again(lite: Store) -> None:
    def fails(_c: sa.Connection, ticket: Ticket) -> None:
        if ticket.reason:
            raise LookupError

    queue = Queue()
    with lite.write() as c:
        held = tickets.move(c, put(c), State.DONE, now=DAY, held_for=99)
    with pytest.raises(LookupError):
        scheduler.tick(lite, Here(0, DAY), host="h", changed=fails, queue=queue)
    with lite.write() as c:
        tickets.move(c, held, State.QUEUED, now=DAY, claim=("b",))  # as often written as what came to nothing
        assert queue.read(c) == Queue().read(c)


def test_new_reasons_are_told_some_hundred_at_a_time(lite: Store) -> None:
    with lite.write() as c:
        for n in range(1, 451):
            put(c, issue=n, claim=(f"m{n}/",))
    queue, told = Queue(), list[int]()
    ticks = []
    for _ in range(4):
        scheduler.tick(lite, Here(0, DAY), host="h", queue=queue, changed=lambda _, ticket: told.append(ticket.id))
        ticks.append((len(told), queue.is_behind))
    assert ticks == [(200, True), (400, True), (450, False), (450, False)]
