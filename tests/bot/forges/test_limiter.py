"""How long the limiter makes one wait."""

from hypothesis import given
from hypothesis import strategies as st

from bot.forges.limiter import Limiter, Window


def test_a_window_that_is_full_tells_when_the_oldest_leaves() -> None:
    window = Window(3, 60.0)
    for now in (0.0, 10.0, 20.0):
        window.take(1, now)
    assert [window.wait_s(1, 20.0), window.wait_s(2, 20.0), window.wait_s(1, 60.0)] == [40.0, 50.0, 0.0]


def test_reading_costs_one_point_and_writing_five() -> None:
    limiter = Limiter()
    for _ in range(169):
        limiter.take(0.0, is_write=True)
    limiter.take(1.0, is_write=False)
    assert [limiter.wait_s(1.0, is_write=False), limiter.wait_s(1.0, is_write=True)] == [0.0, 59.0]


def test_what_people_see_is_limited_by_minute_and_by_hour() -> None:
    limiter = Limiter()
    for second in range(480):
        limiter.take(second * 2.0, is_write=True, is_content=True)
    waits = [limiter.wait_s(960.0, is_write=True, is_content=True), limiter.wait_s(960.0, is_write=True)]
    assert waits == [2640.0, 0.0]


def test_a_block_holds_until_its_end() -> None:
    limiter = Limiter()
    limiter.block(100.0)
    limiter.block(50.0)
    assert [limiter.wait_s(40.0, is_write=False), limiter.wait_s(101.0, is_write=False)] == [60.0, 0.0]


@given(st.lists(st.floats(0.0, 5.0), max_size=300))
def test_who_waits_as_told_never_passes_the_limit(pauses: list[float]) -> None:
    window, now, taken = Window(10, 60.0), 0.0, []
    for pause in pauses:
        now += pause
        now += window.wait_s(1, now)
        window.take(1, now)
        taken.append(now)
    assert all(sum(1 for at in taken if end - 59.999 < at <= end) <= 10 for end in taken)
