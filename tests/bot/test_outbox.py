"""What stands on the forge after each of its faults: what was wanted, once, and later where it must be later."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from bot.forges.auth import App
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.outbox.outbox import Outbox
from bot.tickets import posts, repositories, tickets
from bot.tickets.posts import Post
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.tickets import Wish
from tests.plain import PLAIN

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


EDITS = [401, 403, 409, 422, 429, 500, 502, "cut", "done, then cut"]


@pytest.mark.parametrize("fault", EDITS)
async def test_an_edit_arrives_after_any_fault_and_makes_no_second_comment(
    forge: LocalForge, github: GitHub, store: Store, fault: int | str
) -> None:
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_comment(store, "one")
    await outbox.flush()
    want_comment(store, "two")
    forge.fail_next("PATCH", "/comments/", fault, times=2)
    for _ in range(3):
        await outbox.flush()
        github.limiter(REPO).blocked_until = 0.0
        clock.time += HOUR_S
    assert (forge.comments(REPO, 1), standing(store).tries) == ([f"{MARK}\ntwo"], 0)


@pytest.mark.parametrize("fault", [404, 410])
async def test_a_comment_that_is_said_to_be_gone_is_written_anew(
    forge: LocalForge, github: GitHub, store: Store, fault: int
) -> None:
    outbox = Outbox(store, github, now=Clock())
    want_comment(store, "one")
    await outbox.flush()
    want_comment(store, "two")
    forge.fail_next("PATCH", "/comments/", fault)
    await outbox.flush()
    assert forge.comments(REPO, 1)[-1] == f"{MARK}\ntwo"


@pytest.mark.parametrize("fault", [401, 404, 409, 410, 422, 429, 500, 502, "cut", "done, then cut"])
async def test_a_check_run_stands_there_once_after_any_fault(
    forge: LocalForge, github: GitHub, store: Store, fault: int | str
) -> None:
    sha = forge.sha(REPO, "main") or ""
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_check(store, sha)
    forge.fail_next("POST", "/check-runs", fault, times=2)
    for _ in range(3):
        await outbox.flush()
        github.limiter(REPO).blocked_until = 0.0
        clock.time += HOUR_S
    assert [run.conclusion for run in forge.checks(REPO, sha)] == ["failure"]


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


def want_check(store: Store, sha: str, conclusion: str = "failure") -> None:
    """Wish for the check run of the ticket of issue 1."""
    wish = Wish(repository=REPO, issue=1, title="Bug", body="", label="bot", trigger_key="bot", requester="ann")
    output = {"title": "RED: a step failed", "summary": "x"}
    wanted = {"name": "sluice", "head_sha": sha, "status": "completed", "conclusion": conclusion,
              "external_id": "ticket-1", "output": output, "details_url": "http://bot/tickets/1"}  # fmt: skip
    with store.write() as c:
        tickets.create_ticket(c, wish, now=0.0)
        posts.want(c, f"check:{sha}", "check", repository=REPO, wanted=wanted, now=0.0)


def statuses(forge: LocalForge) -> list[tuple[str, str, str, str]]:
    found = forge.state.repositories[REPO].statuses
    return [(s["state"], s["context"], s["description"], s["target_url"]) for s in found]


RED = ("failure", "sluice", "RED: a step failed", "http://bot/tickets/1")


async def test_without_the_permission_for_checks_a_status_stands_in_and_the_comment_says_so_once(
    forge: LocalForge, github: GitHub, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    sha = forge.sha(REPO, "main") or ""
    del forge.state.permissions["checks"]
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    for conclusion in ("success", "failure"):
        want_check(store, sha, conclusion)
        clock.time += 60.0
        await outbox.flush()
    await outbox.flush()
    told = [record for record in caplog.records if record.message == "permission not granted"]
    [comment] = forge.comments(REPO, 1)
    assert (statuses(forge)[-1], forge.checks(REPO, sha), len(told)) == (RED, [], 1)
    assert (
        "⚠️ Permission not granted: `checks: write`. The owner accepts it under Settings → GitHub Apps → Configure. "
        "Until then a commit status stands for a check run where that is allowed, and this comment tells the rest."
    ) in comment


async def test_a_permission_that_the_forge_itself_refuses_is_noted_the_same_way(
    forge: LocalForge, github: GitHub, store: Store
) -> None:
    sha = forge.sha(REPO, "main") or ""
    await github.create_check_run(REPO, name="other", head_sha=sha, status="queued")  # a token that may write checks
    for token in forge.state.tokens.values():
        token.permissions.pop("checks", None)  # as when an owner takes it back
    want_check(store, sha)
    await Outbox(store, github, now=Clock()).flush()
    with store.read() as c:
        assert (statuses(forge), repositories.missing(c, REPO)) == ([RED], ("checks: write",))


async def test_a_permission_that_is_granted_after_all_ends_the_note(
    forge: LocalForge, github: GitHub, store: Store
) -> None:
    sha = forge.sha(REPO, "main") or ""
    with store.write() as c:
        repositories.note_missing(c, REPO, "checks: write")
    want_check(store, sha)
    await Outbox(store, github, now=Clock()).flush()
    with store.read() as c:
        assert ([run.conclusion for run in forge.checks(REPO, sha)], repositories.missing(c, REPO)) == (["failure"], ())


async def test_with_a_personal_token_the_verdict_is_a_commit_status(forge: LocalForge, store: Store) -> None:
    sha = forge.sha(REPO, "main") or ""
    forge.add_user("ann", {REPO: "write"})
    async with httpx.AsyncClient(verify=PLAIN) as http:
        token = forge.personal_token("ann")
        github = GitHub(http, api_url=forge.api_url, app=None, token=token, now=time.time)
        want_check(store, sha)
        await Outbox(store, github, now=Clock()).flush()
    assert (statuses(forge), forge.checks(REPO, sha)) == ([RED], [])


async def test_without_any_way_to_say_a_verdict_it_waits_and_the_comment_still_tells(
    forge: LocalForge, github: GitHub, store: Store
) -> None:
    sha = forge.sha(REPO, "main") or ""
    for name in ("checks", "statuses"):
        del forge.state.permissions[name]
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_check(store, sha)
    await outbox.flush()
    await outbox.flush()
    [comment] = forge.comments(REPO, 1)
    forge.state.permissions |= {"checks": "write"}
    github.forget_grants()
    clock.time += 7 * HOUR_S
    await outbox.flush()
    assert "Permission not granted: `checks: write`." in comment
    assert [run.conclusion for run in forge.checks(REPO, sha)] == ["failure"]


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


async def test_a_host_that_wakes_too_late_for_its_claim_sends_nothing(
    forge: LocalForge, github: GitHub, store: Store
) -> None:
    want_comment(store, "late")
    await Outbox(store, github, now=Clock(), claim_s=0).flush()
    assert (forge.requests, standing(store).tries) == ([], 1)


async def test_a_host_that_fails_late_leaves_the_claim_of_another_alone(postgres_url: str) -> None:
    store = open_store(postgres_url)
    want_comment(store, "done")
    with store.write() as c:
        first = posts.claim(c, standing(store), 100.0, host="one")
        second = posts.claim(c, standing(store), 200.0, host="two")
        posts.record_failure(c, standing(store), error="late", not_before=0, claimed_until=first or 0)
        third = posts.claim(c, standing(store), 201.0, host="one")
    store.close()
    assert (first, second, third) == (120.0, 220.0, None)


async def test_a_host_that_starts_again_posts_at_once_what_it_was_killed_over(postgres_url: str) -> None:
    store = open_store(postgres_url)
    want_comment(store, "done")
    with store.write() as c:
        posts.claim(c, standing(store), 100.0, host="one")
        posts.release(c, "two")
        before = posts.next_due_at(c, 101.0)
        posts.release(c, "one")
        after = posts.next_due_at(c, 101.0)
    store.close()
    assert (before, after) == (120.0, 0.0)


async def test_a_clock_that_jumps_back_strands_no_post(forge: LocalForge, github: GitHub, store: Store) -> None:
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_comment(store, "one")
    await outbox.flush()
    want_comment(store, "two")  # waits for its pace
    clock.time -= 86400.0
    await outbox.flush()
    assert forge.comments(REPO, 1) == [f"{MARK}\ntwo"]


# What each kind of wish asks of the forge, and how its row is named
WRITES = {
    "comment:1": ("POST", "/issues/1/comments"),
    "labels": ("POST", "/issues/1/labels"),
    "unlabelled": ("DELETE", "/issues/3/labels/"),
    "reaction": ("POST", "/issues/comments/[0-9]+/reactions"),
    "on a line": ("POST", "/pulls/comments/[0-9]+/reactions"),
    "pull": ("PATCH", "/pulls/2"),
}
SOON, LATER = (1.6, 2.5), (299.0, 301.0)
FAULTS: dict[str, tuple[int | str, dict[str, str], tuple[float, float]]] = {
    "401": (401, {}, SOON),
    "403, a permission": (403, {"x-accepted-github-permissions": "issues=write"}, (6 * HOUR_S - 1, 6 * HOUR_S + 1)),
    "403, a secondary limit": (403, {"retry-after": "120"}, (110.0, 121.0)),
    "404": (404, {}, LATER),
    "410": (410, {}, LATER),
    "422": (422, {}, LATER),
    "429": (429, {}, (50.0, 61.0)),
    "500": (500, {}, SOON),
    "502": (502, {}, SOON),
    "cut": ("cut", {}, SOON),
    "hang": ("hang", {}, SOON),
}
SHOWN = (1, ["bug", "bot: red"], ["bug"], [("sluice[bot]", "+1")], [("sluice[bot]", "eyes")], "Mend it", "for #1")
MOOT = (1, ["bug", "bot: red"], ["bug", "Bot"], [], [], "Mend it", "for #1")


def want_the_rest(forge: LocalForge, store: Store) -> Callable[[], tuple[object, ...]]:
    """Wish for labels, reactions and a pull request's text; return how the forge shows them."""
    forge.label_issue(REPO, 1, "bug", user="ann")
    forge.commit(REPO, {"a.txt": "two\n"}, "Change", branch="work")
    pull = forge.open_pull(REPO, "Draft", "later", head="work", user="ann")
    other = forge.open_issue(REPO, "Another", "text", user="ann", labels=("bug", "Bot"))
    said = forge.comment(REPO, 1, "/bot retry", user="ann")
    line = forge.review_comment(REPO, pull, "hm", path="a.txt", line=1, user="ann")
    with store.write() as c:
        for key, kind, wanted in (
            ("labels", "labels", {"issue": 1, "add": ["bot: red", "Bug"], "remove": ["bot"]}),
            ("unlabelled", "labels", {"issue": other, "add": [], "remove": ["bot"]}),
            ("reaction", "reaction", {"comment": said, "content": "+1"}),
            ("on a line", "reaction", {"comment": line, "content": "eyes", "on_line": True}),
            ("pull", "pull", {"pull": pull, "title": "Mend it", "body": "for #1"}),
        ):
            posts.want(c, key, kind, repository=REPO, wanted=wanted, now=0.0)
    want_comment(store, "RED")
    known = forge.state.repositories[REPO]
    return lambda: (
        len([one for one in forge.comments(REPO, 1) if one.startswith(MARK)]),
        known.issues[1].labels, known.issues[other].labels, known.comments[said].reactions,
        known.review_comments[line].reactions, known.issues[pull].title, known.issues[pull].body,
    )  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
