"""Deliveries that never arrived."""

from bot.forges.answers import Delivery
from bot.forges.missed import absent, missed


def test_each_that_never_arrived_is_asked_for_once_oldest_first() -> None:
    listed = [
        Delivery(7, "late", "failed to connect: ECONNREFUSED"),
        Delivery(6, "twice", "timed out"),
        Delivery(5, "mended", "OK", redelivery=True),
        Delivery(4, "twice", "Invalid HTTP Response: 502", 502),
        Delivery(3, "mended", "Invalid HTTP Response: 500", 500),
        Delivery(2, "here", "timed out"),
        Delivery(1, "fine", "OK", 202),
    ]
    assert [delivery.id for delivery in missed(listed, {"here"})] == [6, 7]


def test_news_of_checks_ask_nothing_and_are_left_where_they_are() -> None:
    listed = [
        Delivery(4, "d", "OK", 200, "check_suite", "completed"),
        Delivery(3, "c", "timed out", 0, "check_run", "rerequested"),
        Delivery(2, "b", "timed out", 0, "check_run", "completed"),
        Delivery(1, "a", "OK", 200, "issues", "labeled"),
    ]
    assert ([d.id for d in missed(listed, set())], [d.id for d in absent(listed, set())]) == ([3], [1, 3])
