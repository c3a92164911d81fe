"""Deliveries that never arrived."""

from bot.forges.answers import Delivery
from bot.forges.missed import missed


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
