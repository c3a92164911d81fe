"""What a user of the client sees of each fault of the forge."""

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from bot.forges.answers import HeadMoved, Merged, NotMergeable
from bot.forges.auth import App
from bot.forges.errors import NotGranted, RateLimited, Refused, Unreachable
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from tests.plain import PLAIN

REPO = "acme/app"
MARKED = "<!-- sluice:t1 -->\nworking"


@pytest.fixture(autouse=True)
def repository(forge: LocalForge) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.commit(REPO, {"a.txt": "two\n"}, "Change", branch="work")
    forge.open_issue(REPO, "Bug", "text", user="ann")


def asked(forge: LocalForge, method: str, end: str) -> int:
    return sum(1 for m, path in forge.requests if m == method and path.endswith(end))


@pytest.mark.parametrize("fault", [500, 502, 503, 504, "cut", "hang"])
async def test_a_read_survives_a_passing_fault(forge: LocalForge, github: GitHub, fault: int | str) -> None:
    await github.file(REPO, "a.txt", "main")
    forge.fail_next("GET", "/contents/", fault, times=1 if fault == "hang" else 2)
    assert await github.file(REPO, "a.txt", "main") == b"one\n"


@pytest.mark.parametrize("fault", [502, "cut"])
async def test_a_read_that_stays_broken_is_told(forge: LocalForge, github: GitHub, fault: int | str) -> None:
    forge.fail_next("GET", "/contents/", fault, times=99)
    with pytest.raises(Unreachable):
        await github.file(REPO, "a.txt", "main")
    assert asked(forge, "GET", "/contents/a.txt") == 3


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (400, "400: PATCH /repos/acme/app/pulls/2: asked to fail"),
        (403, "403: PATCH /repos/acme/app/pulls/2: asked to fail"),
        (404, "404: PATCH /repos/acme/app/pulls/2: asked to fail"),
        (409, "409: PATCH /repos/acme/app/pulls/2: asked to fail"),
        (410, "410: PATCH /repos/acme/app/pulls/2: asked to fail"),
        (422, "422: PATCH /repos/acme/app/pulls/2: asked to fail"),
    ],
)
async def test_a_refusal_is_told_with_its_status(forge: LocalForge, github: GitHub, status: int, told: str) -> None:
    forge.fail_next("PATCH", "/pulls/2", status)
    with pytest.raises(Refused) as refused:
        await github.update_pull(REPO, 2, title="Fix")
    assert str(refused.value) == told


@pytest.mark.parametrize("fault", [500, 502, "cut", "done, then cut", "hang"])
async def test_a_comment_is_there_once_whatever_happened_to_its_answer(
    forge: LocalForge, github: GitHub, fault: int | str
) -> None:
    forge.fail_next("POST", "/comments", fault)
    made = await github.create_comment(REPO, 1, MARKED)
    assert (forge.comments(REPO, 1), made.body) == ([MARKED], MARKED)


@pytest.mark.parametrize("fault", [502, "done, then cut"])
async def test_a_check_run_is_there_once_whatever_happened_to_its_answer(
    forge: LocalForge, github: GitHub, fault: int | str
) -> None:
    sha = forge.sha(REPO, "main") or ""
    forge.fail_next("POST", "/check-runs", fault)
    made = await github.create_check_run(REPO, name="gate", head_sha=sha, status="queued", external_id="t1")
    assert [run.id for run in forge.checks(REPO, sha)] == [made.id]


@pytest.mark.parametrize("fault", [502, "done, then cut"])
async def test_a_pull_request_is_there_once_whatever_happened_to_its_answer(
    forge: LocalForge, github: GitHub, fault: int | str
) -> None:
    forge.fail_next("POST", "/pulls", fault)
    made = await github.open_pull(REPO, head="work", base="main", title="Fix", body="Closes #1")
    assert (made.number, len(forge.state.repositories[REPO].issues)) == (2, 2)


async def test_a_second_pull_request_of_a_branch_is_the_first(forge: LocalForge, github: GitHub) -> None:
    made = await github.open_pull(REPO, head="work", base="main", title="Fix", body="x")
    assert (await github.open_pull(REPO, head="work", base="main", title="Fix", body="x")).number == made.number


