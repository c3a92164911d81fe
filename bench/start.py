"""Milliseconds from a delivery to a ticket's first stage when a slot is free, on SQLite and on PostgreSQL.

The bot is a process of its own. A label is put on an issue of the local forge; the clock starts when the webhook's
bytes of that label arrive, and stops when the stage is written. The repository has no gate, so that each ticket ends
right behind its first stage; the next label comes once all that the last one brought about is told and read.
"""

import argparse
import contextlib
import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import sqlalchemy as sa

from bot.forges.local import LocalForge
from bot.tickets import deliveries, journal, posts, tickets
from bot.tickets.schema import deliveries as arrived
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.ticket import State
from tests.bot.living import Bot
from tests.postgres import PostgresServer, programs

REPO = "acme/plain"
MOST_MS = 100.0
LIMIT_S = 60.0
LOOK_S = 0.05  # between two looks at whether a ticket is over


def measured(folder: Path, url: str, count: int) -> list[float]:
    """Return the milliseconds of each of `count` tickets, one after the other; the first one warms up."""
    forge = LocalForge(folder / "forge")
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.add_user("ann", {REPO: "write"})
    for number in range(1, count + 2):
        forge.open_issue(REPO, f"Issue {number}", "Paths: a.txt", user="ann")
    more = {"BOT_DATABASE_URL": url} if url else {}
    found = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.closing(forge))
        stack.enter_context(Bot(folder, forge, "http://127.0.0.1:9", BOT_SLOTS="2", **more))
        store = stack.enter_context(contextlib.closing(open_store(url or sqlite_url(folder / "bot/sluice.db"))))
        for number in range(1, count + 2):
            forge.label_issue(REPO, number, "bot", user="ann")
            until(lambda number=number: is_over(store, number))
            found.append(took_ms(store, number))
    return found[1:]


def until(is_so: Callable[[], bool]) -> None:
    """Look again and again until it is so; raises TimeoutError where it never is."""
    for _ in range(round(LIMIT_S / LOOK_S)):
        threading.Event().wait(LOOK_S)
        if is_so():
            return
    raise TimeoutError(f"not over within {LIMIT_S:g} s")


def is_over(store: Store, number: int) -> bool:
    """Return whether an issue's ticket has ended, all of it was told, and all deliveries of that were read."""
    with store.read() as c:
        ticket = tickets.find_ticket(c, REPO, number)
        ended = ticket is not None and ticket.state is State.DONE
        return ended and posts.next_due_at(c, 0.0) is None and not deliveries.unread(c)


def took_ms(store: Store, number: int) -> float:
    """Return the milliseconds between the delivery of an issue's label and its ticket's first stage."""
    with store.read() as c:
        ticket = tickets.find_ticket(c, REPO, number)
        if ticket is None:
            raise LookupError(f"issue {number} has no ticket")
        came = sa.select(arrived.c.received_at).where(arrived.c.reason == f"ticket {ticket.id}: queued")
        began = next(line.at for line in journal.lines_after(c, ticket.id, 0) if line.line == "stage prepare")
        return (began - float(c.execute(came).scalar_one())) * 1e3


def main() -> int:
    """Print a line a database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tickets", type=int, default=9)
    parser.add_argument("--short", action="store_true", help="three tickets")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), help="only this one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hold", action="store_true", help=f"end with 1 where the median is over {MOST_MS:g} ms")
    asked = parser.parse_args()
    count = 3 if asked.short else asked.tickets
    found = {}
    for kind in [asked.database] if asked.database else ["sqlite", *(["postgresql"] if programs() else [])]:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sluice-bench-")))
            server = stack.enter_context(PostgresServer()) if kind == "postgresql" else None
            found[kind] = measured(folder, server.create_database() if server else "", count)
    if asked.json:
        print(json.dumps({"ms": found, "median_ms": {kind: statistics.median(ms) for kind, ms in found.items()}}))
    else:
        print(f"{'delivery to first stage':<26} {'median':>8} {'least':>8} {'most':>8}   {count} tickets")
        for kind, ms in found.items():
            print(f"{kind:<26} {statistics.median(ms):>5.0f} ms {min(ms):>5.0f} ms {max(ms):>5.0f} ms")
    return int(asked.hold and any(statistics.median(ms) > MOST_MS for ms in found.values()))


if __name__ == "__main__":
    sys.exit(main())
