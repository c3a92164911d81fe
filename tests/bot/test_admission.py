"""Which tickets may start, and why the others wait."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tickets.admission import Admit, Decision, Limits, Wait, admit, chain
from bot.tickets.ahead import Ahead, compiled
from bot.tickets.claims import overlap
from bot.tickets.edges import HARD, NATIVE, PART, SOFT, Edge
from bot.tickets.ticket import State, Ticket


def ticket(
    number: int, *claim: str, repository: str = "a/b", priority: int = 0, edges: tuple[Edge, ...] = ()
) -> Ticket:
    return Ticket(
        id=number, repository=repository, issue=number, title="", body="", text_hash="", requester="", attempt=1, epoch=0,
        state=State.QUEUED, created_at=0, updated_at=0, claim=claim or ("**",), priority=priority, edges=edges,
    )  # fmt: skip


def words(decisions: list[Decision]) -> dict[int, str]:
    return {d.ticket.id: "starts" if isinstance(d, Admit) else d.reason for d in decisions}


def test_disjoint_tickets_of_one_repository_start_together() -> None:
    decided = admit([ticket(1, "src/a"), ticket(2, "src/b")], [], limits=Limits(free=8))
    assert words(decided) == {1: "starts", 2: "starts"}


def test_an_overlapping_ticket_waits_and_names_what_it_waits_for() -> None:
    decided = admit([ticket(2, "src/api/")], [ticket(1, "src/api/x.py")], limits=Limits(free=8))
    assert decided == [Wait(ticket(2, "src/api/"), "Waits for #1 on `src/api/`, which runs.", (1,))]


def test_a_waiting_ticket_blocks_younger_ones_that_overlap_it() -> None:
    decided = admit([ticket(2, "a", "b"), ticket(3, "b")], [ticket(1, "a")], limits=Limits(free=8))
    assert words(decided) == {
        2: "Waits for #1 on `a`, which runs.",
        3: "Waits for #2 on `b`, which is queued before it.",
    }


def test_the_chain_tells_since_when_the_first_runs_and_how_many_more_are_older() -> None:
    first = replace(ticket(12, "src/api/"), started_at=50_520.0)
    queued = [ticket(n, "src/api/") for n in (13, 14, 15, 16)]
    wait = admit(queued, [first], limits=Limits(free=8))[2]
    assert isinstance(wait, Wait)
    assert chain(wait, queued, [first]) == "Waits for #12 on `src/api/`, which runs since 14:02 UTC; then 2 older."
    assert wait.reason == "Waits for #12 on `src/api/`, which runs since 14:02 UTC."  # stays while the queue moves


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(free=0), "All slots are in use."),
        (Limits(free=8, total=1), "1 ticket runs, and the limit is 1."),
        (Limits(free=8, per_repository={"a/b": 1}), "1 ticket runs in a/b, and its limit is 1."),
        (Limits(free=8, paused={"a/b": "release day"}), "a/b is paused: release day. `/bot resume` lets it go on."),
        (Limits(free=8, paused={"*": ""}), "Everything is paused. `/bot resume` lets it go on."),
        (Limits(free=8, exhausted={"a/b": "The day's budget is used up."}), "The day's budget is used up."),
        (Limits(free=8, low_disk="Only 1 GB is free."), "Only 1 GB is free."),
    ],
)
def test_every_limit_says_its_reason(limits: Limits, reason: str) -> None:
    assert words(admit([ticket(2, "b")], [ticket(1, "a")], limits=limits)) == {2: reason}


def test_a_priority_goes_first() -> None:
    decided = admit([ticket(1, "a"), ticket(2, "b", priority=1)], [], limits=Limits(free=1))
    assert words(decided) == {2: "starts", 1: "All slots are in use."}


def test_a_dependency_is_waited_for_and_a_mention_only_beside_it() -> None:
    waiting = [
        ticket(2, "b", edges=((HARD, 1),)),
        ticket(3, "c", edges=((SOFT, 1),)),
        ticket(4, "d", edges=((HARD, 9),)),
    ]
    assert words(admit(waiting, [ticket(1, "a")], limits=Limits(free=8))) == {
        2: "Depends on #1, which is not done.",
        3: "Mentions #1, and the two do not run at the same time.",
        4: "starts",
    }


def test_an_unfinished_issue_without_a_ticket_is_waited_for() -> None:
    decided = admit([ticket(2, "b", edges=((HARD, 9),))], [], limits=Limits(free=8), unfinished={("a/b", 9)})
    assert words(decided) == {2: "Depends on #9, which is not done."}


def test_those_that_wait_for_each_other_are_told_the_circle() -> None:
    after = {1: 3, 2: 1, 3: 2, 4: 1}
    queued = [ticket(n, f"f{n}", edges=((HARD, other),)) for n, other in after.items()]
    circle = "#1, #3 and #2 wait for each other in a circle: edit one of them."
    assert words(admit(queued, [], limits=Limits(free=8))) == {
        1: circle, 2: circle, 3: circle, 4: "Depends on #1, which is not done.",
    }  # fmt: skip


def test_what_waits_for_a_younger_one_does_not_hold_it_up() -> None:
    queued = [ticket(1, "**", edges=((HARD, 2),)), ticket(2, "src/"), ticket(3, "docs/", edges=((SOFT, 1),))]
    assert words(admit(queued, [], limits=Limits(free=8))) == {
        1: "Depends on #2, which is not done.", 2: "starts", 3: "starts",
    }  # fmt: skip


def test_a_part_waits_for_its_whole_unless_the_whole_names_it() -> None:
    queued = [
        ticket(1, "a", edges=((NATIVE, 2),)),
        ticket(2, "b", edges=((PART, 1),)),
        ticket(3, "c", edges=((PART, 1),)),
    ]
    assert words(admit(queued, [], limits=Limits(free=8))) == {
        1: "Depends on #2, which is not done.", 2: "starts", 3: "Is part of #1, which is not done.",
    }  # fmt: skip


SEGMENT = st.sampled_from(["a", "b", "A", "*", "a*", "?", "**", "c.py", "*.py"])
PATH = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join)
MANY = st.lists(st.lists(PATH, min_size=1, max_size=3, unique=True), min_size=1, max_size=9)


@given(MANY)
def test_the_oldest_that_is_met_is_found_as_if_each_had_been_looked_at(claims: list[list[str]]) -> None:
    made = [ticket(n, *claim) for n, claim in enumerate(claims, 1)]
    ahead = Ahead()
    for n, one in enumerate(made):
        slowly = next((other.id for other in made[:n] if overlap(one.claim, other.claim)), None)
        met = ahead.meets(compiled(one.claim))
        assert (None if met is None else met[0].id) == slowly
        ahead.add(one, "runs", compiled(one.claim), is_clear=met is None)


CLAIMS = st.lists(st.sampled_from(["a", "a/b", "b", "*", "a/*", "**", "c/d"]), min_size=1, max_size=2, unique=True)
TICKETS = st.lists(st.tuples(CLAIMS, st.sampled_from(["x/y", "x/z"]), st.integers(0, 1)), max_size=8)


@given(TICKETS, TICKETS, st.integers(0, 4))
def test_no_two_that_run_overlap_and_nobody_starves(queued: list, running: list, free: int) -> None:  # type: ignore[type-arg]
    made = [ticket(n, *claim, repository=repo, priority=p) for n, (claim, repo, p) in enumerate([*running, *queued], 1)]
    old, new = made[: len(running)], made[len(running) :]
    decided = admit(new, old, limits=Limits(free=free))
    started = [d.ticket for d in decided if isinstance(d, Admit)]
    assert sorted(d.ticket.id for d in decided) == sorted(t.id for t in new)
    assert len(started) <= free
    for one in started:
        for other in [*old, *started]:
            assert one is other or one.repository != other.repository or overlap(one.claim, other.claim) is None
    order = sorted(new, key=lambda t: (-t.priority, t.id))
    for one in started:  # no younger one overtakes an older one that it overlaps
        for other in order[: order.index(one)]:
            assert other in started or other.repository != one.repository or overlap(one.claim, other.claim) is None
