"""Storing tickets: idempotency, states, fences."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from bot.tickets import held, hosts, scheduler, tickets
from bot.tickets.scheduler import Here
from bot.tickets.store import Store
from bot.tickets.ticket import Outcome, State, Ticket
from bot.tickets.tickets import IllegalMove, Wish

WISH = Wish(
    repository="acme/shop", issue=1, title="t", body="b", requester="ann", label="bot", trigger_key="bot:1",
    claim=("src/",), edges=(("after", 3),),
)  # fmt: skip


def test_a_wish_becomes_a_queued_ticket_with_its_first_attempt(store: Store) -> None:
    with store.write() as c:
        ticket = tickets.create_ticket(c, WISH, now=1.0)
        assert ticket is not None
        assert (ticket.state, ticket.attempt, ticket.claim, ticket.edges) == (
            State.QUEUED, 1, ("src/",), (("after", 3),),
        )  # fmt: skip
        assert tickets.find_attempt(c, ticket.id, 1) == tickets.Attempt(
            ticket.id, 1, "t", "b", ticket.text_hash, claim=("src/",)
        )


def test_the_same_trigger_makes_no_second_ticket(store: Store) -> None:
    with store.write() as c:
        tickets.create_ticket(c, WISH, now=1.0)
        assert tickets.create_ticket(c, WISH, now=2.0) is None


def test_an_unapproved_wish_waits_for_approval(store: Store) -> None:
    with store.write() as c:
        ticket = tickets.create_ticket(c, replace(WISH, approved=False), now=1.0)
        assert ticket is not None
        assert ticket.state is State.NEEDS_APPROVAL


def test_a_ticket_that_is_done_cannot_run(store: Store) -> None:
    with store.write() as c:
        ticket = tickets.create_ticket(c, WISH, now=1.0)
        assert ticket is not None
        done = tickets.move(c, ticket, State.DONE, now=2.0, outcome=Outcome.CANCELLED)
        with pytest.raises(IllegalMove, match="ticket 1 is done; from there it cannot become running"):
            tickets.take(c, done, "a", 3.0)


def test_a_late_write_of_an_older_epoch_changes_nothing(store: Store) -> None:
    with store.write() as c:
        ticket = tickets.create_ticket(c, WISH, now=1.0)
        assert ticket is not None
        taken = tickets.take(c, ticket, "a", 2.0)
        assert tickets.write_fenced(c, taken.id, taken.epoch - 1, head_sha="old") is False
        assert tickets.write_fenced(c, taken.id, taken.epoch, head_sha="new") is True
        assert tickets.get_ticket(c, taken.id).head_sha == "new"


def test_a_new_attempt_claims_what_the_last_one_touched(store: Store) -> None:
    with store.write() as c:
        ticket = tickets.create_ticket(c, WISH, now=1.0)
        assert ticket is not None
        tickets.update_attempt(c, ticket.id, 1, touched=["src/a.py", "docs/b.md"])
        done = tickets.move(c, ticket, State.DONE, now=2.0, outcome=Outcome.RED)
        again = tickets.requeue(c, done, title="t2", body="b2", feedback="more", now=3.0)
        assert (again.state, again.attempt, again.claim, again.title, again.outcome) == (
            State.QUEUED, 2, ("src/a.py", "docs/b.md"), "t2", None,
        )  # fmt: skip


def test_cancelling_a_queued_ticket_ends_it_and_a_running_one_is_asked_to_stop(store: Store) -> None:
    with store.write() as c:
        first = tickets.create_ticket(c, WISH, now=1.0)
        second = tickets.create_ticket(c, replace(WISH, issue=2), now=1.0)
        assert first is not None
        assert second is not None
        tickets.take(c, second, "a", 2.0)
        tickets.request_cancel(c, first.id, "label off", 3.0)
        tickets.request_cancel(c, second.id, "label off", 3.0)
        ended, asked = tickets.get_ticket(c, first.id), tickets.get_ticket(c, second.id)
        assert (ended.state, ended.outcome, asked.state, asked.cancel_requested) == (
            State.DONE, Outcome.CANCELLED, State.RUNNING, True,
        )  # fmt: skip


def test_a_tick_takes_no_more_than_there_are_slots(store: Store) -> None:
    with store.write() as c:
        for number in (1, 2, 3):
            tickets.create_ticket(c, replace(WISH, repository=f"acme/{number}"), now=1.0)
    taken = scheduler.tick(store, Here(free_slots=2, now=5.0), host="a")
    assert [(t.id, t.state, t.host, t.epoch) for t in taken] == [
        (1, State.RUNNING, "a", 1),
        (2, State.RUNNING, "a", 1),
    ]


def test_what_a_dead_host_held_goes_to_one_living_host_at_a_new_epoch(store: Store) -> None:
    with store.write() as c:
        made = tickets.create_ticket(c, WISH, now=1.0)
        assert made is not None
        held = tickets.take(c, made, "dead", 2.0)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda n: _orphans(store, f"h{n}"), range(8)))
    with store.write() as c:
        now = tickets.get_ticket(c, held.id)
        late = tickets.write_fenced(c, held.id, held.epoch, head_sha="late")
    assert (sum(map(len, taken)), now.host in {f"h{n}" for n in range(8)}, now.epoch, late) == (
        1, True, held.epoch + 1, False,
    )  # fmt: skip


def _orphans(store: Store, host: str) -> Sequence[Ticket]:
    with store.write() as c:
        return hosts.take_orphans(c, ["dead"], host=host, most=5, now=3.0)


def test_a_host_is_dead_once_its_beats_stand_still_for_long_enough(store: Store) -> None:
    times = iter((0.0, 0.0, 10.0, 20.0, 29.0, 30.0))
    watch = hosts.Watch("me", dead_s=30.0, clock=lambda: next(times))
    seen = []
    with store.write() as c:
        for name in ("me", "lives", "dies"):
            hosts.beat(c, name, slots=1)
        for _ in range(5):
            hosts.beat(c, "lives", slots=1)
            seen.append(watch.dead(c))
    assert seen == [[], [], [], [], ["dies"]]


def test_who_was_away_itself_takes_nobody_for_dead(store: Store) -> None:
    times = iter((0.0, 0.0, 100.0, 110.0, 120.0, 130.0))
    watch = hosts.Watch("me", dead_s=30.0, clock=lambda: next(times))
    with store.write() as c:
        hosts.beat(c, "dies", slots=1)
        seen = [watch.dead(c) for _ in range(5)]
    assert seen == [[], [], [], [], ["dies"]]


def test_two_hosts_never_take_the_same_ticket(store: Store) -> None:
    with store.write() as c:
        for number in range(1, 41):
            tickets.create_ticket(c, replace(WISH, issue=number, claim=(f"src/{number}",), edges=()), now=1.0)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda n: scheduler.tick(store, Here(free_slots=15, now=2.0), host=f"h{n}"), range(4)))
    ids = [t.id for host in taken for t in host]
    assert (len(ids), len(set(ids))) == (40, 40)


def test_what_is_held_for_another_goes_on_from_its_work_once_that_no_longer_runs(store: Store) -> None:
    with store.write() as c:
        first, second = (tickets.create_ticket(c, replace(WISH, issue=n), now=1.0) for n in (1, 2))
        assert first is not None
        assert second is not None
        other = tickets.take(c, first, "a", 2.0)
        tickets.update_attempt(c, second.id, 1, touched=["src/a.py"], head_sha="work")
        fields = {"outcome": Outcome.HELD, "held_for": other.id}
        tickets.move(c, tickets.take(c, second, "a", 2.0), State.DONE, now=3.0, **fields)
        assert held.release(c, now=4.0) == []
        tickets.move(c, other, State.DONE, now=5.0, outcome=Outcome.PROPOSED)
        [again] = held.release(c, now=6.0)
        assert (again.id, again.state, again.attempt, again.resume_sha, again.held_for, again.claim) == (
            second.id, State.QUEUED, 2, "work", None, ("src/a.py",),
        )  # fmt: skip
        assert held.release(c, now=7.0) == []


def test_what_is_held_for_another_can_be_cancelled(store: Store) -> None:
    with store.write() as c:
        ticket = tickets.create_ticket(c, WISH, now=1.0)
        assert ticket is not None
        tickets.move(c, ticket, State.DONE, now=3.0, outcome=Outcome.HELD, held_for=99)
        tickets.request_cancel(c, ticket.id, "enough", 4.0)
        gone = tickets.get_ticket(c, ticket.id)
        assert (gone.outcome, gone.reason, gone.is_over) == (Outcome.CANCELLED, "enough", True)
        assert held.release(c, now=5.0) == []