async def test_a_post_that_cannot_be_found_again_is_not_repeated(forge: LocalForge, github: GitHub) -> None:
    forge.fail_next("POST", "/comments", "done, then cut")
    with pytest.raises(Unreachable):
        await github.create_comment(REPO, 1, "no marker")
    assert forge.comments(REPO, 1) == ["no marker"]


async def test_a_merge_without_an_answer_is_looked_at_and_not_repeated(forge: LocalForge, github: GitHub) -> None:
    sha = forge.sha(REPO, "work") or ""
    pull = await github.open_pull(REPO, head="work", base="main", title="Fix", body="x")
    forge.fail_next("PUT", "/merge", "done, then cut")
    done = await github.merge_pull(REPO, pull.number, sha=sha, method="squash")
    assert (done, asked(forge, "PUT", "/merge")) == (Merged(forge.issue(REPO, pull.number).merged_sha or ""), 1)


async def test_a_merge_that_did_not_happen_is_not_tried_again_blindly(forge: LocalForge, github: GitHub) -> None:
    pull = await github.open_pull(REPO, head="work", base="main", title="Fix", body="x")
    forge.fail_next("PUT", "/merge", 502)
    with pytest.raises(Unreachable):
        await github.merge_pull(REPO, pull.number, sha=pull.head.sha, method="squash")
    assert (asked(forge, "PUT", "/merge"), forge.issue(REPO, pull.number).merged_sha) == (1, None)


async def test_a_merge_is_refused_with_the_reason(forge: LocalForge, github: GitHub) -> None:
    forge.state.repositories[REPO].required_checks.add("gate")
    pull = await github.open_pull(REPO, head="work", base="main", title="Fix", body="x")
    done = [
        await github.merge_pull(REPO, pull.number, sha="0" * 40, method="squash"),
        await github.merge_pull(REPO, pull.number, sha=pull.head.sha, method="squash"),
    ]
    assert done == [HeadMoved(), NotMergeable('Required status check "gate" is expected.')]


@pytest.mark.parametrize(
    ("allows", "required", "said"),
    [
        (True, {"gate"}, ""),
        (True, set(), "Pull request is in clean status"),
        (False, {"gate"}, "Auto merge is not allowed for this repository"),
    ],
    ids=["waits", "nothing to wait for", "not allowed"],
)
async def test_a_merge_may_be_left_to_the_forge_until_its_checks_have_passed(
    forge: LocalForge, github: GitHub, allows: bool, required: set[str], said: str
) -> None:
    forge.state.repositories[REPO].required_checks |= required
    forge.state.repositories[REPO].allows_auto_merge = allows
    pull = await github.open_pull(REPO, head="work", base="main", title="Fix", body="x")
    why = await github.merge_later(REPO, pull, sha=pull.head.sha, method="squash")
    for conclusion in ("failure", "success"):
        await github.create_check_run(
            REPO, name="gate", head_sha=pull.head.sha, status="completed", conclusion=conclusion
        )
    assert (why, forge.issue(REPO, pull.number).merged_sha is not None) == (said, not said)


LIMITS = [
    pytest.param(429, {"retry-after": "1800"}, 1800, id="secondary-429"),
    pytest.param(403, {"retry-after": "1800"}, 1800, id="secondary-403"),
    pytest.param(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "RESET"}, 1800, id="primary-403"),
    pytest.param(429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "RESET"}, 1800, id="primary-429"),
    pytest.param(429, {}, 60, id="no-time-named"),
]


@pytest.mark.parametrize(("status", "headers", "after_s"), LIMITS)
async def test_a_long_limit_is_told_at_once_and_nothing_more_is_asked(
    forge: LocalForge, github: GitHub, status: int, headers: dict[str, str], after_s: int
) -> None:
    named = {key: value.replace("RESET", str(int(time.time() + after_s))) for key, value in headers.items()}
    forge.fail_next("GET", "/contents/", status, headers=named)
    with pytest.raises(RateLimited) as first:
        await github.file(REPO, "a.txt", "main")
    before = len(forge.requests)
    with pytest.raises(RateLimited) as second:
        await github.create_comment(REPO, 1, MARKED)
    near = [abs(told.value.until - time.time() - after_s) < 5 for told in (first, second)]
    assert (near, len(forge.requests)) == ([True, True], before)


