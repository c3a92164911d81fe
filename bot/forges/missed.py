"""Which webhook deliveries never arrived: what to ask the forge for again. No I/O."""

from collections.abc import Collection, Sequence

from bot.forges.answers import Delivery


def missed(listed: Sequence[Delivery], arrived: Collection[str]) -> list[Delivery]:
    """Return the newest try of each delivery that no try brought through and that we do not hold, oldest first.

    `arrived` are the guids that we hold. A guid stays the same over redeliveries; "OK" is how GitHub says it worked.
    """
    newest: dict[str, Delivery] = {}
    for delivery in listed:  # newest first
        newest.setdefault(delivery.guid, delivery)
    done = {delivery.guid for delivery in listed if delivery.status == "OK"} | set(arrived)
    return [delivery for guid, delivery in reversed(newest.items()) if guid not in done]
