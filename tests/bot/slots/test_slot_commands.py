"""bot slots and bot doctor, as an operator types them."""

import json
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from bot.commands.doctor import doctor
from bot.commands.slots import slots
from bot.errors import UserError
from bot.forges.local import LocalForge
from tests.needs import needs

Type = Callable[..., Result]


@pytest.fixture
def typed(tmp_path: Path) -> Type:
    def run(command: click.Command, *words: str, **env: str) -> Result:
        given = {"BOT_DATA": str(tmp_path / "data"), "BOT_NAME": "h", **env}
        return CliRunner().invoke(command, words, env=given)

    return run


@needs("bwrap", package="bubblewrap")
def test_a_slot_is_made_warm_listed_reset_and_removed(typed: Type, forge: LocalForge) -> None:
    settings = '[install]\nrun = "mkdir node_modules && touch node_modules/x"\n'
    forge.create_repository("acme/app", {"a.txt": "a", ".github/bot.toml": settings})
    forge.add_user("ann", {"acme/app": "admin"})
    env = {
        "BOT_API_URL": forge.api_url, "BOT_GIT_URL": forge.git_url("acme/app").removesuffix("/acme/app.git"),
        "BOT_TOKEN": forge.personal_token("ann"),
    }  # fmt: skip
    warmed = typed(slots, "warm", "acme/app", "--json", **env)
    assert warmed.exit_code == 0, warmed.output + repr(warmed.exception)
    (listed,) = json.loads(typed(slots, "list", "--json", **env).output)["slots"]
    said = [typed(slots, word, "acme/app", "slot-1", **env).output for word in ("reset", "rm")]
    after = json.loads(typed(slots, "list", "--json", **env).output)["slots"]
    assert (
        list(json.loads(warmed.output)["slots"]["slot-1"]), (listed["state"], listed["warm"], listed["bytes"] > 0), said, after
    ) == (
        ["clone", "worktree", "install"], ("free", True, True),
        ["acme/app slot-1 is free; its next job makes it anew\n", "acme/app slot-1 is removed\n"], [],
    )  # fmt: skip


def test_a_slot_that_does_not_exist_is_named(typed: Type) -> None:
    found = typed(slots, "rm", "acme/app", "slot-9", BOT_SANDBOX="off")
    assert isinstance(found.exception, UserError)
    assert str(found.exception) == "there is no slot-9 of acme/app on h; `bot slots` lists them"


@needs("bwrap", package="bubblewrap")
def test_the_doctor_finds_nothing_missing_where_all_is_set(typed: Type) -> None:
    found = typed(
        doctor, "--json", BOT_TOKEN="x", BOT_WEBHOOK_SECRET="x", BOT_MODEL_URL="http://localhost", BOT_LOW_DISK_MB="1"
    )
    shown = json.loads(found.output)
    needed = {f["name"]: f["ok"] for f in shown["findings"] if f["needed"]}
    assert (found.exit_code, needed) == (
        0, dict.fromkeys(("python", "git", "sandbox", "settings", "forge", "database", "room"), True),
    )  # fmt: skip


def test_the_doctor_names_what_is_missing_and_the_mend(typed: Type) -> None:
    found = typed(doctor, BOT_SANDBOX="off", BOT_TOKEN="")
    lines = found.output.splitlines()
    at = next(n for n, line in enumerate(lines) if "forge" in line)
    assert (found.exit_code, [" ".join(line.split()) for line in lines[at : at + 2]]) == (
        1, ["NOT OK forge no App with its key, and no token", "mend: run `bot setup`, or set BOT_TOKEN"],
    )  # fmt: skip


def test_a_setting_that_cannot_be_read_is_one_line(typed: Type) -> None:
    found = typed(doctor, BOT_SLOTS="many")
    assert (found.exit_code, found.output.startswith("NOT OK  settings     BOT_SLOTS: expected")) == (1, True)
