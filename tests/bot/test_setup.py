"""Setting the bot up: in one click through a page of its own, on a forge that speaks the manifest flow."""

import html
import os
import pty
import re
import socket
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from bot.errors import ConfigError
from bot.forges.local import LocalForge
from bot.settings import Settings
from bot.setup import proof
from bot.setup.keep import keep_settings
from bot.tickets.store import Store
from tests.contract import Contract

pytestmark = pytest.mark.slow(seconds=1)
ROOT = Path(__file__).parents[2]


def start(
    folder: Path, forge: LocalForge, *options: str, command: str = "setup", stdin: int | None = None, **env: str
) -> subprocess.Popen[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("BOT_")}
    whole = {
        **kept,
        "BOT_API_URL": forge.api_url,
        "BOT_GIT_URL": forge.url,
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        **env,
    }
    argv = [sys.executable, "-m", "bot", command, *options]
    return subprocess.Popen(
        argv, cwd=folder, env=whole, text=True, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def refuses_strangers(url: str) -> None:
    """Hold that the page is for nobody but who started it."""
    with httpx.Client() as http:
        assert http.get(url.rsplit("/", 1)[0] + "/guess").status_code == 403
        assert http.get(url.rsplit("/", 1)[0] + "/guéss").status_code == 403
        for name in ("x-forwarded-for", "forwarded", "x-real-ip", "via"):
            assert http.get(url, headers={name: "8.8.8.8"}).status_code == 403
        assert http.get(f"http://{urlsplit(url).netloc}/back?code=x&state=wrong").status_code == 403


def click_through(url: str, forge: LocalForge) -> None:
    """Make the App as a person does in a browser."""
    with httpx.Client() as http:
        page = http.get(url).text
        manifest = re.search(r'name="manifest" value="([^"]*)"', page)
        target = re.search(r'action="([^"]*)"', page)
        assert manifest
        assert target
        form = {"manifest": html.unescape(manifest[1])}
        http.post(html.unescape(target[1]), data=form)
        state = {"state": target[1].split("state=")[1]}
        back = http.post(f"{forge.url}/settings/apps/create", data={**form, **state}).headers["location"]
        assert "The App is made" in http.get(back).text


@pytest.mark.parametrize("gives_secret", [True, False], ids=["a secret of the forge", "a secret of ours"])
def test_one_click_stores_key_and_secret_for_their_owner_alone_and_proves_the_webhook(
    tmp_path: Path, forge: LocalForge, gives_secret: bool
) -> None:
    (tmp_path / "bot.toml").write_text('label = "robot"\n')
    forge.state.gives_secret = gives_secret
    port = free_port()
    hook = f"http://127.0.0.1:{port}/webhook"
    process = start(tmp_path, forge, "--name", "Sluice of acme", "--webhook-url", hook, BOT_PORT=str(port))
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    refuses_strangers(url)
    click_through(url, forge)
    out, _ = process.communicate(timeout=60)
    assert f"The webhook works: a signed ping came through {hook}." in out, out
    settings = tomllib.loads((tmp_path / "bot.toml").read_text())
    key = Path(settings["private_key_path"])
    assert (process.returncode, settings["label"], key.read_text() == forge.private_key, "Install it: " in out) == (
        0,
        "robot",
        True,
        True,
    )
    assert settings["webhook_secret"] == forge.state.secret
    assert [stat.S_IMODE(p.stat().st_mode) for p in (key, tmp_path / "bot.toml")] == [0o600, 0o600]


def made_app(folder: Path, forge: LocalForge, **more: str) -> None:
    """Leave what the set-up leaves."""
    (folder / "app.pem").write_text(forge.private_key)
    values = {"webhook_secret": forge.secret, "private_key_path": str(folder / "app.pem"), **more}
    keep_settings(folder / "bot.toml", {"app_id": forge.app_id, **values})


def stored(folder: Path) -> dict[str, str]:
    return tomllib.loads((folder / "bot.toml").read_text())


def test_a_second_set_up_does_not_throw_the_first_ones_key_and_secret_away(tmp_path: Path, forge: LocalForge) -> None:
    made_app(tmp_path, forge)
    before = stored(tmp_path)
    out, _ = (process := start(tmp_path, forge)).communicate(timeout=30)
    assert (process.returncode, out, stored(tmp_path)) == (
        2,
        "bot: there is an App already, number 7; `bot doctor --github` looks at it. Mend: to make another one, take "
        f"app_id out of {tmp_path / 'bot.toml'} and the environment first\n",
        before,
    )


def test_a_secret_in_the_environment_would_win_over_the_one_that_is_stored(tmp_path: Path, forge: LocalForge) -> None:
    out, _ = (process := start(tmp_path, forge, BOT_WEBHOOK_SECRET="s")).communicate(timeout=30)
    assert (process.returncode, out) == (
        2,
        "bot: BOT_WEBHOOK_SECRET: expected none in the environment, which wins over what is stored in "
        f"{tmp_path / 'bot.toml'}. Mend: unset it, here and where `bot serve` is started\n",
    )


def test_a_folder_that_cannot_be_written_is_told_before_there_is_a_key_to_lose(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"file/bot\.toml: expected a folder that can be written: "):
        keep_settings(tmp_path / "file" / "bot.toml", {})


def test_a_new_secret_reaches_the_forge_and_the_old_one_still_counts(tmp_path: Path, forge: LocalForge) -> None:
    forge.observer = contract = Contract()
    made_app(tmp_path, forge)
    out, _ = (process := start(tmp_path, forge, "--new-secret")).communicate(timeout=30)
    settings = stored(tmp_path)
    assert (process.returncode, out.startswith("The webhook has a new secret; "), contract.wrong) == (0, True, []), out
    assert (settings["webhook_secret_previous"], settings["webhook_secret"]) == (forge.secret, forge.state.secret)
    assert forge.state.secret != forge.secret


def test_a_forge_that_did_not_answer_may_have_either_secret_and_both_are_kept(
    tmp_path: Path, forge: LocalForge
) -> None:
    made_app(tmp_path, forge)
    forge.fail_next("PATCH", "/app/hook/config", "done, then cut", times=3)
    out, _ = (process := start(tmp_path, forge, "--new-secret")).communicate(timeout=30)
    settings = stored(tmp_path)
    assert (process.returncode, out.startswith("bot: the webhook keeps its secret for now: "), out.count("\n")) == (
        2, True, 1,
    ), out  # fmt: skip
    assert (settings["webhook_secret"], settings["webhook_secret_previous"]) == (forge.secret, forge.state.secret)


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


def test_a_token_that_may_makes_the_webhook_and_proves_it(tmp_path: Path, forge: LocalForge) -> None:
    forge.observer = contract = Contract()
    forge.create_repository("acme/app", {"a": "b"})
    forge.add_user("max", {"acme/app": "admin"})
    port = free_port()
    hook = f"http://127.0.0.1:{port}/webhook"
    options = ("--from-token", "acme/app", "--webhook-url", hook)
    said = []
    for _ in range(2):  # a second time the same webhook gets the secret
        process = start(tmp_path, forge, *options, BOT_TOKEN=forge.personal_token("max"), BOT_PORT=str(port))
        out, _ = process.communicate(timeout=60)
        said.append((process.returncode, out.splitlines()[1:]))
    assert said == 2 * [(0, [f"The webhook works: a signed ping came through {hook}.", "Then: bot serve"])]
    assert contract.wrong == []


def test_a_repositorys_webhook_gets_a_new_secret_too(tmp_path: Path, forge: LocalForge) -> None:
    forge.create_repository("acme/app", {"a": "b"})
    forge.add_user("max", {"acme/app": "admin"})
    keep_settings(tmp_path / "bot.toml", {"webhook_secret": "old"})
    options = ("--new-secret", "--from-token", "acme/app", "--webhook-url", "http://bot.example/webhook")
    out, _ = (process := start(tmp_path, forge, *options, BOT_TOKEN=forge.personal_token("max"))).communicate(
        timeout=30
    )
    settings = stored(tmp_path)
    assert (process.returncode, "cannot ask for comments" in out, settings["webhook_secret_previous"]) == (
        0, True, "old",
    ), out  # fmt: skip
    assert settings["webhook_secret"] == forge.state.secret


def test_a_token_that_may_not_make_webhooks_is_told_what_to_do(tmp_path: Path, forge: LocalForge) -> None:
    forge.create_repository("acme/app", {"a": "b"})
    forge.add_user("ann", {"acme/app": "write"})
    options = ("--from-token", "acme/app", "--webhook-url", "http://bot.example/webhook")
    process = start(tmp_path, forge, *options, BOT_TOKEN=forge.personal_token("ann"))
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.splitlines()[-1].startswith("bot: the token may not make webhooks in acme/app")) == (
        2, True,
    ), out  # fmt: skip


async def test_a_webhook_that_leads_nowhere_is_not_proved(store: Store) -> None:
    async def ask() -> str:
        return ""

    settings = Settings(port=free_port())
    why = await proof.prove(settings, store, secret="s", ask=ask, limit_s=0.2)
    assert why == f"no ping came to 127.0.0.1:{settings.port}/webhook within 0 s"


def test_a_first_start_in_a_terminal_makes_the_app_and_serves(tmp_path: Path, forge: LocalForge) -> None:
    ours, theirs = pty.openpty()
    process = start(tmp_path, forge, command="serve", stdin=theirs, BOT_PORT="0")
    assert process.stdout is not None
    first = process.stdout.readline()
    click_through(process.stdout.readline().split()[-1], forge)
    said = [process.stdout.readline() for _ in range(3)]
    process.terminate()
    process.communicate(timeout=60)
    for end in (ours, theirs):
        os.close(end)
    assert (first, said[1], said[2].startswith("listening on http://127.0.0.1:")) == (
        "There is no App yet; one click makes it.\n", "Then: bot serve --pull\n", True,
    )  # fmt: skip


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
