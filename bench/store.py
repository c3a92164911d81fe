"""What the store's questions cost with a million past tickets, on SQLite or, with `--url`, on PostgreSQL."""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.dashboard.pages import PAGE
from bot.measure.claims import compared
from bot.tickets import deliveries, held, hosts, journal, ledger, open_issues, posts, repositories, scheduler, tickets
from bot.tickets.counts import past, present
from bot.tickets.edges import HARD
from bot.tickets.queue import Queue
from bot.tickets.scheduler import Here
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.ticket import State
from bot.tickets.tickets import Wish

MOST_MS = 50.0
BEHIND = "... counted behind the answer"  # nobody waits for it
NOW = 1_700_000_000.0
REPO = "acme/r1"
# what belongs to a past ticket, made by the database itself: `i` counts from 1
FILL = {
    "tickets": (
        "repository, issue, label, trigger_key, title, body, text_hash, requester, state, outcome, claim, branch,"
        "head_sha, pull, created_at, updated_at",
        "'acme/r' || (i % 50), i, 'bot', 'bot', 'A title of some length', 'A body of some length', 'h', 'ann', 'done',"
        "CASE WHEN i % 5 = 0 THEN 'red' ELSE 'merged' END, '[\"src/a.py\"]', 'sluice/issue-' || i, 'sha' || i, i,"
        "1.6e9 + i, 1.6e9 + i",
    ),
    "attempts": (
        "ticket, number, title, body, text_hash, claim, touched, started_at, ended_at",
        "i, 1, 'A title', 'A body', 'h', '[\"src/a.py\"]', '[\"src/a.py\", \"docs/b.md\"]', 1.6e9 + i, 1.6e9 + i + 60",
    ),
    "stage_times": ("ticket, attempt, stage, started_at, seconds", "i, 1, 'edit', 1.6e9 + i, 60"),
    "ledger": (
        "day, repository, ticket, attempt, round, model, input_tokens, output_tokens, cache_read_tokens,"
        "cache_write_tokens, dollars",
        "'2023-' || (10 + i % 3) || '-' || (10 + i % 18), 'acme/r' || (i % 50), i, 1, 1, 'm', 10, 10, 10, 10, 0.1",
    ),
    "posts": (
        "key, kind, repository, wanted, wanted_version, posted_version, posted, remote, updated_at",
        "'comment:acme/r' || (i % 50) || '#' || i, 'comment', 'acme/r' || (i % 50), '{}', 3, 3, '{}', 'x', 1.6e9",
    ),
    "deliveries": ("guid, event, body, received_at, state", "'g' || i, 'issues', '', 1.6e9 + i, 'done'"),
    "marks": ("repository, issue, what, is_on, at", "'acme/r' || (i % 50), i, 'open', false, 1.6e9 + i"),
}


def fill(store: Store, count: int, queued: int) -> None:
    """Put past tickets with all that belongs to each into an empty store, and a queue behind them."""
    counted = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count:d})"
    with store.write() as c:
        for table, (columns, values) in FILL.items():
            c.exec_driver_sql(f"{counted} INSERT INTO {table} ({columns}) SELECT {values} FROM n".replace("%", "%%")
                              if c.dialect.name == "postgresql" else
                              f"{counted} INSERT INTO {table} ({columns}) SELECT {values} FROM n")  # fmt: skip
        for n in range(1, queued + 1):
            edges = ((HARD, n),) if n % 3 == 0 else ()
            issue, repository = count + n, f"acme/r{n % 50}"
            wish = Wish(
                repository=repository, issue=issue, title="t", body="b" * 2000, requester="ann", label="bot",
                trigger_key="bot", claim=(f"src/m{n}/",), edges=edges,
            )  # fmt: skip
            tickets.create_ticket(c, wish, now=NOW)
        posts.want(c, "comment:x", "comment", repository=REPO, installation=None, wanted={"a": 1}, now=NOW)
    if store.engine.dialect.name == "postgresql":  # as its autovacuum does by itself a little later
        with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
            c.exec_driver_sql("ANALYZE")


