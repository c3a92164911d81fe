"""Kill the bot with SIGKILL at random moments while the demo's stories run, start it again, and look for damage.

    python bench/kills.py --times 50 --database sqlite|postgresql [--seed N] [--most-s 12]

Each round is a world of its own: a forge, a scripted model, a bot. The bot is killed once or twice at moments that the
seed decides, and started again. Then all stories must end as they should, and nothing may be lost, repeated, doubled,
leaked or left running.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import sqlalchemy as sa

from bot.demo.loop import SAMPLES, STORIES, Story
from bot.forges.local import LocalForge
from bot.forges.local.repos import read_folder
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import Outcome
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions
from tests.bot.living import Bot, left_running
from tests.postgres import PostgresServer

EDITS = {STORIES[0].title: 1, STORIES[1].title: 2, STORIES[2].title: 0}  # rounds of the agent that each story needs
LIMIT_S = 400.0  # the machine may be busy with other things


@dataclass(slots=True)
class World:
    """A forge with the demo's stories, a scripted model, and where the bot keeps its state."""

    folder: Path
    forge: LocalForge
    model: ScriptedModel
    model_url: str
    database: str  # empty: SQLite in the bot's folder
    issues: dict[str, tuple[str, int]] = field(default_factory=dict)  # title -> repository, number

    def bot(self) -> Bot:
        """Start the bot."""
        return Bot(
            self.folder, self.forge, self.model_url, **({"BOT_DATABASE_URL": self.database} if self.database else {})
        )

    def label(self) -> None:
        """Open the stories' issues and put the label on."""
        for story in STORIES:
            number = self.forge.open_issue(story.repository, story.title, story.body, user="ann")
            self.issues[story.title] = (story.repository, number)
            self.forge.label_issue(story.repository, number, "bot", user="ann")

    def asked(self) -> Counter[str]:
        """Return how often the agent was begun for each story: a first message without an answer before it."""
        found: Counter[str] = Counter()
        for request in list(self.model.requests):
            if len(request["messages"]) == 1:
                text = str(request["messages"][0]["content"])
                found.update(title for title in self.issues if title in text)
        return found

    def finished_edits(self) -> Counter[str]:
        """Return how many of the agent's stages the engine holds as finished, by story."""
        engine = sa.create_engine(_driver(self.database or sqlite_url(self.folder / "bot/engine.db")))
        schema = "dbos." if self.database else ""
        query = (
            f"SELECT workflow_uuid FROM {schema}operation_outputs WHERE function_name = 'edit' AND output IS NOT NULL"
        )
        found: Counter[str] = Counter()
        with contextlib.suppress(sa.exc.DBAPIError), engine.connect() as c:  # no table yet: nothing is finished
            for (workflow,) in c.execute(sa.text(query)):
                found[self._title(int(workflow.partition("-")[0]))] += 1
        engine.dispose()
        return found

    def _title(self, ticket: int) -> str:
        return next(row["title"] for row in self.rows("SELECT id, title FROM tickets") if row["id"] == ticket)

    def rows(self, query: str) -> list[Mapping[str, Any]]:
        """Return what a query of our own tables finds."""
        store = open_store(self.database or sqlite_url(self.folder / "bot/sluice.db"))
        with store.read() as c:
            found = [dict(row._mapping) for row in c.execute(sa.text(query))]
        store.close()
        return found

    def is_over(self) -> bool:
        """Return whether every story shows its outcome."""
        return all(self._shown(story) == [f"bot: {story.outcome}"] for story in STORIES)

    def _shown(self, story: Story) -> list[str]:
        return list(self.forge.issue(*self.issues[story.title]).labels)


@contextlib.contextmanager
def world(folder: Path, *, database: str) -> Iterator[World]:
    """Yield a world without a bot."""
    forge = LocalForge(folder / "forge", pauses_s=(0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0))
    model = ScriptedModel(load_sessions(*sorted((SAMPLES / "sessions").glob("*.jsonl"))))
    with contextlib.closing(forge), model.serve() as served:
        for name in ("shop", "notes"):
            forge.create_repository(f"acme/{name}", read_folder(SAMPLES / name))
        forge.add_user("ann", {"acme/shop": "write", "acme/notes": "write"})
        yield World(folder, forge, model, served.url, database)


