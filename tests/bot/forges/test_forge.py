"""The client and the local forge, talking over real HTTP."""

import subprocess
import time
from pathlib import Path

import httpx
import pytest

from bot.forges.answers import HeadMoved, Merged
from bot.forges.errors import RateLimited, Refused, Unreachable
from bot.forges.github import GitHub
from bot.forges.local import LocalForge

REPO = "acme/app"


@pytest.fixture(autouse=True)
def repository(forge: LocalForge) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.add_user("ann", {REPO: "write"})


def push(forge: LocalForge, tmp_path: Path, token: str, branch: str, text: str) -> str:
    clone = tmp_path / f"clone-{branch}"
    url = forge.git_url(REPO).replace("http://", f"http://x:{token}@")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}  # fmt: skip
    script = (
        f"git clone -q {url} {clone} && cd {clone} && git checkout -qb {branch} && echo {text} > a.txt"
        f" && git commit -qam x && git push -q origin {branch} && git rev-parse HEAD"
    )
    return subprocess.run(["bash", "-ec", script], env=env, check=True, capture_output=True, text=True).stdout.strip()


async def test_a_branch_is_pushed_with_a_token_and_proposed_and_merged(
    forge: LocalForge, github: GitHub, tmp_path: Path
) -> None:
    forge.open_issue(REPO, "Bug", "text", user="ann")
    sha = push(forge, tmp_path, await github.git_token(REPO), "work", "two")
    pull = await github.open_pull(REPO, head="work", base="main", title="Fix", body="Closes #1")
    found = await github.find_pull(REPO, "work")
    assert (found and found.number, pull.head.sha) == (pull.number, sha)
    assert await github.merge_pull(REPO, pull.number, sha="0" * 40, method="merge") == HeadMoved()
    merged = await github.merge_pull(REPO, pull.number, sha=sha, method="squash")
    assert isinstance(merged, Merged)
    assert (forge.file(REPO, "main", "a.txt"), forge.issue(REPO, 1).state) == (b"two\n", "closed")


async def test_a_comment_is_found_again_and_a_deleted_one_is_told(forge: LocalForge, github: GitHub) -> None:
    number = forge.open_issue(REPO, "Bug", "text", user="ann")
    made = await github.create_comment(REPO, number, "<!-- m --> hello")
    assert await github.find_comment(REPO, number, "<!-- m -->") == made
    assert (await github.update_comment(REPO, made.id, "<!-- m --> again")) is not None
    del forge.state.repositories[REPO].comments[made.id]
    assert await github.update_comment(REPO, made.id, "x") is None


async def test_labels_come_and_go(forge: LocalForge, github: GitHub) -> None:
    number = forge.open_issue(REPO, "Bug", "text", user="ann", labels=("bot",))
    await github.add_labels(REPO, number, ["in progress"])
    await github.remove_label(REPO, number, "bot")
    await github.remove_label(REPO, number, "bot")
    assert [label.name for label in (await github.issue(REPO, number)).labels] == ["in progress"]


async def test_a_check_run_needs_a_commit_that_is_there(forge: LocalForge, github: GitHub) -> None:
    with pytest.raises(Refused, match="No commit found"):
        await github.create_check_run(REPO, name="gate", head_sha="0" * 40, status="queued")
    sha = forge.sha(REPO, "main") or ""
    made = await github.create_check_run(
        REPO, name="gate", head_sha=sha, status="completed", conclusion="failure", external_id="t1",
        output={"title": "RED", "summary": "s"},
    )  # fmt: skip
    assert await github.find_check_run(REPO, sha, "gate", external_id="t1") == made


@pytest.mark.parametrize(("login", "role"), [("ann", "write"), ("eve", "read"), ("nobody", "none")])
async def test_the_role_of_a_person(forge: LocalForge, github: GitHub, login: str, role: str) -> None:
    forge.add_user("eve")
    assert await github.permission(REPO, login) == role


async def test_a_file_is_read_and_a_missing_one_is_none(github: GitHub) -> None:
    assert (await github.file(REPO, "a.txt", "main"), await github.file(REPO, "b.txt", "main")) == (b"one\n", None)


@pytest.mark.parametrize("fault", [500, 502, "cut"])
async def test_what_is_safe_is_asked_again(forge: LocalForge, github: GitHub, fault: int | str) -> None:
    forge.fail_next("GET", "/contents/", fault, times=2)
    assert await github.file(REPO, "a.txt", "main") == b"one\n"


async def test_a_post_that_may_have_worked_is_not_repeated(forge: LocalForge, github: GitHub) -> None:
    number = forge.open_issue(REPO, "Bug", "text", user="ann")
    forge.fail_next("POST", "/comments", "done, then cut")
    with pytest.raises(Unreachable):
        await github.create_comment(REPO, number, "hello")
    assert forge.comments(REPO, number) == ["hello"]


async def test_a_limit_is_told_with_its_end_instead_of_slept_through(forge: LocalForge, github: GitHub) -> None:
    forge.fail_next("GET", "/contents/", 403, headers={"retry-after": "1800"})
    with pytest.raises(RateLimited) as told:
        await github.file(REPO, "a.txt", "main")
    assert 1790 < told.value.until - time.time() < 1810


async def test_a_revoked_token_is_renewed_once(forge: LocalForge, github: GitHub) -> None:
    await github.file(REPO, "a.txt", "main")
    forge.state.tokens.clear()
    assert await github.file(REPO, "a.txt", "main") == b"one\n"


async def test_deliveries_are_signed_and_tried_again(forge: LocalForge, github: GitHub) -> None:
    forge.hooks.target = "http://127.0.0.1:9/webhook"
    forge.open_issue(REPO, "Bug", "text", user="ann")
    forge.wait(lambda: [d for d in forge.state.deliveries if d.status], limit_s=20)
    [delivery] = await github.deliveries()
    assert (delivery.event, delivery.status) == ("issues", "failed to connect: ConnectError")


@pytest.mark.parametrize("path", ["/", "/acme/app", "/acme/app/issues/1", "/acme/app/tree/main"])
async def test_pages_escape_what_strangers_write(forge: LocalForge, path: str) -> None:
    forge.open_issue(REPO, "<script>alert(1)</script>", "<img src=x>", user="ann")
    async with httpx.AsyncClient() as http:
        page = await http.get(forge.url + path)
    assert (page.status_code, "<script>" in page.text, "<img" in page.text) == (200, False, False)
