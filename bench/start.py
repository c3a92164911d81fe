"""Milliseconds from a delivery to a ticket's first stage when a slot is free, on SQLite and on PostgreSQL.

A label is put on an issue of the local forge; the clock starts when the webhook's bytes arrive, and stops when the
stage is written. The repository has no gate, so that each ticket ends right behind its first stage.
"""

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import sqlalchemy as sa
from pydantic import SecretStr

from bot.app import Service
from bot.demo import loop
from bot.forges.local import LocalForge
from bot.settings import Settings
from bot.tickets import journal, tickets
from bot.tickets.schema import deliveries
from bot.tickets.ticket import State
from tests.postgres import PostgresServer, programs

REPO = "acme/plain"
MOST_MS = 100.0


async def measured(folder: Path, url: str, count: int) -> list[float]:
    """Return the milliseconds of each of `count` tickets, one after the other; the first one warms up."""
    forge = LocalForge(folder / "forge")
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.add_user("ann", {REPO: "write"})
    settings = Settings(
        data=folder / "bot", port=0, name="bench", api_url=forge.api_url, git_url=forge.url, app_id=forge.app_id,
        private_key=SecretStr(forge.private_key), webhook_secret=SecretStr(forge.secret), database_url=url, slots=2,
    )  # fmt: skip
    found = []
    async with loop.serving(settings) as (service, address):
        forge.hooks.target = f"{address}/webhook"
        for number in range(1, count + 2):
            forge.open_issue(REPO, f"Issue {number}", "Paths: a.txt", user="ann")
            forge.label_issue(REPO, number, "bot", user="ann")
            found.append(await one(service, number))
        await service.drain()
    forge.close()
    return found[1:]


async def one(service: Service, number: int) -> float:
    """Return the milliseconds from delivery to first stage of an issue's ticket, once that has ended."""
    with service.bell.listen() as listener:
        while True:
            with service.store.read() as c:
                ticket = tickets.find_ticket(c, REPO, number)
                if ticket is not None and ticket.state is State.DONE:
                    began = next(ln.at for ln in journal.lines_after(c, ticket.id, 0) if ln.line == "stage prepare")
                    return (began - labeled_at(c, number)) * 1e3
            await listener.wait(5.0)


def labeled_at(c: sa.Connection, number: int) -> float:
    """Return when the delivery arrived that says somebody put the label on an issue."""
    latest = sa.select(deliveries.c.body, deliveries.c.received_at).where(deliveries.c.event == "issues")
    for row in c.execute(latest.order_by(deliveries.c.seq.desc()).limit(50)):
        said = json.loads(row.body)
        if (said["action"], said["issue"]["number"], said.get("label", {}).get("name")) == ("labeled", number, "bot"):
            return float(row.received_at)
    raise LookupError(f"no delivery labels issue {number}")


def main() -> int:
    """Print a line a database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tickets", type=int, default=15)
    parser.add_argument("--short", action="store_true", help="three tickets")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hold", action="store_true", help=f"end with 1 where the median is over {MOST_MS:g} ms")
    asked = parser.parse_args()
    count = 3 if asked.short else asked.tickets
    found = {}
    for kind in ("sqlite", *(["postgresql"] if programs() else [])):
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sluice-bench-")))
            server = stack.enter_context(PostgresServer()) if kind == "postgresql" else None
            url = server.create_database() if server else ""
            found[kind] = asyncio.run(measured(folder, url, count))
    if asked.json:
        print(json.dumps({"ms": found, "median_ms": {kind: statistics.median(ms) for kind, ms in found.items()}}))
    else:
        print(f"{'delivery to first stage':<26} {'median':>8} {'least':>8} {'most':>8}   {count} tickets")
        for kind, ms in found.items():
            print(f"{kind:<26} {statistics.median(ms):>5.0f} ms {min(ms):>5.0f} ms {max(ms):>5.0f} ms")
    return int(asked.hold and any(statistics.median(ms) > MOST_MS for ms in found.values()))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the engine's threads are not waited for