async def test_whatever_is_wished_for_meets_a_fault_waits_as_it_should_and_stands_there_once(
    forge: LocalForge, store: Store, fault: str
) -> None:
    what, headers, wait = FAULTS[fault]
    ahead = [0.0]
    async with httpx.AsyncClient(verify=PLAIN) as http:
        app = App(str(forge.app_id), forge.private_key)
        limit_s = 0.15 if fault == "hang" else 10.0
        github = GitHub(
            http, api_url=forge.api_url, app=app, token=None, now=time.time, sleep=_at_once, limit_s=limit_s
        )
        await github.issue(REPO, 1)  # who we are is known before anything hangs
        outbox = Outbox(store, github, now=lambda: time.time() + ahead[0])
        shown = want_the_rest(forge, store)
        for method, path in WRITES.values():
            forge.fail_next(method, path, what, times=99, headers=headers)
        began = time.time()
        await outbox.flush()
        took_s = time.time() - began
        with store.read() as c:
            rows = c.exec_driver_sql("SELECT key, tries, not_before, error FROM posts WHERE error != ''").all()
        waits = {row.key: wait[0] <= row.not_before - began <= wait[1] + took_s and row.tries == 1 for row in rows}
        forge.faults.clear()
        github.limiter(REPO).blocked_until = 0.0
        ahead[0] = 7 * HOUR_S
        await outbox.flush()
    with store.read() as c:
        left = c.exec_driver_sql("SELECT key, error FROM posts WHERE error != ''").all()
    gone = fault in ("404", "410")  # a comment or a label that is not there needs nothing more
    waiting = {"labels", "pull", "comment:1"} if gone else set(WRITES)
    assert (waits, shown(), left) == (dict.fromkeys(waiting, True), MOOT if gone else SHOWN, [])


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


async def test_what_the_forge_keeps_refusing_is_given_up_and_a_newer_wish_is_posted(
    forge: LocalForge, github: GitHub, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    outbox = Outbox(store, github, now=clock)
    want_comment(store, "one")
    forge.fail_next("POST", "/comments", 403, times=99)  # a locked conversation
    for _ in range(20):
        await outbox.flush()
        clock.time += 6 * HOUR_S
    tried = sum(1 for asked in forge.requests if asked == ("POST", f"/repos/{REPO}/issues/1/comments"))
    forge.faults.clear()
    want_comment(store, "two")
    await outbox.flush()
    given_up = [record for record in caplog.records if record.message == "given up"]
    assert (tried, len(given_up), forge.comments(REPO, 1)) == (12, 1, [f"{MARK}\ntwo"])
