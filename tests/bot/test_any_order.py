"""Deliveries in any order, twice, late and in any grouping: the same work is under way in the end."""

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.forges.auth import App
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.inbox.intake import Intake
from bot.inbox.trust import Breaker
from bot.tickets import deliveries, tickets
from bot.tickets.deliveries import Arrived
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import State
from tests.bot.inbox_builders import LABEL, REPO, stamp, user
from tests.contract import Contract
from tests.plain import PLAIN

ISSUES = (1, 2)
OPS = ("label", "unlabel", "close", "reopen", "comment", "other label")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalForge]:
    forge = LocalForge(tmp_path_factory.mktemp("forge"))
    forge.observer = contract = Contract()
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.add_user("ann", {REPO: "write"})
    yield forge
    forge.close()
    assert contract.wrong == []


def history(ops: Sequence[tuple[int, str]]) -> list[Arrived]:
    """Return the deliveries that these doings make; what the forge would not allow is left out."""
    is_open, labels = dict.fromkeys(ISSUES, True), {n: set[str]() for n in ISSUES}
    found: list[Arrived] = []
    for n, (number, op) in enumerate(ops):
        has = LABEL in labels[number]
        possible = {"label": is_open[number] and not has, "unlabel": has, "close": is_open[number],
                    "reopen": not is_open[number]}.get(op, True)  # fmt: skip
        if not possible:
            continue
        is_open[number] = {"close": False, "reopen": True}.get(op, is_open[number])
        labels[number] ^= {LABEL} if op in ("label", "unlabel") else set()
        issue = {"number": number, "title": "Bug", "body": "x", "state": "open" if is_open[number] else "closed",
                 "labels": [{"name": name} for name in labels[number]], "updated_at": stamp(1000.0 + n)}  # fmt: skip
        found.append(Arrived(f"g-{n}", *_event(op, issue)))
    return found


def _event(op: str, issue: dict[str, Any]) -> tuple[str, bytes]:
    common = {"repository": {"full_name": REPO}, "sender": user("ann"), "issue": issue}
    match op:
        case "comment":
            made = {"action": "created", "comment": {"id": 1, "body": "hello", "user": user("ann")}}
        case "label" | "unlabel":
            made = {"action": f"{op}ed", "label": {"name": LABEL}}
        case "other label":
            made = {"action": "labeled", "label": {"name": "bug"}}
        case _:
            made = {"action": {"close": "closed", "reopen": "reopened"}[op]}
    return ("issue_comment" if op == "comment" else "issues"), json.dumps(common | made).encode()


async def under_way(forge: LocalForge, folder: Path, batches: Sequence[Sequence[Arrived]]) -> dict[int, bool]:
    """Act on the deliveries batch by batch; return which issues are worked on in the end."""
    store = open_store(sqlite_url(folder / f"{time.monotonic_ns()}.db"))
    async with httpx.AsyncClient(verify=PLAIN, timeout=5.0) as http:
        github = GitHub(http, api_url=forge.api_url, app=App(str(forge.app_id), forge.private_key), token=None,
                        now=time.time)  # fmt: skip
        intake = Intake(store, github, label=LABEL, now=time.time, told=lambda *_: None, app=forge.app_id,
                        breaker=Breaker(issue=99))  # fmt: skip
        for batch in batches:
            with store.write() as c:
                deliveries.keep(c, batch, now=1.0)
            await intake.process_new()
    with store.read() as c:
        found = {n: tickets.find_ticket(c, REPO, n) for n in ISSUES}
    store.close()
    return {n: ticket is not None and ticket.state is not State.DONE for n, ticket in found.items()}


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), ops=st.lists(st.tuples(st.sampled_from(ISSUES), st.sampled_from(OPS)), min_size=2, max_size=9))
def test_replayed_reordered_and_duplicated_deliveries_end_the_same(
    shared: LocalForge, tmp_path: Path, data: st.DataObject, ops: list[tuple[int, str]]
) -> None:
    told = history(ops)
    shuffled = data.draw(st.permutations([*told, *told[: len(told) // 2]]))
    size = data.draw(st.integers(1, max(1, len(shuffled))))
    batches = [shuffled[at : at + size] for at in range(0, len(shuffled), size)]
    in_order = asyncio.run(under_way(shared, tmp_path, [[delivery] for delivery in told]))
    assert asyncio.run(under_way(shared, tmp_path, batches)) == in_order