async def test_a_limit_that_names_no_time_is_waited_for_longer_each_time_until_it_is_over(
    forge: LocalForge,
) -> None:
    clock, waited = [time.time()], []
    forge.add_user("ann", {REPO: "write"})
    async with httpx.AsyncClient(verify=PLAIN) as http:
        token = forge.personal_token("ann")
        github = GitHub(http, api_url=forge.api_url, app=None, token=token, now=lambda: clock[0])
        forge.fail_next("GET", "/contents/", 429, times=3)
        for _ in range(3):
            with pytest.raises(RateLimited) as told:
                await github.file(REPO, "a.txt", "main")
            waited.append(round(told.value.until - clock[0]))
            clock[0] = told.value.until
        await github.file(REPO, "a.txt", "main")
        forge.fail_next("GET", "/contents/", 429)
        with pytest.raises(RateLimited) as told:
            await github.file(REPO, "a.txt", "main")
        waited.append(round(told.value.until - clock[0]))
    assert waited == [60, 120, 240, 60]


async def test_a_short_limit_is_slept_and_the_post_is_sent_again(forge: LocalForge) -> None:
    slept: list[float] = []
    clock = [time.time()]

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    async with httpx.AsyncClient(verify=PLAIN) as http:
        app = App(str(forge.app_id), forge.private_key)
        github = GitHub(http, api_url=forge.api_url, app=app, token=None, now=lambda: clock[0], sleep=sleep)
        forge.fail_next("POST", "/comments", 429, headers={"retry-after": "2"})
        await github.create_comment(REPO, 1, MARKED)
    assert (slept, forge.comments(REPO, 1)) == ([2.0], [MARKED])


async def test_a_revoked_token_is_renewed_once_and_a_second_no_is_told(forge: LocalForge, github: GitHub) -> None:
    await github.file(REPO, "a.txt", "main")
    forge.state.tokens.clear()
    assert await github.file(REPO, "a.txt", "main") == b"one\n"
    forge.fail_next("GET", "/contents/", 401, times=2)
    with pytest.raises(Refused, match="401"):
        await github.file(REPO, "a.txt", "main")
    assert asked(forge, "POST", "/access_tokens") == 3


async def test_twenty_first_calls_mint_one_token(forge: LocalForge, github: GitHub) -> None:
    found = await asyncio.gather(*(github.issue(REPO, 1) for _ in range(20)))
    assert ({issue.title for issue in found}, asked(forge, "POST", "/access_tokens")) == ({"Bug"}, 1)


async def test_a_caller_that_gives_up_does_not_spoil_the_token_of_the_others(forge: LocalForge, github: GitHub) -> None:
    calls = [asyncio.create_task(github.issue(REPO, 1)) for _ in range(3)]
    await asyncio.sleep(0)
    calls[0].cancel()
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result).__name__ for result in found] == ["CancelledError", "Issue", "Issue"]


async def test_a_token_about_to_end_is_renewed_before_it_does(tmp_path: Path) -> None:
    clock = [1_000_000.0]
    forge = LocalForge(tmp_path / "other", now=lambda: clock[0])
    forge.create_repository(REPO, {"a.txt": "one\n"})
    async with httpx.AsyncClient(verify=PLAIN) as http:
        app = App(str(forge.app_id), forge.private_key)
        github = GitHub(http, api_url=forge.api_url, app=app, token=None, now=lambda: clock[0])
        tokens = [await github.git_token(REPO), await github.git_token(REPO)]
        clock[0] += 3600 - 299
        tokens.append(await github.git_token(REPO))
    forge.close()
    assert (tokens[0] == tokens[1], tokens[1] == tokens[2]) == (True, False)


