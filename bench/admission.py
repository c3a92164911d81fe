"""What admission costs with a long queue, against n log n; `--short` tries smaller ones."""

import argparse
import gc
import json
import math
import random
import time

from bot.tickets.admission import Limits, admit
from bot.tickets.ticket import State, Ticket

RUNNING = 100
REPOSITORIES = 20
MOST_MS = 50.0
FOLDERS = ("api", "web", "cli", "core", "docs", "billing", "search", "mail")


def ticket(number: int, claim: tuple[str, ...], *, edges: tuple[tuple[str, int], ...] = ()) -> Ticket:
    """Return a queued ticket of one of the repositories."""
    return Ticket(
        id=number, repository=f"acme/r{number % REPOSITORIES}", issue=number, title="", body="", text_hash="",
        requester="", attempt=1, epoch=0, state=State.QUEUED, created_at=0, updated_at=0, claim=claim, edges=edges,
    )  # fmt: skip


def typical(number: int, dice: random.Random) -> Ticket:
    """Return a ticket as people write them: a few files or folders, sometimes a pattern, sometimes nothing at all."""
    folder = f"src/{dice.choice(FOLDERS)}/m{dice.randrange(400)}"
    kind = dice.random()
    if kind < 0.10:
        return ticket(number, ("**",))
    if kind < 0.20:
        return ticket(number, (f"{folder}/*.py", f"tests/test_{dice.randrange(400)}*"))
    if kind < 0.35:
        return ticket(number, (f"{folder}/",), edges=(("after", dice.randrange(1, number + 1)),))
    return ticket(number, tuple(sorted({f"{folder}/f{dice.randrange(9)}.py" for _ in range(dice.randint(1, 4))})))


SHAPES = {
    "typical": typical,
    "all disjoint": lambda n, _: ticket(n, (f"src/m{n}/a.py", f"tests/m{n}/")),
    "all name nothing": lambda n, _: ticket(n, ("**",)),
    "all in one folder": lambda n, dice: ticket(n, ("src/api/", f"docs/{dice.randrange(9)}.md")),
}


def seconds(shape: str, queued: int) -> float:
    """Return the best of some runs of admit() over such a queue."""
    dice = random.Random(7)
    every = [SHAPES[shape](n, dice) for n in range(1, queued + RUNNING + 1)]
    took = []
    for _ in range(5):
        gc.collect()
        began = time.process_time()
        decided = admit(every[RUNNING:], every[:RUNNING], limits=Limits(free=8))
        took.append(time.process_time() - began)
        assert len(decided) == queued
    return min(took)


def main() -> None:
    """Print the curve"""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hold", action="store_true", help=f"end with 1 where any takes over {MOST_MS:g} ms")
    asked = parser.parse_args()
    sizes = (100, 1_000) if asked.short else (100, 1_000, 10_000)
    found = [{"shape": shape, "queued": n, "seconds": seconds(shape, n)} for shape in SHAPES for n in sizes]
    if asked.json:
        print(json.dumps({"running": RUNNING, "admit": found}, indent=2))
    else:
        print(f"admit() with {RUNNING} running tickets in {REPOSITORIES} repositories: processor time, best of 5")
        print(f"{'claims':<20} {'queued':>7} {'ms':>8} {'us a ticket':>12} {'of n log n':>11}")
        for row in found:
            first = next(r for r in found if r["shape"] == row["shape"])
            grown = row["seconds"] / first["seconds"]
            fair = row["queued"] * math.log(row["queued"]) / (first["queued"] * math.log(first["queued"]))
            print(
                f"{row['shape']:<20} {row['queued']:>7,} {row['seconds'] * 1e3:>8.2f} "
                f"{row['seconds'] / row['queued'] * 1e6:>12.2f} {grown / fair:>10.0%}"
            )
    slow = [row for row in found if row["seconds"] * 1e3 > MOST_MS]
    if slow and asked.hold:
        raise SystemExit(f"expected at most {MOST_MS:g} ms, got {max(r['seconds'] for r in slow) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
