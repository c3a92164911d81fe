"""Whole conversations: a label in, and out come comment, check run, pull request and merge. Everything real but forge and model."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from bot.demo import loop
from bot.demo.loop import Demo, Ended
from tests.contract import Contract
from tests.needs import needs
from tests.plain import PLAIN

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Demo, list[Ended]]]:
    async with loop.running(tmp_path_factory.mktemp("demo")) as demo:
        demo.forge.observer = Contract()
        yield demo, await loop.play(demo, told=lambda _: None)


Played = tuple[Demo, list[Ended]]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_fix_that_is_green_at_once_is_merged(played: Played) -> None:
    demo, [first, *_] = played
    forge = demo.forge
    pull = forge.issue("acme/shop", first.pull_request or 0)
    [check] = forge.checks("acme/shop", first.head or "")
    assert (first.outcome, first.verdict, pull.state, pull.merged_sha is not None) == (
        "merged",
        "GREEN",
        "closed",
        True,
    )
    assert (check.name, check.status, check.conclusion) == ("sluice", "completed", "success")
    assert check.output["title"] == "GREEN: 2 steps, 2 ran, 5 tests executed, 0 skipped"
    assert pull.body.startswith("Closes #1\n\n`total` now multiplies each price by its quantity; a new test holds it.")
    assert b"line.price * line.quantity" in (forge.file("acme/shop", "main", "shop/cart.py") or b"")
    assert (forge.issue("acme/shop", 1).state, forge.issue("acme/shop", 1).labels) == ("closed", ["bot: merged"])


@pytest.mark.asyncio(loop_scope="module")
async def test_all_that_was_said_to_the_forge_is_as_github_describes_it(played: Played) -> None:
    contract = played[0].forge.observer
    assert isinstance(contract, Contract)
    assert (contract.wrong, len(contract.seen) > 15) == ([], True)


@pytest.mark.asyncio(loop_scope="module")
async def test_there_is_one_comment_and_it_tells_the_end(played: Played) -> None:
    demo, [first, *_] = played
    [comment] = demo.forge.comments("acme/shop", 1)
    lines = [line for line in comment.splitlines() if line]
    assert lines[:3] == [
        "<!-- sluice:ticket:acme/shop#1 -->",
        "### ✅ Merged",
        f"Merged as pull request #{first.pull_request}. Pull request: "
        f"[#{first.pull_request}]({demo.forge.url}/acme/shop/pull/{first.pull_request}).",
    ]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_red_gate_goes_back_to_the_agent_and_the_second_try_is_green(played: Played) -> None:
    demo, [_, second, _] = played
    log = (await _ticket(demo, 2))["log"]
    verdicts = [line["line"].split(":")[0] for line in log if line["line"].startswith("gate ")]
    # a third time where the other ticket was merged meanwhile: what is merged is what the gate saw
    assert (second.outcome, verdicts[:2], set(verdicts[2:])) in (
        ("merged", ["gate RED", "gate GREEN"], set()), ("merged", ["gate RED", "gate GREEN"], {"gate GREEN"}),
    )  # fmt: skip
    assert b"{cents / 100:,.2f}" in (demo.forge.file("acme/shop", "main", "shop/money.py") or b"")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_repository_without_a_gate_ends_ungated_and_is_told_how_to_change_that(played: Played) -> None:
    demo, [*_, third] = played
    [comment] = demo.forge.comments("acme/notes", 1)
    assert (third.outcome, third.verdict, third.pull_request, third.head) == ("ungated", "UNGATED", None, None)
    assert "Commit a `gate.toml` to the default branch, then put the label on again." in comment
    assert "[steps." in comment


@pytest.mark.asyncio(loop_scope="module")
async def test_the_dashboard_shows_all_three_with_their_ends(played: Played) -> None:
    demo, _ = played
    async with httpx.AsyncClient(verify=PLAIN) as http:
        rows = (await http.get(f"{demo.dashboard}/api/tickets")).json()["tickets"]
        page = (await http.get(demo.dashboard)).text
        metrics = (await http.get(f"{demo.dashboard}/metrics")).text
    assert sorted((r["repository"], r["issue"], r["state_words"]) for r in rows) == [
        ("acme/notes", 1, "ungated"), ("acme/shop", 1, "merged"), ("acme/shop", 2, "merged"),
    ]  # fmt: skip
    assert loop.SCRIPTED in page
    assert 'sluice_tickets{state="done",outcome="merged"} 2' in metrics


async def _ticket(demo: Demo, number: int) -> dict[str, list[dict[str, str]]]:
    async with httpx.AsyncClient(verify=PLAIN) as http:
        rows = (await http.get(f"{demo.dashboard}/api/tickets")).json()["tickets"]
        found = next(r["id"] for r in rows if (r["repository"], r["issue"]) == ("acme/shop", number))
        answer: dict[str, list[dict[str, str]]] = (await http.get(f"{demo.dashboard}/api/tickets/{found}")).json()
    return answer