async def test_tokens_are_narrowed_to_repository_and_need(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository("acme/other", {"b.txt": "b"})
    await github.git_token(REPO)
    await github.git_token(REPO, write=False)
    await github.permission(REPO, "ann")
    given = [(sorted(token.repositories), token.permissions) for token in forge.state.tokens.values()]
    assert given == [
        ([REPO], {"contents": "write"}),
        ([REPO], {"contents": "read"}),
        ([REPO], {"metadata": "read"}),
    ]


async def test_a_permission_that_is_missing_is_named_before_anything_is_asked(
    forge: LocalForge, github: GitHub
) -> None:
    del forge.state.permissions["checks"]
    with pytest.raises(NotGranted) as told:
        await github.create_check_run(REPO, name="gate", head_sha=forge.sha(REPO, "main"), status="queued")
    assert str(told.value) == (
        "403: acme/app has not granted the permission checks: write. Its owner accepts it under Settings, GitHub Apps,"
        " Configure (or Review request)"
    )


async def test_a_permission_taken_away_meanwhile_is_named_too(forge: LocalForge, github: GitHub) -> None:
    forge.fail_next("POST", "/check-runs", 403, headers={"x-accepted-github-permissions": "checks=write"})
    with pytest.raises(NotGranted) as told:
        await github.create_check_run(REPO, name="gate", head_sha=forge.sha(REPO, "main"), status="queued")
    assert told.value.permission == "checks: write"


async def test_pushing_workflows_needs_a_permission_of_its_own(github: GitHub) -> None:
    with pytest.raises(NotGranted, match="workflows: write"):
        await github.git_token(REPO, workflows=True)


async def test_a_repository_without_the_app_is_named(github: GitHub) -> None:
    with pytest.raises(Refused, match="the App is not installed on acme/elsewhere"):
        await github.issue("acme/elsewhere", 1)


async def test_an_answer_that_is_no_json_is_as_good_as_none(forge: LocalForge, github: GitHub) -> None:
    forge.fail_next("GET", "/issues/1", 200)
    with pytest.raises(Unreachable, match="not what was expected"):
        await github.issue(REPO, 1)


async def test_a_link_to_another_address_gets_no_token(forge: LocalForge, github: GitHub) -> None:
    forge.fail_next("GET", "/issues/1", 301, headers={"location": "http://127.0.0.1:9/steal"})
    with pytest.raises(Refused, match="our token stays here"):
        await github.issue(REPO, 1)


async def test_a_renamed_repository_is_followed(forge: LocalForge, github: GitHub) -> None:
    number = forge.state.repositories[REPO].id
    forge.fail_next("GET", "/repos/acme/app/issues/1", 301, headers={
        "location": f"{forge.api_url}/repositories/{number}/issues/1"
    })  # fmt: skip
    assert (await github.issue(REPO, 1)).title == "Bug"


async def test_a_wrong_key_is_told_with_what_to_check(forge: LocalForge) -> None:
    async with httpx.AsyncClient(verify=PLAIN) as http:
        app = App("8", forge.private_key)
        github = GitHub(http, api_url=forge.api_url, app=app, token=None, now=time.time)
        with pytest.raises(Refused) as refused:
            await github.issue(REPO, 1)
    assert "check the App's id, its private key and this machine's clock" in str(refused.value)


async def test_after_the_last_request_of_the_hour_nothing_is_asked(forge: LocalForge, github: GitHub) -> None:
    await github.file(REPO, "a.txt", "main")
    reset = str(int(time.time() + 900))
    forge.fail_next("GET", "/contents/", 404, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset})
    found = await github.file(REPO, "a.txt", "main")
    with pytest.raises(RateLimited) as told:
        await github.file(REPO, "a.txt", "main")
    assert (found, told.value.until) == (None, float(reset))


async def test_secrets_are_not_shown(forge: LocalForge, github: GitHub) -> None:
    token = await github.git_token(REPO)
    shown = f"{vars(github)} {App('7', 'the-key')}"
    assert [secret in shown for secret in (token, "PRIVATE KEY", "the-key", "eyJ")] == [False] * 4
