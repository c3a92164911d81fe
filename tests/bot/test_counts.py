"""What is counted for monitoring."""

import asyncio

import pytest

from bot.tickets import tickets
from bot.tickets.counts import Past, past, present, together
from bot.tickets.store import Store
from bot.tickets.ticket import Outcome, State
from bot.tickets.tickets import Wish


def ended(store: Store, issue: int) -> None:
    """Put a ticket that ended into the store, and one that waits."""
    with store.write() as c:
        for number, state in ((issue, State.DONE), (-issue, State.QUEUED)):
            wish = Wish(repository="a/b", issue=number, title="t", body="b", requester="ann", label="bot",
                        trigger_key="bot")  # fmt: skip
            made = tickets.create_ticket(c, wish, now=1.0)
            if made is not None and state is State.DONE:
                tickets.move(c, made, state, now=2.0, outcome=Outcome.RED)


DONE, QUEUED = (("state", "done"), ("outcome", "red")), (("state", "queued"), ("outcome", ""))


def test_what_is_under_way_and_what_is_over_are_counted_together(store: Store) -> None:
    ended(store, 1)
    with store.read() as c:
        assert together(past(c), present(c)) == {
            "sluice_tickets": {DONE: 1, QUEUED: 1}, "sluice_deliveries": {}, "sluice_dollars": {}, "sluice_slots": {},
            "sluice_posts_due": {(): 0.0}, "sluice_hosts": {(): 0.0},
        }  # fmt: skip


@pytest.mark.parametrize(("quick_s", "seen"), [(60.0, [1, 2, 3]), (-1.0, [1, 1, 2])], ids=["quick", "long"])
async def test_what_takes_long_to_count_is_counted_behind_the_answer(
    store: Store, quick_s: float, seen: list[int]
) -> None:
    kept, found = Past(quick_s=quick_s), []
    for issue in (1, 2, 3):
        ended(store, issue)
        found.append((await kept.read(store))["sluice_tickets"][DONE])
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
    assert found == seen
