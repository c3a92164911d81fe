"""Which webhook deliveries never arrived: what to ask the forge for again. No I/O."""

from collections.abc import Collection, Sequence

from bot.forges.answers import Delivery

# a busy repository's checks are most of what an App hears, and nothing in them but this asks for anything
CHECKS = frozenset({"check_run", "check_suite"})
ASKING = frozenset({"rerequested", "requested_action"})


def missed(listed: Sequence[Delivery], arrived: Collection[str]) -> list[Delivery]:
    """Return the newest try of each delivery that no try brought through and that we do not hold, oldest first.

    `arrived` are the guids that we hold. A guid stays the same over redeliveries; "OK" is how GitHub says it worked.
    """
    done = {delivery.guid for delivery in listed if delivery.status == "OK"}
    return [delivery for delivery in absent(listed, arrived) if delivery.guid not in done]


def absent(listed: Sequence[Delivery], arrived: Collection[str]) -> list[Delivery]:
    """Return the newest try of each delivery that may ask for something and that we do not hold, oldest first."""
    newest: dict[str, Delivery] = {}
    for delivery in listed:  # newest first
        newest.setdefault(delivery.guid, delivery)
    return [d for guid, d in reversed(newest.items()) if guid not in arrived and _may_ask(d)]


def _may_ask(delivery: Delivery) -> bool:
    return delivery.event not in CHECKS or delivery.action in ASKING
