"""The symlinks of a commit are read with where they lead in the end; a claim through one meets what is there."""

from pathlib import Path

import pytest

from bot.slots.links import read_links
from bot.tickets import repository, scheduler, tickets
from bot.tickets.scheduler import Here
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.tickets import Wish
from tests.bot.slots.origin import commit, make_origin

HERE = Here(free_slots=8, now=1.0)


async def test_links_are_followed_to_where_they_end_within_the_repository(tmp_path: Path) -> None:
    origin = make_origin(tmp_path / "origin")
    for link, target in {
        "lib": "src/deep", "src/up": "../a.txt", "chain": "lib", "through": "lib/c.txt", "all": ".",
        "out": "../origin/src", "etc": "/etc", "one": "two", "two": "one", "new": "not/there", "src/out": "../../x",
    }.items():  # fmt: skip
        (origin / link).symlink_to(target)
    sha = commit(origin, {})
    assert dict(await read_links(origin / ".git", sha, origin)) == {
        "lib": "src/deep", "src/up": "a.txt", "chain": "src/deep", "through": "src/deep/c.txt", "all": "**",
        "new": "not/there",
    }  # fmt: skip


@pytest.mark.parametrize(("links", "started"), [([("lib", "src/deep")], [1]), ([], [1, 2])], ids=["linked", "plain"])
def test_a_claim_through_a_symlink_meets_one_on_its_target(
    tmp_path: Path, links: list[tuple[str, str]], started: list[int]
) -> None:
    store = open_store(sqlite_url(tmp_path / "s.db"))
    with store.write() as c:
        repository.keep_links(c, "acme/shop", links, sha="s")
        for issue, path in ((1, "src/deep/c.txt"), (2, "lib/c.txt")):
            wish = Wish(repository="acme/shop", issue=issue, title="t", body="b", requester="ann", label="bot",
                        trigger_key="bot", claim=(path,))  # fmt: skip
            tickets.create_ticket(c, wish, now=1.0)
    assert [ticket.issue for ticket in scheduler.tick(store, HERE, host="h")] == started
    store.close()
