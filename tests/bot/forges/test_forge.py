"""The client and the local forge, talking over real HTTP."""

import random
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from bot.forges.answers import HeadMoved, Merged
from bot.forges.errors import RateLimited, Refused, Unreachable
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.forges.local.markdown import render_markdown
from tests.plain import PLAIN

REPO = "acme/app"


@pytest.fixture(autouse=True)
def repository(forge: LocalForge) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.add_user("ann", {REPO: "write"})


def git(folder: Path, *args: str) -> str:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_TERMINAL_PROMPT": "0"}  # fmt: skip
    done = subprocess.run(["git", *args], cwd=folder, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def push(forge: LocalForge, tmp_path: Path, token: str, branch: str, text: str) -> str:
    clone = tmp_path / f"clone-{branch}"
    git(tmp_path, "clone", "-q", forge.git_url(REPO).replace("http://", f"http://x:{token}@"), str(clone))
    git(clone, "checkout", "-qb", branch)
    (clone / "a.txt").write_text(f"{text}\n")
    git(clone, "commit", "-qam", "x")
    git(clone, "push", "-q", "origin", branch)
    return git(clone, "rev-parse", "HEAD")


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
    async with httpx.AsyncClient(verify=PLAIN) as http:
        page = await http.get(forge.url + path)
    assert (page.status_code, "<script>" in page.text, "<img" in page.text) == (200, False, False)


def people_do(forge: LocalForge) -> None:
    """Do what people do to a pull request, once each."""
    forge.commit(REPO, {"a.txt": "two\n"}, "Change", branch="work")
    number = forge.open_pull(REPO, "Fix", "x", head="work", user="ann")
    forge.commit(REPO, {"a.txt": "three\n"}, "More", branch="work")
    forge.review(REPO, number, "please test it", user="ann")
    forge.review_comment(REPO, number, "why?", path="a.txt", line=1, user="ann")
    comment = forge.comment(REPO, number, "well", user="ann")
    forge.delete_comment(REPO, comment, user="ann")


async def test_what_people_do_is_told_as_github_tells_it(forge: LocalForge, github: GitHub) -> None:
    made = await github.create_check_run(REPO, name="gate", head_sha=forge.sha(REPO, "main"), status="queued")
    people_do(forge)
    forge.rerequest_check(REPO, made.id, user="ann")
    forge.wait(lambda: len([d for d in forge.state.deliveries if d.status]) == 7)
    assert [f"{d.event}.{d.action}" for d in forge.state.deliveries] == [
        "pull_request.opened", "pull_request.synchronize", "pull_request_review.submitted",
        "pull_request_review_comment.created", "issue_comment.created", "issue_comment.deleted",
        "check_run.rerequested",
    ]  # fmt: skip


async def test_a_push_moves_the_head_of_its_pull_request(forge: LocalForge, github: GitHub, tmp_path: Path) -> None:
    token = await github.git_token(REPO)
    push(forge, tmp_path, token, "work", "two")
    pull = await github.open_pull(REPO, head="work", base="main", title="Fix", body="x")
    clone = tmp_path / "clone-work"
    git(clone, "commit", "-q", "--allow-empty", "-m", "more")
    git(clone, "push", "-q", "origin", "work")
    assert (await github.pull(REPO, pull.number)).head.sha == git(clone, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("write", "branch", "told"),
    [
        (True, "main", "protected branch hook declined"),
        (False, "work", "Authentication failed"),
    ],
)
async def test_a_push_that_must_not_be_is_declined(
    forge: LocalForge, github: GitHub, tmp_path: Path, write: bool, branch: str, told: str
) -> None:
    before = forge.sha(REPO, branch)
    url = forge.git_url(REPO).replace("http://", f"http://x:{await github.git_token(REPO, write=write)}@")
    git(tmp_path, "clone", "-q", url, "clone")
    git(tmp_path / "clone", "commit", "-q", "--allow-empty", "-m", "x")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        git(tmp_path / "clone", "push", "origin", f"HEAD:{branch}")
    assert (told in refused.value.stderr, forge.sha(REPO, branch)) == (True, before)


@pytest.mark.parametrize("granted", [False, True])
async def test_changing_workflows_needs_its_permission(
    forge: LocalForge, github: GitHub, tmp_path: Path, granted: bool
) -> None:
    if granted:
        forge.state.permissions["workflows"] = "write"
    token = await github.git_token(REPO, workflows=granted)
    git(tmp_path, "clone", "-q", forge.git_url(REPO).replace("http://", f"http://x:{token}@"), "clone")
    workflow = tmp_path / "clone/.github/workflows/ci.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text("on: push\n")
    git(tmp_path / "clone", "add", "-A")
    git(tmp_path / "clone", "commit", "-q", "-m", "x")
    told = ""
    try:
        git(tmp_path / "clone", "push", "-q", "origin", "HEAD:ci")
    except subprocess.CalledProcessError as refused:
        told = refused.stderr
    assert ("create or update workflow `.github/workflows/ci.yml`" in told, forge.sha(REPO, "ci") is not None) == (
        not granted, granted,
    )  # fmt: skip


async def test_a_large_push_arrives_whole(forge: LocalForge, github: GitHub, tmp_path: Path) -> None:
    url = forge.git_url(REPO).replace("http://", f"http://x:{await github.git_token(REPO)}@")
    git(tmp_path, "clone", "-q", url, "clone")
    large = random.Random(7).randbytes(5_000_000)
    (tmp_path / "clone/large.bin").write_bytes(large)
    git(tmp_path / "clone", "add", "-A")
    git(tmp_path / "clone", "commit", "-q", "-m", "large")
    git(tmp_path / "clone", "push", "-q", "origin", "HEAD:large")
    assert forge.file(REPO, "large", "large.bin") == large


async def test_a_token_of_one_repository_opens_no_other(forge: LocalForge, github: GitHub, tmp_path: Path) -> None:
    forge.create_repository("acme/other", {"b.txt": "b"})
    url = forge.git_url("acme/other").replace("http://", f"http://x:{await github.git_token(REPO)}@")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        git(tmp_path, "clone", "-q", url, "clone")
    assert "Authentication failed" in refused.value.stderr


async def test_suites_tell_whether_a_push_started_anything(forge: LocalForge, github: GitHub) -> None:
    sha = forge.sha(REPO, "main") or ""
    before = await github.check_suites(REPO, sha)
    forge.start_suite(REPO, sha)
    [suite] = await github.check_suites(REPO, sha)
    assert (before, suite.app and suite.app.slug) == ([], "github-actions")


async def test_a_pull_request_is_shown_with_its_difference_and_checks(forge: LocalForge, github: GitHub) -> None:
    people_do(forge)
    await github.create_check_run(
        REPO, name="gate", head_sha=forge.sha(REPO, "work"), status="completed", conclusion="failure",
        output={"title": "RED <b>", "summary": "1 failed"},
    )  # fmt: skip
    async with httpx.AsyncClient(verify=PLAIN) as http:
        page = await http.get(f"{forge.url}/{REPO}/pull/1")
    shown = [part in page.text for part in ("-one", "+three", "gate</strong>: failure", "RED &lt;b&gt;", "1 failed")]
    assert (page.status_code, shown) == (200, [True] * 5)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<!-- marker -->\n### Done", "<h3>Done</h3>\n"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>\n"),
        ("<b onclick=x>a", "<p>&lt;b onclick=x&gt;a</p>\n"),
        ("[a](javascript:x)", "<p>[a](javascript:x)</p>\n"),
        ("![a](http://h/x.png)", '<p>!<a href="http://h/x.png">a</a></p>\n'),
        ("<details><summary>More</summary>\n\ntext\n</details>",
         "<details>\n<summary>More</summary>\n<p>text</p>\n</details>\n"),
        ("<details open=x>", "<p>&lt;details open=x&gt;</p>\n"),
        ("</details></details>", "<p>&lt;/details&gt;</p>\n<p>&lt;/details&gt;</p>\n"),
    ],
)  # fmt: skip
def test_comments_are_shown_without_html_of_strangers(text: str, html: str) -> None:
    assert render_markdown(text) == html
