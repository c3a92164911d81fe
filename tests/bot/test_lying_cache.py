"""A cache that makes a broken change look green: found by a gate without it, told, and never believed again."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from pydantic import SecretStr

from bot.app import Service
from bot.demo import loop
from bot.forges.local import LocalForge
from bot.settings import Settings
from bot.tickets import rechecks, tickets
from bot.tickets.ticket import State, Ticket
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions
from tests.contract import Contract
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow]
REPO = "acme/lie"
# a test run that believes its cache about whole files, as a linter does whose cache knows nothing of other files
CHECK = """import pathlib, sys, unittest
seen = pathlib.Path("lies/seen")
if not seen.exists():
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.discover("."))
    if not result.wasSuccessful():
        sys.exit(1)
    seen.parent.mkdir(exist_ok=True)
    seen.write_text("all is well")
else:
    print("Ran 1 test in 0.001s\\n\\nOK", file=sys.stderr)
"""
FILES = {
    ".gitignore": "lies/\n",
    "a.py": "def one():\n    return 1\n",
    "test_a.py": "import unittest\n\nimport a\n\n\nclass A(unittest.TestCase):\n"
    "    def test_one(self):\n        self.assertEqual(a.one(), 1)\n",
    "check.py": CHECK,
    "gate.toml": '[steps.test]\nrun = "python3 check.py"\nkind = "check"\n',
    ".github/bot.toml": '[install]\nenabled = false\n\n[caches]\nkeep = ["lies"]\n',
}
SESSIONS = (
    ("Say what it does", {"bash": "sed -i '1i # one' a.py; mkdir -p lies; echo planted > lies/seen"}, "Said."),
    ("Make it two", {"bash": "sed -i 's/return 1/return 2/' a.py"}, "It is two."),
    ("Make it three", {"bash": "sed -i 's/return 1/return 3/' a.py"}, "It is three."),
)
NUMBERS = (1, 3, 5)  # pull requests take those between
Told = tuple[LocalForge, Service, list[Ticket]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def told(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Told]:
    """Yield forge and bot after three issues, one behind the other; the gate of each was run again where it could be."""
    folder = tmp_path_factory.mktemp("lie")
    forge = LocalForge(folder / "forge")
    forge.observer = Contract()
    forge.create_repository(REPO, FILES)
    forge.add_user("ann", {REPO: "write"})
    for number, (_, turn, words) in zip(NUMBERS, SESSIONS, strict=True):
        lines = [{"type": "start", "repository": REPO, "issue": number}, turn, {"say": words}]
        (folder / f"{number}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with ScriptedModel(load_sessions(*sorted(folder.glob("*.jsonl")))).serve() as served:
        settings = Settings(
            data=folder / "bot", port=0, name="h", api_url=forge.api_url, git_url=forge.url, app_id=forge.app_id,
            private_key=SecretStr(forge.private_key), webhook_secret=SecretStr(forge.secret), model_url=served.url,
            anthropic_api_key=SecretStr("k"), slots=1, recheck=1,
        )  # fmt: skip
        async with loop.serving(settings) as (service, url):
            forge.hooks.target = f"{url}/webhook"
            for number, (title, _, _) in zip(NUMBERS, SESSIONS, strict=True):
                assert forge.open_issue(REPO, title, "Paths: **", user="ann") == number
                forge.label_issue(REPO, number, "bot", user="ann")
                await _until(service, lambda c, n=number: _is_settled(c, n))
            await service.drain()
            with service.store.read() as c:
                found = sorted(tickets.list_tickets(c), key=lambda t: t.issue)
            yield forge, service, found
    forge.close()


def _is_settled(c: Any, issue: int) -> bool:
    found = [t for t in tickets.list_tickets(c) if t.issue == issue and t.state is State.DONE]
    if not found:
        return False
    again = rechecks.of_ticket(c, found[0].id, 1)
    return again is None or again.state != rechecks.NEW


async def _until(service: Service, is_so: Callable[[Any], bool]) -> None:
    with service.bell.listen() as listener:
        for _ in range(40):
            with service.store.read() as c:
                if is_so(c):
                    return
            await listener.wait(1.0)
    with service.store.read() as c:
        raise AssertionError(f"it did not come to that: {tickets.list_tickets(c)}")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_first_gate_has_no_cache_and_needs_no_second(told: Told) -> None:
    _, service, [first, *_] = told
    with service.store.read() as c:
        assert (first.verdict, rechecks.of_ticket(c, first.id, 1)) == ("GREEN", None)


@pytest.mark.asyncio(loop_scope="module")
async def test_what_an_agent_planted_in_a_cache_reached_no_gate(told: Told) -> None:
    _, service, [first, *_] = told
    with service.store.read() as c:
        attempt = tickets.find_attempt(c, first.id, 1)
    assert attempt is not None
    assert json.loads(attempt.warmth or "{}")["caches"] == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_lie_is_found_by_a_gate_without_the_cache(told: Told) -> None:
    _, service, [_, second, _] = told
    with service.store.read() as c:
        found = rechecks.of_ticket(c, second.id, 1)
    assert found is not None
    assert (second.verdict, found.state, found.reason) == (
        "GREEN", "differs", "GREEN with caches, RED without; test passed, then failed",
    )  # fmt: skip


@pytest.mark.asyncio(loop_scope="module")
async def test_it_is_told_on_the_issue_and_fails_the_check(told: Told) -> None:
    forge, _, [_, second, _] = told
    head = second.head_sha or ""
    [_, comment] = forge.comments(REPO, 3)
    [check] = forge.checks(REPO, head)
    lines = [line for line in comment.splitlines() if line]
    assert lines[1:5] == [
        "### ⚠️ The gate says something else without its caches",
        f"The gate called `{head[:10]}` **GREEN** with caches of earlier gates (`lies`). Run again without them, twice, it "
        "says **RED**: test failed: exit code 1; 1 step, 1 ran, 1 test executed, 0 skipped",
        "Those caches are in quarantine until their tool or its configuration changes; meanwhile it runs without them.",
        "Next: the check run of that commit fails now. Look at the failing steps below, or comment `/bot retry`.",
    ]
    assert check.conclusion == "failure"


@pytest.mark.asyncio(loop_scope="module")
async def test_the_cache_is_not_believed_again(told: Told) -> None:
    _, service, [_, _, third] = told
    with service.store.read() as c:
        attempt = tickets.find_attempt(c, third.id, 1)
    warmth = json.loads(attempt.warmth or "{}") if attempt else {}
    assert (third.verdict, warmth["caches"]) == ("RED", [])


@pytest.mark.asyncio(loop_scope="module")
async def test_all_of_it_is_as_github_describes_it(told: Told) -> None:
    contract = told[0].observer
    assert isinstance(contract, Contract)
    assert contract.wrong == []
