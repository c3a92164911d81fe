"""50 tickets with disjoint claims in one repository on 8 slots, against the serial rule and the bound of any rule.

The store, the queue, every tick and every write are real; a ticket's work is a timer, so that the rules are measured
and not the cores of this machine. Who comes first is served first, so by how the last tickets fall, 5 to 12 % of the
slots' time is idle at the end; "on paper" is that alone, from `bot schedule`'s simulation.
"""

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.measure.schedule import Planned, simulate
from bot.tickets import scheduler, tickets
from bot.tickets.scheduler import Here
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.ticket import Outcome, State, Ticket
from bot.tickets.tickets import Wish
from tests.postgres import PostgresServer, programs

TICKETS, SLOTS = 50, 8
MOST = 1.1  # of the bound


async def played(store: Store, work_s: dict[int, float], *, total: int) -> float:
    """Return the seconds from the first tick to the last end; `total` tickets at once are let in, 0 for no limit."""
    freed = asyncio.Event()
    running: set[asyncio.Task[None]] = set()

    async def work(ticket: Ticket) -> None:
        await asyncio.sleep(work_s[ticket.issue])
        with store.write() as c:
            tickets.move(c, ticket, State.DONE, now=time.time(), outcome=Outcome.PROPOSED)
        freed.set()

    began, ended = time.perf_counter(), 0
    while ended < len(work_s):
        freed.clear()
        here = Here(free_slots=SLOTS - len(running), now=time.time(), total=total)
        for ticket in await asyncio.to_thread(scheduler.tick, store, here, host="bench"):
            running.add(asyncio.create_task(work(ticket)))
        await freed.wait()
        done = {task for task in running if task.done()}
        running -= done
        ended += len(done)
    return time.perf_counter() - began


async def beside(store: Store, serial: Store | None, work_s: dict[int, float]) -> dict[str, float]:
    """Return the seconds of the rule in force, and of the serial one at the same time."""
    rules = {"disjoint": (store, 0), **({"serial": (serial, 1)} if serial else {})}
    for one, _ in rules.values():
        fill(one, TICKETS)
    took = await asyncio.gather(*(played(one, work_s, total=total) for one, total in rules.values()))
    for one, _ in rules.values():
        one.close()
    return dict(zip(rules, took, strict=True))


def fill(store: Store, count: int) -> None:
    """Queue tickets whose claims are disjoint."""
    with store.write() as c:
        for n in range(1, count + 1):
            wish = Wish(
                repository="acme/app", issue=n, title="t", body="b", requester="ann", label="bot", trigger_key="bot",
                claim=(f"src/m{n}/", f"tests/test_m{n}.py"),
            )  # fmt: skip
            tickets.create_ticket(c, wish, now=time.time())


def main() -> int:
    """Print both rules beside the bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a quarter of the seconds")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hold", action="store_true", help=f"end with 1 where it takes over {MOST:g} times the bound")
    asked = parser.parse_args()
    dice = random.Random(2)
    scale = 0.25 if asked.short else 1.0
    work_s = {n: scale * dice.uniform(1.0, 3.0) for n in range(1, TICKETS + 1)}
    bound_s = max(sum(work_s.values()) / SLOTS, max(work_s.values()))
    planned = [Planned(n, "acme/app", 0.0, seconds, (f"src/m{n}/",)) for n, seconds in work_s.items()]
    found = {"disjoint, on paper": simulate(planned, slots=SLOTS, policy="disjoint").makespan_s}
    for kind in ("sqlite", *(["postgresql"] if programs() else [])):
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(PostgresServer()) if kind == "postgresql" else None
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sluice-bench-")))
            store = open_store(server.create_database() if server else sqlite_url(folder / "disjoint.db"))
            serial = open_store(sqlite_url(folder / "serial.db")) if kind == "sqlite" else None
            both = asyncio.run(beside(store, serial, work_s))
            found |= {f"{rule}, {kind}": seconds for rule, seconds in both.items()}
    if asked.json:
        print(json.dumps({"tickets": TICKETS, "slots": SLOTS, "bound_s": bound_s, "seconds": found}, indent=2))
    else:
        print(f"{TICKETS} tickets with disjoint claims on {SLOTS} slots; no rule can beat {bound_s:.2f} s")
        for rule, seconds in found.items():
            print(f"{rule:<22} {seconds:>7.2f} s  {seconds / bound_s:>5.2f} times the bound")
    over = [rule for rule, seconds in found.items() if rule.startswith("disjoint") and seconds > MOST * bound_s]
    return int(asked.hold and bool(over))


if __name__ == "__main__":
    sys.exit(main())
