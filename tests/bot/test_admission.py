"""Which tickets may start, and why the others wait."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tickets.admission import Admit, Decision, Limits, Wait, admit
from bot.tickets.claims import overlap
from bot.tickets.edges import HARD, SOFT, Edge
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


def test_the_chain_ahead_is_counted() -> None:
    decided = admit([ticket(n, "a") for n in (2, 3, 4)], [ticket(1, "a")], limits=Limits(free=8))
    assert words(decided)[4] == "Waits for #1 on `a`, which runs; then 2 more."


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(free=0), "All slots are in use."),
        (Limits(free=8, total=1), "1 tickets run, and the limit is 1."),
        (Limits(free=8, per_repository={"a/b": 1}), "a/b runs 1 tickets, and its limit is 1."),
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


def test_two_that_wait_for_each_other_are_told() -> None:
    decided = admit([ticket(1, "a", edges=((HARD, 2),)), ticket(2, "b", edges=((HARD, 1),))], [], limits=Limits(free=8))
    assert words(decided)[1] == "#1 and #2 each wait for the other: edit one of them."


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
