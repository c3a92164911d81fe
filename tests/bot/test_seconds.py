"""Where an attempt's seconds went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tickets.seconds import Spent, Time, by_stage, parts, saved, total

COLD = {"clone": 20.0, "worktree": 1.0, "install": 91.0}
TIMES = st.lists(
    st.builds(
        Time, stage=st.sampled_from(["prepare", "edit", "verify"]), seconds=st.floats(0, 1e6),
        part=st.sampled_from(["", "fetch", "install", "model"]),
        kind=st.sampled_from(["infrastructure", "model", "tools", "gate", "step"]),
    )
)  # fmt: skip


def test_repeated_runs_of_a_stage_are_one_row_split_by_kind() -> None:
    found = by_stage(
        [
            Time("edit", 20.0, "model", "model"), Time("edit", 5.0, "tools", "tools"), Time("edit", 26.0),
            Time("verify", 3.0, "steps", "gate"), Time("verify", 2.0, "lint", "step"), Time("verify", 3.0, "test", "step"),
            Time("verify", 3.5), Time("edit", 4.0, "model", "model"), Time("edit", 4.0),
        ]
    )  # fmt: skip
    assert found == [Spent("edit", 30.0, 1.0, 24.0, 5.0, 0.0), Spent("verify", 3.5, 0.5, 0.0, 0.0, 3.0)]


@given(TIMES)
def test_no_second_is_lost_or_counted_twice(times: list[Time]) -> None:
    whole = total(by_stage(times))
    stages = {t.stage for t in times if not t.part and t.seconds}
    known = sum(t.seconds for t in times if t.part and t.kind in ("model", "tools", "gate") and t.stage in stages)
    assert whole.infrastructure >= 0.0
    assert whole.infrastructure + known >= whole.seconds * (1 - 1e-9)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ([], 0.0),
        ([Time("prepare", 0.2, "fetch"), Time("prepare", 0.3, "checkout")], 111.5),
        ([Time("prepare", 0.3, "checkout"), Time("prepare", 12.0, "update")], 99.7),
        ([Time("prepare", 20.0, "clone"), Time("prepare", 1.0, "worktree"), Time("prepare", 91.0, "install")], 0.0),
    ],
    ids=["no slot was made ready", "warm", "dependencies changed", "cold"],
)
def test_warmth_saves_what_cold_parts_cost_less_what_was_paid(times: list[Time], seconds: float) -> None:
    assert saved(times, COLD) == pytest.approx(seconds)


def test_parts_add_up_to_their_stage() -> None:
    steps = [Time("verify", 2.0, "steps", "gate"), Time("verify", 2.0, "test", "step"), Time("verify", 2.5)]
    assert parts([Time("prepare", 0.4, "fetch"), Time("prepare", 0.4), *steps, Time("close", 0.2, "reset")]) == [
        Time("prepare", 0.4, "fetch"), *steps[:2], Time("verify", 0.5, "all else"), Time("close", 0.2, "reset"),
    ]  # fmt: skip
