"""Claims that meet through symlinks which nobody knew of when their tickets were let in."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from bot.tickets import tickets
from bot.tickets.ticket import Outcome, State, Ticket
from bot.tickets.tickets import Wish
from tests.bot.world import World, change, living
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow]
REPO = "acme/linked"


def link(world: World) -> None:
    """Put a symlink into the repository, as somebody with a clone would."""
    bare, clone = str(next(world.folder.rglob(f"{REPO}.git"))), world.folder / "clone"
    world.git_in(world.folder, "clone", "-q", bare, str(clone))
    (clone / "link").symlink_to("real")
    world.git_in(clone, "add", "link")
    world.git_in(clone, "-c", "user.name=ann", "-c", "user.email=ann@localhost", "commit", "-qm", "Link")
    world.git_in(clone, "push", "-q", "origin", "HEAD:main")


def ask_at_once(world: World, *claims: str) -> None:
    """Queue a ticket for each claim in one moment, so that all are let in before anything of the tree is known."""
    with world.service.store.write() as c:
        for path in claims:
            issue = world.forge.open_issue(REPO, f"Write {path}", "text", user="ann")
            wish = Wish(
                repository=REPO, issue=issue, title=f"Write {path}", body="text", requester="ann", label="bot",
                trigger_key="bot", claim=(path,),
            )  # fmt: skip
            tickets.create_ticket(c, wish, now=time.time())
    world.service.changed(0)


async def ended(world: World, issue: int, *, attempt: int = 1) -> Ticket:
    """Return an issue's ticket once this attempt is done."""
    with world.service.bell.listen() as listener:
        for _ in range(60):
            with world.service.store.read() as c:
                found = tickets.find_ticket(c, REPO, issue)
            if found is not None and (found.attempt, found.state) == (attempt, State.DONE):
                return found
            await listener.wait(1.0)
    raise AssertionError(found)


async def test_the_first_tickets_of_a_repository_are_parted_once_its_symlinks_are_known(tmp_path: Path) -> None:
    let_go = threading.Event()
    async with living(tmp_path, slots=2) as world:
        world.repository(REPO, **{"real/a.txt": "one\n"})
        await asyncio.to_thread(link, world)
        world.model.says(REPO, change("two\n", "real/a.txt"), {"say": "Done."})
        world.model.says(REPO, change("three\n", "real/a.txt"), {"say": "Done."}, when=["Write link"])
        world.model.before[f"{REPO}#1"] = lambda: let_go.wait(30)
        await asyncio.to_thread(ask_at_once, world, "real/a.txt", "link/a.txt")
        held = await ended(world, 2)
        let_go.set()
        first = await ended(world, 1)
        again = await ended(world, 2, attempt=2)
        assert (again.outcome, again.held_for, again.pull is not None) == (Outcome.PROPOSED, None, True)
        assert (held.outcome, held.held_for, held.reason, first.outcome) == (
            Outcome.HELD, first.id,
            "Through the repository's symlinks it claims `link/a.txt`, and #1 works there now. "
            "When #1 is done, it goes on.", Outcome.PROPOSED,
        )  # fmt: skip
