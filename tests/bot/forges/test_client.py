"""The client's operations, each held to GitHub's description: github.com's and an Enterprise Server's."""

import asyncio
import inspect
import time

import httpx
import pytest

from bot.connecting import by_size
from bot.forges.errors import Refused
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.forges.local.front import Exchange
from tests.contract import Contract
from tests.plain import PLAIN

REPO = "acme/app"


async def use_everything(forge: LocalForge, github: GitHub, *, parted: bool) -> None:
    sha = forge.sha(REPO, "work") or ""
    await github.installation(REPO)
    await github.lacks(REPO)
    await github.git_token(REPO)
    await github.we(REPO)
    await github.login(REPO)
    await github.issue(REPO, 1)
    await github.waits_for(REPO, 1, parted=parted)
    await github.default_branch(REPO)
    await github.size_kb(REPO)
    await github.branch_sha(REPO, "main")
    await github.file(REPO, "a.txt", "main")
    await github.folder(REPO, "docs", "main")
    await github.permission(REPO, "ann")
    await github.labelled_issues(REPO, "bot")
    await github.add_labels(REPO, 1, ["in progress"])
    await github.remove_label(REPO, 1, "in progress")
    comment = await github.create_comment(REPO, 1, "hello")
    await github.find_comment(REPO, 1, "hello")
    await github.update_comment(REPO, comment.id, "again")
    await github.react(REPO, comment.id, "eyes")
    run = await github.create_check_run(REPO, name="gate", head_sha=sha, status="in_progress", external_id="t")
    await github.find_check_run(REPO, sha, "gate", external_id="t")
    output = {"title": "GREEN", "summary": "41 tests"}
    await github.update_check_run(REPO, run.id, status="completed", conclusion="success", output=output)
    await github.check_suites(REPO, sha)
    await github.set_status(REPO, sha, state="success", context="gate", description="x" * 200)
    pull = await github.open_pull(REPO, head="work", base="main", title="Fix", body="Closes #1")
    await github.find_pull(REPO, "work")
    await github.update_pull(REPO, pull.number, title="Fix it")
    await github.pull(REPO, pull.number)
    line = await asyncio.to_thread(forge.review_comment, REPO, pull.number, "x", path="a.txt", line=1, user="ann")
    await github.react_to_line(REPO, line, "eyes")
    repo = forge.state.repositories[REPO]
    repo.allows_auto_merge, repo.required_checks = True, {"of others"}
    later = [
        await github.merge_later(REPO, pull, sha=sha, method="squash"),
        forge.issue(REPO, pull.number).merges_later,
    ]
    await github.merge_not_later(REPO, pull.number)
    assert (later[0], later[1] is not None, forge.issue(REPO, pull.number).merges_later) == ("", True, None)
    repo.required_checks = set()
    await github.merge_pull(REPO, pull.number, sha=sha, method="squash")
    await github.app()
    await github.installations()
    await github.repositories()
    await github.hook_url()
    await github.set_hook(url=f"{forge.url}/nowhere", secret="s")
    [*_, delivery] = await github.deliveries()
    await github.delivery_payload(delivery.id)
    await github.redeliver(delivery.id)


async def use_hooks(forge: LocalForge, http: httpx.AsyncClient) -> None:
    forge.add_user("max", {REPO: "admin"})
    token = forge.personal_token("max")
    github = GitHub(http, api_url=forge.api_url, app=None, token=token, now=time.time)
    for secret in ("one", "two"):
        hook = await github.keep_hook(REPO, url="http://127.0.0.1:9/hook", secret=secret, events=["issues"])
    await github.ping_hook(REPO, hook)
    forge.wait(lambda: all(d.status for d in forge.state.deliveries))  # none is on its way when the forge closes


@pytest.mark.parametrize("description", ["api.github.com", "ghes-3.19"])
async def test_every_operation_is_as_github_describes_it(forge: LocalForge, github: GitHub, description: str) -> None:
    forge.observer = contract = Contract(description)
    forge.create_repository(REPO, {"a.txt": "one\n", "docs/b.md": "two\n"})
    forge.commit(REPO, {"a.txt": "two\n"}, "Change", branch="work")
    forge.open_issue(REPO, "Bug", "text", user="ann", labels=("bot",))
    forge.comment(REPO, 1, "hm", user="ann")
    forge.edit_issue(REPO, 1, title="Bug!", body="text", user="ann")
    forge.wait(lambda: len([d for d in forge.state.deliveries if d.status]) == 4)
    await use_everything(forge, github, parted=description == "api.github.com")
    async with httpx.AsyncClient() as http:
        await use_hooks(forge, http)
    assert (contract.wrong, len(contract.seen)) == ([], 39 + (description == "api.github.com"))