def kill_round(folder: Path, *, database: str, after_s: list[float]) -> list[str]:
    """Run the stories with a kill after each of these seconds; return what is wrong in the end."""
    with world(folder, database=database) as made:
        bot, wrong = made.bot(), []
        made.label()
        for seconds in after_s:
            began = time.monotonic()
            with contextlib.suppress(TimeoutError):
                made.forge.wait(made.is_over, limit_s=seconds)
            time.sleep(max(0.0, seconds - (time.monotonic() - began)))
            bot.kill()
            wrong += [f"left running after the kill: {line}" for line in left_running(folder / "bot")]
            finished, before = made.finished_edits(), made.asked()
            bot = made.bot()
        wrong += _to_the_end(made, bot)
        again = made.asked() - before
        for title, rounds in EDITS.items():
            if again[title] != rounds - finished[title]:
                wrong.append(
                    f"{title}: {finished[title]} of {rounds} edits were finished, {again[title]} were begun again"
                )
        return wrong + _damage(made)


def _to_the_end(made: World, bot: Bot) -> list[str]:
    """Wait until all has ended and was told, then end the bot as an operator would."""
    try:
        made.forge.wait(made.is_over, limit_s=LIMIT_S)
        bot.process.terminate()
        code = bot.ended()
    except TimeoutError:
        log = "\n  ".join(bot.log[-40:])
        state = made.rows("SELECT id, state, stage, outcome, reason, host, epoch, attempt FROM tickets")
        return [f"not all ended: {[made._shown(s) for s in STORIES]}\n  {state}\n  {log}"]
    finally:
        bot.kill()
    traces = [line for line in bot.log if '"trace"' in line]
    return [f"exit code {code}" for _ in range(code != 0)] + [f"a traceback: {line}" for line in traces]


def _damage(made: World) -> list[str]:
    """Return what was lost, doubled, leaked or left running."""
    found = made.rows("SELECT title, state, outcome, attempt FROM tickets ORDER BY title")
    wanted = [
        {"title": s.title, "state": "done", "outcome": s.outcome, "attempt": 1}
        for s in sorted(STORIES, key=lambda s: s.title)
    ]
    wrong = [] if found == wanted else [f"tickets not as wanted: {found}"]
    for story in STORIES:
        repository, number = made.issues[story.title]
        repo = made.forge.state.repositories[repository]
        pulls = [i for i in repo.issues.values() if i.head == f"sluice/issue-{number}"]
        if len(pulls) != (story.outcome is Outcome.MERGED) or any(p.merged_sha is None for p in pulls):
            wrong.append(f"{story.title}: {len(pulls)} pull requests")
        if len(made.forge.comments(repository, number)) != 1:
            wrong.append(f"{story.title}: {len(made.forge.comments(repository, number))} comments")
        runs = Counter((c.name, c.head_sha) for c in repo.checks.values())
        wrong += [f"{repository}: {count} check runs {name}" for name, count in runs.items() if count > 1]
    unread = "SELECT guid, state, reason FROM deliveries WHERE state NOT IN ('done', 'ignored')"
    wrong += [f"delivery left: {row}" for row in made.rows(unread)]
    leaked = "SELECT name, repository, state, reason FROM slots WHERE state <> 'free'"
    wrong += [f"slot leaked: {row}" for row in made.rows(leaked)]
    return wrong + [f"left running: {line}" for line in left_running(made.folder / "bot")]


def _driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


def main() -> int:
    """Run the rounds; print one line for each and what was wrong."""
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument(
        "--times",
        type=int,
        default=3,
        help="kills, one or two in a round: at the third in one stage a ticket is given up",
    )
    parse.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--most-s", type=float, default=12.0, help="the latest moment of a kill after label or start")
    asked = parse.parse_args()
    kills = rounds = bad = 0
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(PostgresServer()) if asked.database == "postgresql" else None
        while kills < asked.times:
            seed = asked.seed + rounds
            dice = random.Random(seed)
            after_s = [round(dice.uniform(0.0, asked.most_s), 2) for _ in range(dice.choice((1, 2, 2)))]
            began = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="sluice-kills-") as folder:
                wrong = kill_round(Path(folder), database=server.create_database() if server else "", after_s=after_s)
            kills, rounds, bad = kills + len(after_s), rounds + 1, bad + bool(wrong)
            told = f"seed {seed:>4}  killed after {after_s} s  {'BAD' if wrong else 'good'}"
            print("\n  ".join([f"{told}  {time.monotonic() - began:.1f} s", *wrong]), flush=True)
    print(f"{kills} kills in {rounds} rounds on {asked.database}: {rounds - bad} rounds good, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
