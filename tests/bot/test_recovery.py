"""What never arrived is found: redelivered, pulled, or swept up by its label."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette

from bot.forges.errors import Unreachable
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.forges.manifest import NOWHERE
from bot.inbox.recovery import Recovery
from bot.inbox.webhook import Receiver
from bot.serving import serve_in_thread
from bot.tickets import deliveries, posts, repositories
from bot.tickets.deliveries import Arrived
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import Outcome
from tests.bot.inbox_builders import LABEL, REPO, House, stamp
from tests.bot.living import Bot

NOTHING_LISTENS = "http://127.0.0.1:9/webhook"


@pytest.fixture
def house(forge: LocalForge, github: GitHub, tmp_path: Path) -> Iterator[House]:
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    house = House(forge, github, store)
    house.now = time.time() + 3600.0
    yield house
    store.close()


def recovery(house: House) -> Recovery:
    return Recovery(house.store, house.github, label=LABEL, now=lambda: house.now, stored=lambda: None)


def missed_label(house: House) -> None:
    """Put the label on while nobody listens."""
    house.forge.hooks.target = NOTHING_LISTENS
    house.forge.open_issue(REPO, "Bug", "It breaks.", user="ann", labels=(LABEL,))
    house.forge.wait(
        lambda: len(house.forge.state.deliveries) == 2 and all(d.status for d in house.forge.state.deliveries)
    )


async def test_what_failed_is_asked_for_again_and_makes_one_ticket(house: House) -> None:
    missed_label(house)
    receiver = Receiver(house.store, [house.forge.secret], now=lambda: house.now, stored=lambda: None)
    with serve_in_thread(Starlette(routes=receiver.routes())) as served:
        house.forge.hooks.target = f"{served.url}/webhook"
        asked = await recovery(house).redeliver()
        house.forge.wait(lambda: [d.status for d in house.forge.state.deliveries].count("OK") == 2)
        again = await recovery(house).redeliver()
    receiver.close()
    await house.intake.process_new()
    assert (asked, again, house.state()) == (2, 0, "queued 1 ann")


async def test_one_delivery_that_the_forge_will_not_send_again_stops_no_other(house: House) -> None:
    missed_label(house)
    house.now = time.time() + 200.0
    house.forge.hooks.target = None
    house.forge.fail_next("POST", "/attempts$", 404)
    recovering = recovery(house)
    assert [await recovering.redeliver(), await recovering.redeliver()] == [1, 2]


async def test_what_failed_a_moment_before_the_start_is_not_asked_for_minutes_later(house: House) -> None:
    missed_label(house)
    ahead = [0.0]
    recovering = Recovery(
        house.store, house.github, label=LABEL, now=lambda: time.time() + ahead[0], stored=lambda: None
    )
    receiver = Receiver(house.store, [house.forge.secret], now=time.time, stored=lambda: None)
    with serve_in_thread(Starlette(routes=receiver.routes())) as served:
        house.forge.hooks.target = f"{served.url}/webhook"
        running = asyncio.create_task(recovering.run(every_s=3600.0, soon_s=0.01))
        looks = ("GET", "/app/hook/deliveries")
        await asyncio.to_thread(house.forge.wait, lambda: house.forge.requests.count(looks) > 2)
        asked_early = "POST" in {method for method, _ in house.forge.requests}
        ahead[0] = 60.0
        await asyncio.to_thread(
            house.forge.wait, lambda: [d.status for d in house.forge.state.deliveries].count("OK") == 2
        )
        running.cancel()
    receiver.close()
    assert not asked_early


async def test_an_app_that_was_made_to_be_pulled_from_and_is_not_says_so(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.forge.hooks.target = NOWHERE
    running = asyncio.create_task(recovery(house).run(every_s=3600.0))
    looks = ("GET", "/app/hook/deliveries")
    await asyncio.to_thread(house.forge.wait, lambda: looks in house.forge.requests)
    running.cancel()
    assert [r.message for r in caplog.records if r.levelname == "ERROR"] == [
        "nothing is delivered: the App has no public address"
    ]


@pytest.mark.parametrize("pulls", [False, True], ids=["redelivered", "pulled"])
async def test_who_put_the_label_on_is_heard_before_a_sweep_that_does_not_know(house: House, pulls: bool) -> None:
    house.forge.hooks.target = NOTHING_LISTENS
    number = house.forge.open_issue(REPO, "Bug", "It breaks.", user="eve")
    house.forge.label_issue(REPO, number, LABEL, user="ann")
    house.forge.comment(REPO, number, "Me too.", user="eve")
    house.forge.wait(
        lambda: len(house.forge.state.deliveries) == 3 and all(d.status for d in house.forge.state.deliveries)
    )
    with house.store.write() as c:
        repositories.keep_installation(c, REPO, 1)
    recovering = recovery(house)
    receiver = Receiver(house.store, [house.forge.secret], now=lambda: house.now, stored=lambda: None)
    with serve_in_thread(Starlette(routes=receiver.routes())) as served:
        house.forge.hooks.target = f"{served.url}/webhook"
        if pulls:
            running = asyncio.create_task(recovering.run_pull(every_s=3600.0))
            looks = ("GET", f"/repos/{REPO}/issues")
            await asyncio.to_thread(house.forge.wait, lambda: looks in house.forge.requests)
            running.cancel()
        else:
            await recovering.recover()
            await asyncio.to_thread(
                house.forge.wait, lambda: [d.status for d in house.forge.state.deliveries].count("OK") == 3
            )
    receiver.close()
    await house.intake.process_new()
    await recovering.recover()
    await house.intake.process_new()
    assert house.state() == "queued 1 ann"


async def test_a_bot_that_no_webhook_reaches_pulls_its_deliveries(house: House) -> None:
    missed_label(house)
    pulling = recovery(house)
    counts = [await pulling.pull(), await pulling.pull()]
    await house.intake.process_new()
    assert (counts, house.state()) == ([2, 0], "queued 1 ann")


@pytest.mark.parametrize(("fault", "counts"), [(404, [1, 1]), (500, [0, 1])], ids=["not given", "gone away"])
async def test_what_was_pulled_before_a_fault_is_kept_and_the_rest_comes_later(
    house: House, fault: int, counts: list[int]
) -> None:
    missed_label(house)
    house.now = time.time() + 60.0
    first, second = (delivery.id for delivery in house.forge.state.deliveries)
    house.forge.fail_next(
        "GET", f"/deliveries/{first if fault == 404 else second}$", fault, times=3 if fault == 500 else 1
    )
    pulling, pulled = recovery(house), []
    for _ in counts:
        try:
            pulled.append(await pulling.pull())
        except Unreachable:
            pulled.append(0)
    await house.intake.process_new()
    assert (pulled, house.state()) == (counts, "queued 1 ann")


@pytest.mark.slow(seconds=12)  # with all others of this file
def test_bot_serve_pull_works_where_nothing_reaches_it(tmp_path: Path, forge: LocalForge) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.add_user("ann", {REPO: "write"})
    bot = Bot(tmp_path, forge, "http://127.0.0.1:9", command="serve --pull", BOT_SANDBOX="off")
    try:
        number = forge.open_issue(REPO, "Bug", "It breaks.", user="ann", labels=(LABEL,))
        forge.wait(lambda: forge.issue(REPO, number).labels == ["bot: ungated"], limit_s=60)
    finally:
        bot.kill()
    assert forge.hooks.target is None


async def test_a_labelled_issue_without_a_ticket_is_swept_up_once(house: House) -> None:
    missed_label(house)
    with house.store.write() as c:
        repositories.keep_installation(c, REPO, 1)
    counts = []
    for _ in range(2):
        counts.append(await recovery(house).sweep())
        await house.intake.process_new()
    assert (counts, house.state()) == ([1, 0], "queued 1 ann")


async def test_a_delivery_that_comes_after_the_sweep_starts_nothing_new(house: House) -> None:
    missed_label(house)
    with house.store.write() as c:
        repositories.keep_installation(c, REPO, 1)
    await recovery(house).sweep()
    await house.intake.process_new()
    house.end(Outcome.RED)
    house.forge.issue(REPO, 1).labels.clear()  # as the outbox does once work began
    await recovery(house).pull()
    await house.intake.process_new()
    assert house.state() == "done 1 ann"


async def test_an_outsiders_issue_that_is_swept_up_needs_approval(house: House) -> None:
    house.forge.open_issue(REPO, "Bug", "It breaks.", user="eve", labels=(LABEL,))
    with house.store.write() as c:
        repositories.keep_installation(c, REPO, 1)
    await recovery(house).sweep()
    await house.intake.process_new()
    assert house.state() == "needs_approval 1 eve"


async def test_each_look_goes_back_a_little_behind_the_last_one_that_was_whole(house: House) -> None:
    missed_label(house)
    pulling, counts = recovery(house), []
    house.now = time.time()
    first = house.forge.state.deliveries[0]
    first.at = stamp(house.now - 6 * DAY_S)  # an Enterprise Server has it yet
    house.forge.fail_next("GET", f"/deliveries/{first.id}$", 500, times=3)
    for _ in range(3):
        try:
            counts.append(await pulling.pull())
        except Unreachable:
            counts.append(-1)
        house.now += 5.0
    assert counts == [-1, 2, 0]


async def test_a_forge_that_is_away_is_asked_next_time(house: House) -> None:
    missed_label(house)
    house.forge.fail_next("GET", "/app/hook/deliveries", 500, times=99)
    recovering = recovery(house)
    await recovering.recover()
    house.forge.faults.clear()
    assert await recovering.pull() == 2


async def test_replay_reads_a_delivery_once_more(house: House) -> None:
    await house.label(sender="tim")
    with house.store.write() as c:
        deliveries.reopen(c, "g-1")
    await house.intake.process_new()
    assert house.state() == "needs_approval 1 tim"


DAY_S = 86_400.0


async def test_old_deliveries_are_forgotten_and_what_was_ignored_is_emptied_first(house: House) -> None:
    await house.hear("issues", "assigned", issue=house.issue())
    await house.label()
    with house.store.write() as c:
        deliveries.keep(c, [Arrived("waits", "issues", b"{}")], now=house.now)
    recovering = recovery(house)
    left = []
    for days in (0, 2, 9):
        house.now += days * DAY_S
        recovering.prune()
        with house.store.read() as c:
            left.append([(row.guid, len(row.body) > 0) for row in c.exec_driver_sql(
                "SELECT guid, body FROM deliveries ORDER BY seq")])  # fmt: skip
    assert left == [
        [("g-1", True), ("g-2", True), ("waits", True)],
        [("g-1", False), ("g-2", True), ("waits", True)],
        [("waits", True)],
    ]


async def test_ten_thousand_deliveries_are_pruned_in_short_steps(house: House) -> None:
    with house.store.write() as c:
        deliveries.keep(c, [Arrived(f"g-{n}", "ping", b"{}") for n in range(10_000)], now=house.now)
        c.exec_driver_sql("UPDATE deliveries SET state = 'ignored'")
    house.now += 9 * DAY_S
    with house.store.write() as c:
        deliveries.prune(c, after=0, now=house.now)
        after_one = c.exec_driver_sql("SELECT count(*) FROM deliveries").scalar()
    recovery(house).prune()
    with house.store.read() as c:
        assert (after_one, c.exec_driver_sql("SELECT count(*) FROM deliveries").scalar()) == (8000, 0)


async def test_what_waits_to_be_read_is_found_through_its_index(house: House) -> None:
    with house.store.read() as c:
        seen: list[str] = []
        c.connection.set_trace_callback(seen.append)  # type: ignore[attr-defined]
        deliveries.unread(c)
        c.connection.set_trace_callback(None)  # type: ignore[attr-defined]
        plan = c.exec_driver_sql(f"EXPLAIN QUERY PLAN {seen[-1]}").all()
    assert "USING INDEX deliveries_open" in str(plan)


async def test_posts_that_were_settled_long_ago_are_forgotten_but_not_comments(house: House) -> None:
    with house.store.write() as c:
        for kind in ("comment", "reply"):
            posts.want(c, kind, kind, repository=REPO, wanted={"x": 1}, now=house.now)
        for post in posts.due(c, house.now):
            posts.record_posted(c, post, posted={}, remote="1", now=house.now)
        posts.prune(c, now=house.now + 31 * DAY_S)
        assert [posts.find(c, kind) is not None for kind in ("comment", "reply")] == [True, False]
