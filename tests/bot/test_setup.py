"""Setting the bot up: in one click through a page of its own, on a forge that speaks the manifest flow."""

import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from bot.forges.local import LocalForge
from bot.setup.keep import keep_settings

ROOT = Path(__file__).parents[2]


def start(folder: Path, forge: LocalForge, *options: str, **env: str) -> subprocess.Popen[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("BOT_")}
    whole = {
        **kept,
        "BOT_API_URL": forge.api_url,
        "BOT_GIT_URL": forge.url,
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        **env,
    }
    command = [sys.executable, "-m", "bot", "setup", *options]
    return subprocess.Popen(command, cwd=folder, env=whole, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_one_click_stores_key_and_secret_for_their_owner_alone(tmp_path: Path, forge: LocalForge) -> None:
    (tmp_path / "bot.toml").write_text('label = "robot"\n')
    process = start(tmp_path, forge, "--name", "Sluice of acme", "--webhook-url", "http://bot.example/webhook")
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    with httpx.Client() as http:
        assert http.get(url.rsplit("/", 1)[0] + "/guess").status_code == 403
        assert http.get(url, headers={"x-forwarded-for": "8.8.8.8"}).status_code == 403
        page = http.get(url).text
        manifest = re.search(r'name="manifest" value="([^"]*)"', page)
        target = re.search(r'action="([^"]*)"', page)
        assert manifest
        assert target
        form = {"manifest": manifest[1].replace("&quot;", '"').replace("&#x27;", "'")}
        state = target[1].split("state=")[1]
        http.post(target[1].replace("&amp;", "&"), data=form)
        back = http.post(f"{forge.url}/settings/apps/create", data={**form, "state": state}).headers["location"]
        wrong = f"http://{urlsplit(url).netloc}/back?code=x&state=wrong"
        assert http.get(wrong).status_code == 403
        assert "The App is made" in http.get(back).text
    out, _ = process.communicate(timeout=20)
    settings = tomllib.loads((tmp_path / "bot.toml").read_text())
    key = Path(settings["private_key_path"])
    assert (process.returncode, settings["label"], key.read_text() == forge.private_key, "Install it: " in out) == (
        0,
        "robot",
        True,
        True,
    )
    assert [stat.S_IMODE(p.stat().st_mode) for p in (key, tmp_path / "bot.toml")] == [0o600, 0o600]


def test_a_token_that_can_only_read_is_told(tmp_path: Path, forge: LocalForge) -> None:
    forge.create_repository("acme/app", {"a": "b"})
    forge.add_user("eve", {"acme/app": "read"})
    process = start(tmp_path, forge, "--from-token", "acme/app", BOT_TOKEN=forge.personal_token("eve"))
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.startswith("bot: ")) == (2, True), out


def test_a_token_that_can_write_is_ready(tmp_path: Path, forge: LocalForge) -> None:
    forge.create_repository("acme/app", {"a": "b"})
    forge.add_user("ann", {"acme/app": "write"})
    process = start(tmp_path, forge, "--from-token", "acme/app", BOT_TOKEN=forge.personal_token("ann"))
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.splitlines()[0]) == (
        0,
        "ann has the role write in acme/app, whose default branch is main.",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "app_id = 7\n"),
        ("app_id = 1 # old\nport = 2\n", "app_id = 7\nport = 2\n"),
        ("[x]\na = 1\n", "app_id = 7\n[x]\na = 1\n"),
    ],
    ids=["new", "changed", "above a table"],
)
def test_other_settings_stay(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "bot.toml").write_text(before)
    keep_settings(tmp_path / "bot.toml", {"app_id": 7})
    assert (tmp_path / "bot.toml").read_text() == after
