"""bot replay: what was delivered and what became of it; read a delivery once more."""

import json
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from bot.commands.arguments import TAKEN_UP
from bot.errors import UserError
from bot.opening import opened
from bot.tickets import deliveries
from bot.tickets.deliveries import Delivery


class _Repository(msgspec.Struct):
    full_name: str = ""


class _Payload(msgspec.Struct):
    """The few fields of a payload that tell one delivery from another."""

    action: str = ""
    repository: _Repository | None = None


@click.command()
@click.argument("delivery", required=False)
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="how many are listed")
@click.option("--json", "as_json", is_flag=True)
def replay(delivery: str | None, limit: int, as_json: bool) -> None:
    """Read one stored delivery again, on purpose; without one, list the latest and what became of each.

    DELIVERY is its X-GitHub-Delivery.
    """
    store, _ = opened()
    if delivery is None:
        with store.read() as c:
            found = [_shown(one) for one in deliveries.latest(c, limit)]
        _print(found, as_json=as_json)
        return
    with store.write() as c:
        if not deliveries.reopen(c, delivery):
            raise UserError(f"no delivery {delivery!r} is stored here with its bytes; `bot replay` lists what is")
    said = f"Delivery {delivery} will be read again. {TAKEN_UP} `bot replay` lists what comes of it."
    click.echo(json.dumps({"delivery": delivery, "state": deliveries.NEW}) if as_json else said)


def _shown(found: Delivery) -> dict[str, Any]:
    try:
        payload = msgspec.json.decode(found.body, type=_Payload)
    except msgspec.DecodeError:  # forgotten by now, or of another shape
        payload = _Payload()
    return {
        "delivery": found.guid, "received": datetime.fromtimestamp(found.received_at, UTC).isoformat("T", "seconds"),
        "event": f"{found.event}.{payload.action}" if payload.action else found.event,
        "repository": payload.repository.full_name if payload.repository else "",
        "state": found.state, "reason": found.reason, "tries": found.tries,
    }  # fmt: skip


def _print(found: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"deliveries": found}, indent=2))
    elif not found:
        click.echo("Nothing was delivered yet; `bot doctor --github` tells whether the forge reaches the bot.")
    for one in () if as_json else found:
        click.echo("\t".join(one[key] for key in ("received", "delivery", "event", "repository", "state", "reason")))
