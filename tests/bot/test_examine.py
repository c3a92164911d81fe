"""bot doctor --github: what is not well on the forge's side is named with its mend."""

import time
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from bot.forges.answers import Delivery
from bot.forges.auth import App
from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.forges.manifest import NOWHERE
from bot.inbox.webhook import Receiver
from bot.serving import serve_in_thread
from bot.setup.examine import MENDS, examine, labels_of, reached
from bot.tickets.store import open_store, sqlite_url
from tests.bot.test_commands import bot
from tests.plain import PLAIN

REPO = "acme/app"
FORM = "name: Bug\nlabels: [bug, Bot]\nbody: []\n"


async def wrong(github: GitHub, *, pulls: bool = False) -> list[tuple[str, str]]:
    """Return name and words of what is not well."""
    return [(f.name, f.said) for f in await examine(github, label="bot", pulls=pulls) if not f.ok]


async def test_an_app_with_all_it_needs_has_nothing_to_mend(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    found = await examine(github, label="bot", pulls=False)
    assert [(f.name, f.ok) for f in found] == [
        (name, True) for name in ("App", "permissions", "events", "webhook", "installed", "operator")
    ]


async def test_a_missing_permission_is_named_for_the_app_and_for_the_installation(
    forge: LocalForge, github: GitHub
) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    del forge.state.permissions["checks"]
    assert await wrong(github) == [
        ("permissions", "the App does not ask for checks: write"),
        ("operator", "has not granted checks: write"),
    ]


async def test_a_webhook_that_nobody_answers_is_told_with_what_the_forge_saw(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.hooks.target = "http://127.0.0.1:9/webhook"
    forge.open_issue(REPO, "Bug", "text", user="ann")
    forge.wait(lambda: [d.status for d in forge.state.deliveries if d.status])
    [(name, said)] = await wrong(github)
    assert (name, said) == (
        "webhook",
        "http://127.0.0.1:9/webhook: 0 of the latest 1 deliveries came through; "
        "the newest (issues): failed to connect: ConnectError",
    )


async def test_an_app_that_is_pulled_from_needs_no_address(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.hooks.target = NOWHERE
    found = {f.name: (f.ok, f.said) for f in await examine(github, label="bot", pulls=False)}
    assert found["webhook"] == (True, "the App has no public address: start `bot serve --pull`")


async def test_deliveries_that_the_bot_refuses_are_told_with_what_refuses_them(
    forge: LocalForge, github: GitHub, tmp_path: Path
) -> None:
    forge.create_repository(REPO, {"a.txt": "one\n"})
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    receiver = Receiver(store, ["another secret"], now=time.time, stored=lambda: None)
    with serve_in_thread(Starlette(routes=receiver.routes())) as served:
        mends = []
        for count, path in enumerate(("/webhook", "/hook"), 1):
            forge.hooks.target = f"{served.url}{path}"
            forge.open_issue(REPO, "Bug", "text", user="ann")
            forge.wait(lambda count=count: len([d for d in forge.state.deliveries if d.status]) == count)
            mends += [f.mend for f in await examine(github, label="bot", pulls=False) if not f.ok]
    receiver.close()
    store.close()
    assert mends == [MENDS[401], MENDS[404]]


async def test_a_template_that_brings_the_label_is_advice(forge: LocalForge, github: GitHub) -> None:
    forge.create_repository(REPO, {".github/ISSUE_TEMPLATE/bug.yml": FORM, ".github/ISSUE_TEMPLATE/config.yml": "x: 1"})
    assert await wrong(github) == [
        (REPO, ".github/ISSUE_TEMPLATE/bug.yml puts `bot` on: whoever opens such an issue asks for work, "
               "and an outsider's waits")
    ]  # fmt: skip


async def test_a_wrong_app_is_the_only_thing_told(forge: LocalForge) -> None:
    async with httpx.AsyncClient(verify=PLAIN) as http:
        app = App("8", forge.private_key)
        github = GitHub(http, api_url=forge.api_url, app=app, token=None, now=time.time)
        [found] = await examine(github, label="bot", pulls=False)
    assert (found.name, found.ok, found.mend) == (
        "App", False, "check BOT_APP_ID, the private key, BOT_API_URL and the clock",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "text", "labels"),
    [
        ("a.yml", "labels: [Bug, bot]", {"bug", "bot"}),
        ("a.yml", "labels: bug, bot", {"bug", "bot"}),
        ("a.md", "---\nname: x\nlabels: bot\n---\nlabels: other", {"bot"}),
        ("a.md", "labels: bot", set()),
        ("a.yml", "labels: {a: b", set()),
        ("a.yml", "- a list", set()),
        ("a.yml", "labels: 7", set()),
    ],
)
def test_labels_of_forms_and_templates_are_read(path: str, text: str, labels: set[str]) -> None:
    assert set(labels_of(path, text.encode())) == labels


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        ([], (True, "nothing was delivered yet")),
        (["OK", "timed out"], (True, "1 of the latest 2 deliveries came through")),
        (["timed out", "OK"], (False, "1 of the latest 2 deliveries came through; the newest (ping): timed out")),
    ],
    ids=["none", "well", "not well"],
)
def test_the_newest_delivery_decides(statuses: list[str], told: tuple[bool, str]) -> None:
    assert reached([Delivery(n, f"g{n}", status=status, event="ping") for n, status in enumerate(statuses)]) == told


def test_an_operator_sees_it_in_the_terminal(tmp_path: Path, forge: LocalForge) -> None:
    forge.create_repository(REPO, {".github/ISSUE_TEMPLATE/bug.yml": FORM})
    key = tmp_path / "key.pem"
    key.write_text(forge.private_key)
    done = bot(
        tmp_path, "doctor", "--github", BOT_API_URL=forge.api_url, BOT_APP_ID=str(forge.app_id),
        BOT_PRIVATE_KEY_PATH=str(key), BOT_WEBHOOK_SECRET=forge.secret,
    )  # fmt: skip
    lines = {line[8:20].strip(): line[:7].strip() for line in done.stdout.splitlines() if line[:7].strip()}
    assert {name: lines[name] for name in ("App", "permissions", "events", "webhook", "installed", REPO)} == {
        "App": "ok", "permissions": "ok", "events": "ok", "webhook": "ok", "installed": "ok", REPO: "advice",
    }  # fmt: skip
