"""What each command does and answers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.inbox.commands import COMMANDS, help_text
from bot.tickets import tickets
from bot.tickets.schema import ledger
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import Outcome, Stage
from tests.bot.inbox_builders import REPO, House


@pytest.fixture
async def house(forge: LocalForge, github: GitHub, tmp_path: Path) -> AsyncIterator[House]:
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    yield House(forge, github, store)
    store.close()


def test_help_is_made_from_the_table() -> None:
    assert help_text().splitlines()[2:] == [f"| `/bot {c.usage}` | {c.summary} |" for c in COMMANDS]


async def put(house: House, stands: str) -> None:
    """Bring the ticket to where the situation needs it."""
    if stands == "none":
        return
    await house.label(sender="tim" if stands == "needs approval" else "ann")
    if stands == "running":
        house.run()
    elif stands in ("red", "over budget"):
        house.end(Outcome(stands.replace(" ", "_")), verdict="RED", reason="The gate stayed red.")


SITUATIONS = [
    ("none", "/bot retry", "none", "There is no ticket here yet. Put the label `bot` on the issue to start one."),
    ("red", "/bot retry", "queued 2 ann", ""),
    ("queued", "/bot retry", "queued 1 ann", "Attempt 1 is queued already. `/bot why` tells what it waits for."),
    ("running", "/bot retry", "running 1 ann",
     "`retry` needs a finished ticket; this one is running. `/bot cancel` stops it."),
    ("needs approval", "/bot retry", "queued 1 tim", ""),
    ("queued", "/bot cancel", "done 1 ann", ""),
    ("red", "/bot cancel", "done 1 ann", "Nothing is under way here that could be cancelled."),
    ("queued", "/bot approve", "queued 1 ann", "This ticket waits for no approval; it is queued."),
    ("queued", "/bot why", "queued 1 ann", "It is queued, and nothing holds it: it starts when a slot is free."),
    ("red", "/bot why", "done 1 ann", "It ended as **red**. The gate stayed red. The gate said RED."),
    ("running", "/bot why", "running 1 ann", "It is running: starting, on attempt 1."),
    ("red", "/bot status", "done 1 ann",
     "Ticket 1 is **red**, attempt 1. Used so far: 0 turns, 0 tokens, $0.00."),
    ("none", "/bot resume", "none", "Tickets of this repository start again."),
    ("none", "/bot pause", "none", "Nothing new starts in this repository until `/bot resume`. What runs goes on."),
    ("over budget", "/bot budget $2", "queued 2 ann", ""),
    ("red", "/bot budget $2", "done 1 ann", ""),
    ("red", "\n".join(["/bot budget $2"] * 6), "done 1 ann",
     "One comment may give 5 commands, this has 6; write what is left in another one."),
    ("red", "/bot budget", "done 1 ann", "Say how much more: `/bot budget $2`, `500k tokens`, `20 turns` or `30m`."),
    ("red", "/bot budget lots", "done 1 ann",
     "a budget is written as `$2`, `500k tokens`, `20 turns` or `30m`; got `lots`"),
    ("running", "/bot budget $2", "running 1 ann",
     "`budget` cannot change what is running; say it again once this attempt has ended."),
    ("queued", "/bot paths src/** docs", "queued 1 ann", ""),
    ("queued", "/bot paths ../x", "queued 1 ann", "`../x` is no path inside the repository."),
    ("queued", "/bot paths", "queued 1 ann", "Name one to 50 paths: `/bot paths src/** docs`."),
    ("none", "/bot help", "none", help_text()),
    ("none", "/bot rety", "none", "I do not know `rety`; did you mean `/bot retry`?"),
    ("none", "/bot sing", "none", "I do not know `sing`; `/bot help` lists what I understand."),
    ("none", "/bot", "none", "Yes? `/bot help` lists what I understand."),
    ("none", "@sluice help", "none", help_text()),
    ("none", "@sluice rety", "none", "I do not know `rety`; did you mean `/bot retry`?"),
    ("none", "@sluice: can you mend this?", "none",
     "I take commands and answer no free questions. What I know: There is no ticket here. "
     "`/bot help` lists what I understand."),
    ("red", "@sluice what happened?", "done 1 ann",
     "I take commands and answer no free questions. What I know: Ticket 1 is **red**, attempt 1. Used so far: 0 turns, "
     "0 tokens, $0.00. It ended as **red**. The gate stayed red. The gate said RED. "
     "`/bot help` lists what I understand."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("stands", "text", "after", "answer"), SITUATIONS, ids=[f"{text} ({stands})" for stands, text, *_ in SITUATIONS]
)
async def test_a_command_does_and_answers(house: House, stands: str, text: str, after: str, answer: str) -> None:
    await put(house, stands)
    await house.say(text)
    assert (house.state(), house.replies()) == (after, [answer] if answer else [])


async def test_a_grant_counts_from_what_was_spent(house: House) -> None:
    await put(house, "over budget")
    spent = {
        "day": "2026-01-01",
        "repository": REPO,
        "model": "m",
        "ticket": 1,
        "attempt": 1,
        "turns": 7,
        "dollars": 3.0,
    }
    tokens = dict.fromkeys(("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), 0)
    with house.store.write() as c:
        c.execute(ledger.insert().values(**spent, **tokens))
    await house.say("/bot budget $2", comment=1)
    await house.say("/bot budget 20 turns", comment=2)
    ticket = house.ticket()
    assert ticket is not None
    assert ticket.budget == {"dollars": 5.0, "turns": 27}


async def test_paths_become_the_claim(house: House) -> None:
    await put(house, "queued")
    await house.say("/bot paths src/** docs")
    ticket = house.ticket()
    assert ticket is not None
    assert ticket.claim == ("docs", "src/**")


async def test_an_outsider_may_ask_but_not_order(house: House) -> None:
    await put(house, "queued")
    await house.say("/bot why\n/bot cancel", sender="eve")
    assert (house.state(), house.posts("reaction"), house.replies()) == (
        "queued 1 ann",
        [{"comment": 500, "content": "confused"}],
        ["It is queued, and nothing holds it: it starts when a slot is free.\n\n"
         "`cancel`: @eve has no access here; starting work needs **write** or above."],
    )  # fmt: skip


async def test_an_edited_comment_does_not_speak_again(house: House) -> None:
    await put(house, "red")
    await house.say("/bot retry", comment=7)
    house.end(Outcome.RED)
    comment = {"id": 7, "body": "/bot retry", "user": {"login": "ann", "id": 11, "type": "User"}}
    said = await house.hear("issue_comment", "edited", issue=house.issue(), comment=comment)
    assert (said, house.state()) == ("ignored: a comment edited: only a new one speaks", "done 2 ann")


async def test_a_word_to_a_running_stage_tells_where_it_is(house: House) -> None:
    await put(house, "running")
    with house.store.write() as c:
        tickets.write_fenced(c, 1, 1, stage=Stage.VERIFY)
    await house.say("/bot why")
    assert house.replies() == ["It is running: verify, on attempt 1."]
