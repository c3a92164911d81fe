"""Checks of people's pull requests, from the push to the check run: real gate, real sandbox, the forge on this machine."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from pydantic import SecretStr

from bot.demo import loop
from bot.forges.local import LocalForge
from bot.forges.local.repos import read_folder
from bot.forges.local.state import CheckRun
from bot.settings import Settings
from tests.bot.living import Bot, Model, cart_model
from tests.contract import Contract
from tests.needs import needs
from tests.plain import PLAIN

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow]
REPO = "acme/shop"
WANTS = {".github/bot.toml": "checks = true\n"}
BREAKS = {"shop/money.py": 'def shown(cents):\n    return "broken"\n'}


def make(forge: LocalForge) -> None:
    forge.create_repository(REPO, {**read_folder(loop.SAMPLES / "shop"), **{k: v.encode() for k, v in WANTS.items()}})
    forge.add_user("ann", {REPO: "write"})


@pytest.fixture
def model() -> Iterator[Model]:
    with cart_model() as model:
        yield model


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def forge_with_bot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalForge]:
    folder = tmp_path_factory.mktemp("checks")
    forge = LocalForge(folder / "forge")
    forge.observer = Contract()
    make(forge)
    settings = Settings(
        data=folder / "bot", port=0, name="h", api_url=forge.api_url, git_url=forge.url, app_id=forge.app_id,
        private_key=SecretStr(forge.private_key), webhook_secret=SecretStr(forge.secret), slots=2,
    )  # fmt: skip
    async with loop.serving(settings) as (service, url):
        forge.hooks.target = f"{url}/webhook"
        yield forge
        await service.drain()
    forge.close()


async def seen(forge: LocalForge, sha: str, when: Callable[[CheckRun], Any]) -> CheckRun:
    """Return our check run of a commit once it is as wanted."""

    def look() -> CheckRun | None:
        return next((run for run in forge.checks(REPO, sha) if run.name == "sluice" and when(run)), None)

    found = await asyncio.to_thread(forge.wait, look)
    assert found is not None
    return found


def done(run: CheckRun) -> bool:
    return run.status == "completed"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_good_pull_request_gets_a_green_check_run(forge_with_bot: LocalForge) -> None:
    forge = forge_with_bot
    sha = forge.commit(REPO, {"README.md": "A shop.\n"}, "words", branch="words")
    forge.open_pull(REPO, "Words", "", head="words", user="ann")
    run = await seen(forge, sha, done)
    assert (run.conclusion, run.output["title"]) == ("success", "GREEN: 2 steps, 2 ran, 4 tests executed, 0 skipped")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_broken_one_fails_and_its_mended_head_is_judged_anew(forge_with_bot: LocalForge) -> None:
    forge = forge_with_bot
    broken = forge.commit(REPO, BREAKS, "break", branch="work")
    number = forge.open_pull(REPO, "Work", "", head="work", user="ann")
    first = await seen(forge, broken, done)
    good = {"shop/money.py": read_folder(loop.SAMPLES / "shop")["shop/money.py"]}
    mended = forge.commit(REPO, good, "mend", branch="work", user="ann")
    second = await seen(forge, mended, done)
    assert (first.conclusion, first.output["title"].split(":")[0], second.conclusion, number > 0) == (
        "failure", "RED", "success", True,
    )  # fmt: skip


@pytest.mark.asyncio(loop_scope="module")
async def test_one_that_weakens_the_gate_is_told_so(forge_with_bot: LocalForge) -> None:
    forge = forge_with_bot
    sha = forge.commit(REPO, {"gate.toml": '[steps.test]\nrun = "true"\n'}, "weaken", branch="weak")
    forge.open_pull(REPO, "Weaker", "", head="weak", user="ann")
    run = await seen(forge, sha, done)
    assert (run.conclusion, run.output["title"].split(":")[0]) == ("failure", "TAMPERED")


@pytest.mark.asyncio(loop_scope="module")
async def test_re_run_judges_the_same_commit_again_in_the_same_check_run(forge_with_bot: LocalForge) -> None:
    forge = forge_with_bot
    sha = forge.commit(REPO, {"NEWS.md": "None.\n"}, "news", branch="news")
    forge.open_pull(REPO, "News", "", head="news", user="ann")
    first = await seen(forge, sha, done)
    ended_at = first.completed_at
    forge.rerequest_check(REPO, first.id, user="ann")
    await seen(forge, sha, lambda run: not done(run))
    second = await seen(forge, sha, done)
    assert (second.id, second.conclusion, len(forge.checks(REPO, sha)), ended_at is not None) == (
        first.id, "success", 1, True,
    )  # fmt: skip


@pytest.mark.asyncio(loop_scope="module")
async def test_a_fork_is_judged_only_after_approval_of_that_very_commit(forge_with_bot: LocalForge) -> None:
    forge = forge_with_bot
    fork = forge.fork(REPO, "eve")
    sha = forge.commit(fork, {"FORK.md": "one\n"}, "fork", branch="fix")
    number = forge.open_pull(REPO, "From a fork", "", head="eve:fix", user="eve")
    waits = await seen(forge, sha, lambda run: "approve" in run.output["title"])
    states = [waits.status]
    forge.comment(REPO, number, f"/bot approve {sha[:10]}", user="eve")
    forge.comment(REPO, number, f"/bot approve {sha[:10]}", user="ann")
    run = await seen(forge, sha, done)
    after = forge.commit(fork, {"FORK.md": "two\n"}, "more", branch="fix")
    waits = await seen(forge, after, lambda run: "approve" in run.output["title"])
    assert (states, run.conclusion, waits.status, waits.output["title"]) == (
        ["queued"], "success", "queued", f"Waits for approval: /bot approve {after[:10]}",
    )  # fmt: skip


@pytest.mark.asyncio(loop_scope="module")
async def test_the_dashboard_shows_each_check_with_the_whole_report(forge_with_bot: LocalForge) -> None:
    target = (forge_with_bot.hooks.target or "").removesuffix("/webhook")
    async with httpx.AsyncClient(verify=PLAIN, base_url=target) as http:
        rows = (await http.get("/api/checks")).json()["checks"]
        page, whole = (await http.get("/checks/1")).text, (await http.get("/checks")).text
    assert (rows[-1]["pull"], rows[-1]["report"]["verdict"], "<h2>Gate: GREEN</h2>" in page) == (1, "GREEN", True)
    assert 'href="/checks/1"' in whole


@pytest.mark.asyncio(loop_scope="module")
async def test_a_ticket_without_the_permissions_it_needs_ends_before_anything_is_spent(
    forge_with_bot: LocalForge,
) -> None:
    forge, repo = forge_with_bot, "acme/second"
    forge.create_repository(repo, {"gate.toml": '[steps.test]\nrun = "pytest"\n'})
    forge.add_user("ann", {repo: "write"})
    granted = dict(forge.state.permissions)
    del forge.state.permissions["pull_requests"]
    number = forge.open_issue(repo, "Bug", "text", user="ann", labels=("bot",))
    await asyncio.to_thread(forge.wait, lambda: forge.issue(repo, number).labels == ["bot: failed"])
    [comment] = await asyncio.to_thread(forge.wait, lambda: forge.comments(repo, number))
    forge.state.permissions |= granted
    assert comment.splitlines()[4] == (
        "Permission not granted: `pull_requests: write`. The owner accepts it under Settings → GitHub Apps → Configure."
    )


@pytest.mark.asyncio(loop_scope="module")
async def test_all_of_it_is_as_github_describes_it(forge_with_bot: LocalForge) -> None:
    contract = forge_with_bot.observer
    assert isinstance(contract, Contract)
    assert "\n".join(contract.wrong) == ""


def test_a_check_cut_short_by_a_kill_is_done_at_the_next_start(tmp_path: Path, forge: LocalForge, model: Model) -> None:
    make(forge)
    bot = Bot(tmp_path, forge, model.url)
    sha = forge.commit(REPO, {"README.md": "A shop.\n"}, "words", branch="words")
    forge.open_pull(REPO, "Words", "", head="words", user="ann")
    bot.until("check started")
    bot.kill()
    again = Bot(tmp_path, forge, model.url)
    try:
        forge.wait(lambda: [run.conclusion for run in forge.checks(REPO, sha)] == ["success"], limit_s=30)
    finally:
        again.kill()