def test_no_operation_of_the_client_escapes_the_description() -> None:
    asks = [name for name, found in inspect.getmembers(GitHub, inspect.iscoroutinefunction) if name[0] != "_"]
    used = inspect.getsource(use_everything) + inspect.getsource(use_hooks)
    assert [name for name in asks if f"github.{name}(" not in used] == []


async def test_a_server_without_sub_issues_has_none(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.open_issue(REPO, "Bug", "text", user="ann")
    forge.fail_next("GET", "/sub_issues", 404)
    assert await github.waits_for(REPO, 1) == []


async def test_a_personal_token_does_the_same_but_for_what_only_an_app_can(forge: LocalForge) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.add_user("ann", {REPO: "write"})
    forge.open_issue(REPO, "Bug", "text", user="ann")
    async with httpx.AsyncClient(verify=PLAIN) as http:
        token = forge.personal_token("ann")
        github = GitHub(http, api_url=forge.api_url, app=None, token=token, now=time.time)
        made = await github.create_comment(REPO, 1, "<!-- m --> hello")
        found = await github.find_comment(REPO, 1, "<!-- m -->")
        with pytest.raises(Refused, match="a personal token cannot"):
            await github.deliveries()
    assert (found, made.user and made.user.login) == (made, "ann")


async def test_lists_are_read_to_their_end(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    for number in range(205):
        forge.open_issue(REPO, f"Bug {number}", "text", user="ann", labels=("bot",))
    found = await github.labelled_issues(REPO, "bot")
    assert [issue.number for issue in found] == list(range(205, 0, -1))


async def test_what_has_not_changed_is_not_sent_again(forge: LocalForge, github: GitHub) -> None:
    statuses: list[int] = []
    forge.create_repository(REPO, {"a.txt": "one\n"})
    number = forge.open_issue(REPO, "Bug", "text", user="ann", labels=("bot",))

    class Watch(Contract):
        def exchange(self, exchange: Exchange) -> None:
            statuses.append(exchange.status)
            super().exchange(exchange)

    await github.labelled_issues(REPO, "bot")
    forge.observer = Watch()
    await github.labelled_issues(REPO, "bot")
    forge.edit_issue(REPO, number, title="Bug!", body="text", user="ann")
    [issue] = await github.labelled_issues(REPO, "bot")
    assert (statuses, issue.title) == ([304, 200], "Bug!")


async def test_a_strangers_comment_with_our_marker_is_not_ours(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    number = forge.open_issue(REPO, "Bug", "text", user="eve")
    forge.comment(REPO, number, "<!-- m --> mine", user="eve")
    assert await github.find_comment(REPO, number, "<!-- m -->") is None


async def test_deliveries_are_listed_back_to_a_time(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    for number in range(150):
        forge.open_issue(REPO, f"Bug {number}", "text", user="ann")
    forge.wait(lambda: len([d for d in forge.state.deliveries if d.status]) == 150)
    found = await github.deliveries()
    none = await github.deliveries(since="2999-01-01T00:00:00Z")
    assert (len({d.guid for d in found}), found[0].id > found[-1].id, none) == (150, True, [])


async def test_a_redelivery_keeps_its_guid(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.open_issue(REPO, "Bug", "text", user="ann")
    forge.wait(lambda: [d for d in forge.state.deliveries if d.status])
    [first] = await github.deliveries()
    await github.redeliver(first.id)
    forge.wait(lambda: len([d for d in forge.state.deliveries if d.status]) == 2)
    second, _ = await github.deliveries()
    payload = await github.delivery_payload(second.id)
    assert (second.guid, second.redelivery, payload["request"]["payload"]["action"]) == (first.guid, True, "opened")


async def test_everything_that_the_app_reaches_is_listed(forge: LocalForge, github: GitHub) -> None:
    for name in ("acme/app", "acme/other"):
        forge.create_repository(name, {"a.txt": "one\n"})
    [installation] = await github.installations()
    assert (await github.repositories(), installation.account and installation.account.login) == (
        ["acme/app", "acme/other"],
        "operator",
    )


@pytest.mark.parametrize(("least_mb", "size_kb", "is_large"), [(0, 900_000, False), (2, 2047, False), (2, 2048, True)])
async def test_a_repository_is_large_from_the_operators_size_on(
    forge: LocalForge, github: GitHub, least_mb: int, size_kb: int, is_large: bool
) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.state.repositories[REPO].size_kb = size_kb
    assert await by_size(github, least_mb)(REPO) is is_large
