"""The bot is killed in the middle of each stage and started again: the ticket ends well, and no finished stage runs twice."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.demo.loop import SAMPLES
from bot.forges.local import LocalForge
from bot.forges.local.repos import read_folder
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow]
REPO = "acme/shop"
TURNS = 6  # of the session that mends the cart
STAGES = ("prepare", "edit", "verify", "publish", "merge")


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    model = ScriptedModel(load_sessions(SAMPLES / "sessions" / "cart.jsonl"))
    with model.serve() as served:
        model.url = served.url  # type: ignore[attr-defined]
        yield model


class Bot:
    """A `bot serve` in a process of its own, killed when the block ends."""

    def __init__(
        self, folder: Path, forge: LocalForge, model: ScriptedModel, *, command: str = "serve", **more: str
    ) -> None:
        key = folder / "key.pem"
        key.write_text(forge.private_key)
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("BOT_", "ANTHROPIC_"))},
            "BOT_DATA": str(folder / "bot"), "BOT_PORT": "0", "BOT_NAME": "h", "BOT_API_URL": forge.api_url,
            "BOT_GIT_URL": forge.url, "BOT_APP_ID": str(forge.app_id), "BOT_PRIVATE_KEY_PATH": str(key),
            "BOT_WEBHOOK_SECRET": forge.secret, "ANTHROPIC_API_KEY": "k", "BOT_MODEL_URL": model.url,  # type: ignore[attr-defined]
            "PYTHONUNBUFFERED": "1", **more,
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bot", command], env=env, cwd=Path(__file__).parents[2], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.lines = self.process.stdout
        url = next(line for line in self.lines if line.startswith("listening on ")).split()[-1]
        forge.hooks.target = f"{url}/webhook"

    def until(self, event: str, **fields: str) -> None:
        """Read the log up to an event."""
        for line in self.lines:
            found = json.loads(line) if line.startswith("{") else {}
            if found.get("event") == event and all(found.get(k) == v for k, v in fields.items()):
                return
        raise AssertionError(f"the bot ended before {event} {fields}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.lines.close()


@pytest.mark.parametrize("stage", STAGES)
def test_a_bot_killed_in_a_stage_goes_on_behind_the_last_finished_one(
    tmp_path: Path, forge: LocalForge, model: ScriptedModel, stage: str
) -> None:
    forge.create_repository(REPO, read_folder(SAMPLES / "shop"))
    forge.add_user("ann", {REPO: "write"})
    forge.open_issue(REPO, "The cart's total ignores the quantity", "text", user="ann")
    bot = Bot(tmp_path, forge, model)
    forge.label_issue(REPO, 1, "bot", user="ann")
    bot.until("stage started", stage=stage)
    bot.kill()
    asked = len(model.requests)
    again = Bot(tmp_path, forge, model)
    try:
        forge.wait(lambda: forge.issue(REPO, 1).labels == ["bot: merged"], limit_s=60)
    finally:
        again.kill()
    pulls = [i for i in forge.state.repositories[REPO].issues.values() if i.head is not None]
    assert (len(pulls), pulls[0].merged_sha is not None, forge.issue(REPO, 1).state) == (1, True, "closed")
    finished = STAGES.index(stage) > STAGES.index("edit")
    assert len(model.requests) == (TURNS if finished else asked + TURNS)
    assert len(forge.comments(REPO, 1)) == 1


@pytest.mark.parametrize("stage", ["edit", "verify", "publish"])
def test_another_host_goes_on_where_a_dead_one_stopped(
    tmp_path: Path, forge: LocalForge, model: ScriptedModel, postgres_url: str, stage: str
) -> None:
    forge.create_repository(REPO, read_folder(SAMPLES / "shop"))
    forge.add_user("ann", {REPO: "write"})
    forge.open_issue(REPO, "The cart's total ignores the quantity", "text", user="ann")
    shared = {"BOT_DATABASE_URL": postgres_url, "BOT_DEAD_AFTER_S": "2"}
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first = Bot(tmp_path / "one", forge, model, BOT_NAME="one", **shared)
    forge.label_issue(REPO, 1, "bot", user="ann")
    first.until("stage started", stage=stage)
    first.kill()
    asked = len(model.requests)
    second = Bot(tmp_path / "two", forge, model, command="worker", BOT_NAME="two", **shared)
    try:
        forge.wait(lambda: forge.issue(REPO, 1).labels == ["bot: merged"], limit_s=60)
    finally:
        second.kill()
    pulls = [i for i in forge.state.repositories[REPO].issues.values() if i.head is not None]
    assert (len(pulls), pulls[0].merged_sha is not None) == (1, True)
    assert len(model.requests) == (asked + TURNS if stage == "edit" else TURNS)
