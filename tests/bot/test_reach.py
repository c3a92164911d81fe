"""A change that reaches where another ticket works: held, then by itself brought up to date, gated and merged."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio
from pydantic import SecretStr
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.app import Service
from bot.demo import loop
from bot.forges.local import LocalForge
from bot.serving import serve_in_thread
from bot.settings import Settings
from bot.tickets import journal, tickets
from bot.tickets.ticket import Outcome, State, Ticket
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions
from tests.contract import Contract
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow]
REPO = "acme/pair"
FILES = {
    "a.py": "def one():\n    return 1\n\n\n\n\n\n\ndef two():\n    return 2\n",
    "b.py": "",
    "test_all.py": "import unittest\n\nimport a\nimport b\n\n\nclass All(unittest.TestCase):\n"
    "    def test_two(self):\n        self.assertGreater(a.two(), a.one())\n",
    "gate.toml": '[steps.test]\nrun = "python3 -m unittest"\n',
    ".github/bot.toml": "[merge]\nauto = true\n\n[install]\nenabled = false\n",
}
SESSIONS = {
    1: ({"bash": "sed -i 's/return 1/return 11/; s/return 2/return 12/' a.py; echo 'c = 1' > c.py"}, "One grew."),
    2: ({"bash": "echo 'x = 1' > b.py; sed -i '5a three = 3' a.py"}, "b has an x, and a knows three."),
}


def holding(app: ASGIApp, words: bytes, let_go: threading.Event) -> ASGIApp:
    """Return an application that does not answer requests with these words in them until it is let go."""

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        seen = []

        async def look() -> dict:  # type: ignore[type-arg]
            message = dict(await receive())
            seen.append(message.get("body", b""))
            if not message.get("more_body") and words in b"".join(seen):
                await asyncio.to_thread(let_go.wait, 30.0)
            return message

        await app(scope, look, send)

    return held


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def told(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[LocalForge, Service, list[Ticket]]]:
    """Yield forge, bot, and the second ticket as it was while the first one still worked, then both at the end."""
    folder = tmp_path_factory.mktemp("reach")
    forge = LocalForge(folder / "forge")
    forge.observer = contract = Contract()
    forge.create_repository(REPO, FILES)
    forge.add_user("ann", {REPO: "write"})
    insists = [{"type": "start", "repository": REPO, "issue": 2, "feedback": True}, {"say": "It needs to know three."}]
    (folder / "2-again.jsonl").write_text("\n".join(map(json.dumps, insists)))
    for number, (turn, words) in SESSIONS.items():
        lines = [{"type": "start", "repository": REPO, "issue": number}, turn, {"say": words}]
        (folder / f"{number}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    model, let_go = ScriptedModel(load_sessions(*sorted(folder.glob("*.jsonl")))), threading.Event()
    with serve_in_thread(holding(model.app(), f"{REPO}#1\\n".encode(), let_go)) as served:
        settings = Settings(
            data=folder / "bot", port=0, name="r", api_url=forge.api_url, git_url=forge.url, app_id=forge.app_id,
            private_key=SecretStr(forge.private_key), webhook_secret=SecretStr(forge.secret), model_url=served.url,
            anthropic_api_key=SecretStr("the-key"), slots=2,
        )  # fmt: skip
        async with loop.serving(settings) as (service, url):
            forge.hooks.target = f"{url}/webhook"
            for number, paths in enumerate(("a.py", "b.py"), 1):
                assert forge.open_issue(REPO, f"Issue {number}", f"Paths: {paths}", user="ann") == number
                forge.label_issue(REPO, number, "bot", user="ann")
            held = (await _until(service, lambda found: found[1].state is State.DONE))[1]
            await service.outbox.flush()
            asked = len(model.requests)
            hints = [r for r in model.requests if "This ticket claims `b.py`" in json.dumps(r)]
            assert len(hints) == 1  # told once, in one round of one answer
            comment = forge.comments(REPO, 2)[0]
            let_go.set()
            ended = await _until(service, lambda found: all(t.is_over for t in found))
            await service.drain()
            model.unmatched += len([r for r in model.requests[asked:] if f"{REPO}#2\n" in json.dumps(r)])
            assert model.unmatched == 0  # the agent was not asked a second time
            yield forge, service, [held, *ended]
            assert "Held until another ticket is done" in comment
    forge.close()
    assert contract.wrong == []


async def _until(service: Service, enough: Callable[[list[Ticket]], bool]) -> list[Ticket]:
    with service.bell.listen() as listener:
        for _ in range(60):
            with service.store.read() as c:
                found = sorted(tickets.list_tickets(c), key=lambda t: t.issue)
            if len(found) == len(SESSIONS) and enough(found):
                return found
            await listener.wait(1.0)
    raise AssertionError([(t.issue, t.state, t.stage, t.reason) for t in found])


Told = tuple[LocalForge, Service, list[Ticket]]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_change_that_reaches_into_another_tickets_claim_is_held_and_names_it(told: Told) -> None:
    _, _, [held, first, _] = told
    assert (held.outcome, held.held_for, held.attempt, held.reason) == (
        Outcome.HELD, first.id, 1,
        "The change touches `a.py`, outside of its claim, and #1 works there now. "
        "When #1 is done, it is brought up to date and gated again.",
    )  # fmt: skip


@pytest.mark.asyncio(loop_scope="module")
async def test_when_the_other_is_done_it_is_brought_up_to_date_gated_and_merged(told: Told) -> None:
    forge, service, [_, first, second] = told
    with service.store.read() as c:
        lines = [line.line for line in journal.lines_after(c, second.id, 0) if line.attempt == 2]
    assert (first.outcome, second.outcome, second.attempt, second.claim) == (
        Outcome.MERGED, Outcome.MERGED, 2, ("a.py", "b.py"),
    )  # fmt: skip
    merged = (forge.file(REPO, "main", "a.py") or b"").decode()
    assert [word in merged for word in ("return 11", "return 12", "three = 3")] == [True, True, True]
    assert any(line.startswith("went on from the work of the attempt before") for line in lines)
    assert [line for line in lines if line.startswith("gate ")][-1].startswith("gate GREEN")


@pytest.mark.asyncio(loop_scope="module")
async def test_outside_of_the_claim_but_free_the_claim_grows(told: Told) -> None:
    _, _, [_, first, _] = told
    assert (first.outcome, first.attempt, first.claim) == (Outcome.MERGED, 1, ("a.py", "c.py"))


@pytest.mark.asyncio(loop_scope="module")
async def test_the_words_of_the_agent_reach_the_pull_request_of_the_second_attempt(told: Told) -> None:
    forge, _, [_, _, second] = told
    assert forge.issue(REPO, second.pull or 0).body.startswith("Closes #2\n\nb has an x, and a knows three.")
