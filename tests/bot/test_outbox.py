"""What stands on the forge after each of its faults: what was wanted, once, and later where it must be later."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.outbox.outbox import Outbox
from bot.tickets import posts
from bot.tickets.posts import Post
from bot.tickets.store import Store, open_store, sqlite_url

REPO = "acme/app"
MARK = "<!-- sluice:ticket:acme/app#1 -->"
HOUR_S = 3600.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    yield store
    store.close()


class Clock:
    """Time that goes on when told to; later than the real one, so that nothing waits for the forge's own limits."""

    def __init__(self) -> None:
        self.time = 4_000_000_000.0

    def __call__(self) -> float:
        return self.time


def want_comment(store: Store, text: str) -> None:
    wanted = {"issue": 1, "marker": MARK, "body": f"{MARK}\n{text}"}
    with store.write() as c:
        posts.want(c, "comment:1", "comment", repository=REPO, wanted=wanted, now=0.0, urgent=True)


def standing(store: Store) -> Post:
    with store.read() as c:
        found = posts.find(c, "comment:1")
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def repository(forge: LocalForge) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.open_issue(REPO, "Bug", "text", user="ann")


@pytest.mark.parametrize("fault", [401, 403, 404, 409, 410, 422, 429, 500, 502, 503, "cut", "done, then cut"])
async def test_a_comment_stands_there_once_after_any_fault(
    forge: LocalForge, github: GitHub, store: Store, fault: int | str
) -> None:
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_comment(store, "working")
    forge.fail_next("POST", "/comments", fault, times=2)
    for _ in range(3):
        await outbox.flush()
        github.limiter(REPO).blocked_until = 0.0  # the hour that the forge may have asked for goes by
        clock.time += HOUR_S
    assert (forge.comments(REPO, 1), standing(store).tries) == ([f"{MARK}\nworking"], 0)


async def test_an_outage_of_an_hour_loses_nothing_and_the_newest_wish_wins(
    forge: LocalForge, github: GitHub, store: Store
) -> None:
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    for method in ("GET", "POST", "PATCH"):
        forge.fail_next(method, "/api/", 502, times=10_000)
    for minute in range(60):
        want_comment(store, f"minute {minute}")
        await outbox.flush()
        clock.time += 60.0
    during = (forge.comments(REPO, 1), standing(store).tries > 3)
    forge.faults.clear()
    clock.time += HOUR_S
    await outbox.flush()
    assert (during, forge.comments(REPO, 1)) == (([], True), [f"{MARK}\nminute 59"])


async def test_a_deleted_comment_is_written_anew(forge: LocalForge, github: GitHub, store: Store) -> None:
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_comment(store, "one")
    await outbox.flush()
    forge.delete_comment(REPO, int(standing(store).remote or 0), user="ann")
    want_comment(store, "two")
    await outbox.flush()
    assert forge.comments(REPO, 1) == [f"{MARK}\ntwo"]


async def test_a_strangers_copy_of_our_marker_is_left_alone(forge: LocalForge, github: GitHub, store: Store) -> None:
    forge.comment(REPO, 1, f"{MARK}\nnot ours", user="eve")
    want_comment(store, "ours")
    await Outbox(store, github, now=Clock()).flush()
    assert forge.comments(REPO, 1) == [f"{MARK}\nnot ours", f"{MARK}\nours"]


async def test_a_limit_is_waited_for_as_long_as_the_forge_says(forge: LocalForge, github: GitHub, store: Store) -> None:
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_comment(store, "working")
    reset = int(clock.time + 1800)
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
    forge.fail_next("GET", "/comments", 403, headers=headers)
    await outbox.flush()
    with store.read() as c:
        due_at = posts.next_due_at(c, clock.time)
    assert (due_at, forge.comments(REPO, 1)) == (reset, [])


async def test_two_hosts_that_post_at_once_leave_one_comment(
    forge: LocalForge, github: GitHub, postgres_url: str
) -> None:
    stores = [open_store(postgres_url) for _ in range(2)]
    hosts = [Outbox(store, github, now=Clock()) for store in stores]
    want_comment(stores[0], "hello")
    posted = await asyncio.gather(*(host.flush() for host in hosts))
    for store in stores:
        store.close()
    assert (sum(posted), forge.comments(REPO, 1)) == (1, [f"{MARK}\nhello"])


async def test_a_clock_that_jumps_back_strands_no_post(forge: LocalForge, github: GitHub, store: Store) -> None:
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_comment(store, "one")
    await outbox.flush()
    want_comment(store, "two")  # waits for its pace
    clock.time -= 86400.0
    await outbox.flush()
    assert forge.comments(REPO, 1) == [f"{MARK}\ntwo"]