def questions() -> dict[str, Callable[[sa.Connection], Any]]:
    """Return what is asked of the store while the bot works, and by people."""
    here = Here(free_slots=8, now=NOW)
    live = (State.RUNNING, State.QUEUED, State.NEEDS_APPROVAL)
    return {
        "admission": lambda c: scheduler.decide(c, here),
        "held tickets": lambda c: held.release(c, now=NOW),
        "why": lambda c: scheduler.explain(c, tickets.list_tickets(c, states=(State.QUEUED,), limit=1)[0], now=NOW),
        "dependencies": lambda c: open_issues.unfinished(c, Queue().read(c)[0]),
        "what this host holds": lambda c: hosts.held(c, "h"),
        "pages: in flight": lambda c: tickets.list_tickets(c, states=live, limit=PAGE),
        "pages: ended": lambda c: tickets.list_tickets(c, states=(State.DONE,), limit=PAGE),
        "bot tickets list": lambda c: tickets.list_tickets(c, limit=50),
        "... of a repository": lambda c: tickets.list_tickets(c, repository=REPO, limit=50),
        "... ended, of a quiet repository": lambda c: tickets.list_tickets(c, repository="acme/new", limit=50),
        "... an old page": lambda c: tickets.list_tickets(c, before=1000, limit=50),
        "a ticket by its issue": lambda c: tickets.find_ticket(c, REPO, 1),
        "... by its pull request": lambda c: tickets.find_by_pull(c, REPO, 1),
        "... by its commit": lambda c: tickets.find_by_head(c, REPO, "sha1"),
        "a ticket's seconds": lambda c: journal.times_of(c, 1, 1),
        "a ticket's log": lambda c: journal.lines_after(c, 1, 0),
        "a day's spending": lambda c: ledger.spent(c, day="2023-11-15", repository=REPO),
        "a ticket's spending": lambda c: ledger.spent(c, ticket=1),
        "unread deliveries": lambda c: deliveries.unread(c, after=0, limit=200),
        "due posts": lambda c: posts.due(c, NOW),
        "next due post": lambda c: posts.next_due_at(c, NOW),
        "repositories": repositories.known,
        "repositories with tickets": tickets.repositories_of,
        "bot stats claims": lambda c: compared(c, limit=50),
        "... of a quiet repository": lambda c: compared(c, repository="acme/new", limit=50),
        "bot stats claims --repo": lambda c: compared(c, repository=REPO, limit=50),
        "/metrics": present,
        BEHIND: past,
    }


def measured(store: Store) -> dict[str, float]:
    """Return the best of some runs of each question, in milliseconds."""
    # SQLite works in this process: its own seconds count there, not those in which other programs ran
    clock = time.process_time if store.engine.dialect.name == "sqlite" else time.perf_counter
    found = {}
    for name, ask in questions().items():
        took = []
        ends_at = time.perf_counter() + 0.5
        while len(took) < 3 or (len(took) < 30 and time.perf_counter() < ends_at):
            with store.read() as c:
                began = clock()
                ask(c)
                took.append((clock() - began) * 1e3)
        found[name] = min(took)
    return found


def main() -> None:
    """Print milliseconds a question; `--hold` ends with 1 where one takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tickets", type=int, default=1_000_000)
    parser.add_argument("--queued", type=int, default=100)
    parser.add_argument("--url", default="", help="of an empty database")
    parser.add_argument("--short", action="store_true", help="ten thousand past tickets")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hold", action="store_true", help=f"end with 1 where any takes over {MOST_MS:g} ms")
    asked = parser.parse_args()
    count = 10_000 if asked.short else asked.tickets
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        store = open_store(asked.url or sqlite_url(Path(folder) / "s.db"))
        began = time.perf_counter()
        fill(store, count, asked.queued)
        filled_s = time.perf_counter() - began
        found = measured(store)
        kind = store.engine.dialect.name
        store.close()
    if asked.json:
        print(json.dumps({"database": kind, "tickets": count, "queued": asked.queued, "ms": found}, indent=2))
    else:
        print(f"{count:,} past and {asked.queued:,} queued tickets, {kind} (filled in {filled_s:.0f} s)")
        for name, ms in found.items():
            print(f"{name:<36} {ms:>9.2f} ms{'  <- slow' if ms > MOST_MS and name != BEHIND else ''}")
    slow = [name for name, ms in found.items() if ms > MOST_MS and name != BEHIND]
    if slow and asked.hold:
        raise SystemExit(f"expected at most {MOST_MS:g} ms, got more for: {', '.join(slow)}")


if __name__ == "__main__":
    main()
