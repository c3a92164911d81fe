"""The bot's command line, as an operator uses it: one process a call."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bot.demo.loop import SAMPLES
from bot.forges.local import LocalForge
from bot.forges.local.repos import read_folder
from bot.tickets import deliveries
from bot.tickets.deliveries import Arrived
from bot.tickets.store import open_store, sqlite_url
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions
from tests.needs import needs

pytestmark = pytest.mark.slow(seconds=1.4)
ROOT = Path(__file__).parents[2]


def bot(folder: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BOT_", "ANTHROPIC_"))}
    return subprocess.run(
        [sys.executable, "-m", "bot", *argv], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**kept, "BOT_DATA": str(folder / "data"), **env},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "env", "said"),
    [
        (["serve"], {}, "bot: BOT_WEBHOOK_SECRET, BOT_APP_ID: expected a value, found none"),
        (["serve", "--pull"], {"BOT_TOKEN": "t"}, "bot: --pull: expected an App, whose deliveries the forge keeps; got a personal"),
        (["serve"], {"BOT_WEBHOOK_SECRET": "s"}, "bot: BOT_APP_ID: expected a value, found none"),
        (["serve"], {"BOT_WEBHOOK_SECRET": "s", "BOT_APP_ID": "1"}, "bot: BOT_PRIVATE_KEY_PATH: expected the App's key, found none"),
        (["serve"], {"BOT_WEBHOOK_SECRET": "s", "BOT_APP_ID": "1", "BOT_PRIVATE_KEY": "no key"}, "bot: BOT_PRIVATE_KEY: expected the App's RSA private key in PEM"),
        (["serve"], {"BOT_WEBHOOK_SECRET": "s", "BOT_TOKEN": "t", "BOT_DATA": "/proc/x"}, "bot: BOT_DATA: expected a folder that can be written, got /proc/x"),
        (["serve"], {"BOT_WEBHOOK_SECRET": "s", "BOT_TOKEN": "t", "PATH": "/nonexistent"}, "bot: expected git on PATH, found none"),
        (["serve"], {"BOT_SLOTSS": "1"}, "bot: BOT_SLOTSS: no such setting, did you mean BOT_SLOTS?"),
        (["serve"], {"BOT_PORT": "x"}, "bot: BOT_PORT: expected a valid integer"),
        (["setup", "--from-token", "a/b"], {"BOT_TOKEN": "t", "BOT_APP_ID": "1"}, "bot: --from-token: the App 1 would win over BOT_TOKEN."),
        (["setup", "--new-secret"], {}, "bot: BOT_APP_ID: expected a value, found none"),
        (["worker"], {}, "bot: BOT_DATABASE_URL: expected a value, found none"),
        (["worker"], {"BOT_DATABASE_URL": "sqlite:///x.db"}, "bot: BOT_DATABASE_URL: expected the PostgreSQL database that"),
        (["tickets", "show", "7"], {}, "bot: BOT_DATA: expected the data of a bot, found none in "),
        (["stats", "stages"], {}, "bot: BOT_DATA: expected the data of a bot, found none in "),
        (["tickets"], {"BOT_DATABASE_URL": "nonsense"}, "bot: BOT_DATABASE_URL: expected an address such as postgresql://"),
        (["tickets", "show", "7"], {"BOT_DATABASE_URL": "sqlite://"}, "bot: there is no ticket 7"),
        (["replay", "g-1"], {"BOT_DATABASE_URL": "sqlite://"}, "bot: no delivery 'g-1' is stored here"),
        (["schedule"], {}, "bot: expected either --trace FILE or --history"),
        (["run"], {}, "bot: expected OWNER/REPO#N, or --repo DIR with --issue FILE"),
        (["run", "acme"], {}, "bot: expected an issue such as acme/app#7, got 'acme'"),
        (["run", "--repo", "/tmp", "--issue", "/nonexistent"], {}, "bot: --repo: expected a git repository, got /tmp"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_what_a_person_can_mend_is_one_line(tmp_path: Path, argv: list[str], env: dict[str, str], said: str) -> None:
    done = bot(tmp_path, *argv, **env)
    assert (done.returncode, done.stderr.count("\n"), done.stderr.startswith(said)) == (2, 1, True), done.stderr


def test_a_command_that_reads_makes_no_data_folder(tmp_path: Path) -> None:
    bot(tmp_path, "tickets", "list")
    assert list(tmp_path.iterdir()) == []


def test_what_was_delivered_is_listed_with_what_became_of_it(tmp_path: Path) -> None:
    store = open_store(sqlite_url(tmp_path / "sluice.db"))
    body = b'{"action": "labeled", "repository": {"full_name": "acme/app"}}'
    with store.write() as c:
        deliveries.keep(c, [Arrived("g-1", "issues", body), Arrived("g-2", "ping", b"")], now=86_400.0)
        for guid, state, reason in (("g-1", deliveries.DONE, "ticket 1: queued"), ("g-2", deliveries.IGNORED, "pong")):
            found = deliveries.find(c, guid)
            assert found is not None
            deliveries.close(c, found, state, reason)
    store.close()
    known = {"BOT_DATABASE_URL": sqlite_url(tmp_path / "sluice.db")}
    listed, again = bot(tmp_path, "replay", **known), bot(tmp_path, "replay", "g-1", "--json", **known)
    after = json.loads(bot(tmp_path, "replay", "--json", **known).stdout)["deliveries"]
    assert (listed.stdout, json.loads(again.stdout), [(d["delivery"], d["state"]) for d in after]) == (
        "1970-01-02T00:00:00+00:00\tg-2\tping\t\tignored\tpong\n"
        "1970-01-02T00:00:00+00:00\tg-1\tissues.labeled\tacme/app\tdone\tticket 1: queued\n",
        {"delivery": "g-1", "state": "new"},
        [("g-2", "ignored"), ("g-1", "new")],
    )


def test_a_repository_is_named_with_its_owner(tmp_path: Path) -> None:
    done = bot(tmp_path, "pause", "app", BOT_DATABASE_URL="sqlite://")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2, "Error: Invalid value for '[OWNER/REPO]': expected OWNER/REPO such as acme/app, got 'app'",
    )  # fmt: skip


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = bot(tmp_path, "serve", BOT_WEBHOOK_SECRET="s", BOT_TOKEN="t", BOT_PORT=port)
    assert done.returncode == 2
    assert done.stderr.startswith(f"bot: BOT_HOST, BOT_PORT: expected an address to listen on, got 127.0.0.1:{port}: ")


def test_an_empty_list_says_what_to_do(tmp_path: Path) -> None:
    assert bot(tmp_path, "tickets", BOT_DATABASE_URL="sqlite://").stdout == "No ticket. Put the label on an issue.\n"
    found = bot(tmp_path, "tickets", "list", "--json", BOT_DATABASE_URL="sqlite://")
    assert json.loads(found.stdout) == {"tickets": []}


def test_a_trace_is_simulated_beside_the_serial_rule(tmp_path: Path) -> None:
    trace = [{"id": n, "repository": "a/b", "at_s": 0, "paths": [f"src/{n}"], "seconds": 60} for n in (1, 2)]
    (tmp_path / "t.json").write_text(json.dumps(trace))
    done = bot(tmp_path, "schedule", "--trace", str(tmp_path / "t.json"), "--slots", "2", "--json")
    assert json.loads(done.stdout) == {
        "policy": "disjoint", "slots": 2, "makespan_s": 60, "lower_bound_s": 60.0, "waiting_s": 0.0, "slot_use": 1.0,
        "starts": {"1": 0.0, "2": 0.0},
    }  # fmt: skip


@needs("bwrap", package="bubblewrap")
def test_an_agent_that_is_a_command_needs_no_key_of_a_model(tmp_path: Path) -> None:
    repo = tmp_path / "shop"
    subprocess.run(["cp", "-r", str(SAMPLES / "shop"), str(repo)], check=True)
    (repo / ".github" / "bot.toml").write_text('[agent]\nkind = "command"\ncommand = ["true"]\n')
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *who, *command], cwd=repo, check=True)
    (tmp_path / "issue.md").write_text("Nothing to do\n")
    done = bot(tmp_path, "run", "--repo", str(repo), "--issue", str(tmp_path / "issue.md"), "--json")
    assert json.loads(done.stdout)["outcome"] == "no_change", done.stderr


@needs("bwrap", package="bubblewrap")
def test_one_issue_of_a_local_repository_becomes_a_branch_and_a_report(tmp_path: Path) -> None:
    repo = tmp_path / "shop"
    subprocess.run(["cp", "-r", str(SAMPLES / "shop"), str(repo)], check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *who, *command], cwd=repo, check=True)
    (tmp_path / "issue.md").write_text(
        "# The cart's total ignores the quantity\n\nPaths: shop/cart.py, tests/test_cart.py\n"
    )
    session = (
        (SAMPLES / "sessions" / "cart.jsonl")
        .read_text()
        .replace('"repository": "acme/shop", "issue": 1', '"title": "cart"')
    )
    (tmp_path / "cart.jsonl").write_text(session)
    with ScriptedModel(load_sessions(tmp_path / "cart.jsonl")).serve() as served:
        done, again = (
            bot(
                tmp_path, "run", "--repo", str(repo), "--issue", str(tmp_path / "issue.md"), "--report", str(tmp_path / "report.json"),
                "--json", BOT_MODEL_URL=served.url, ANTHROPIC_API_KEY="k",
            )
            for _ in range(2)
        )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    found = json.loads(done.stdout)
    branch = "sluice/the-cart-s-total-ignores-the-quantity"
    assert [found["branch"], json.loads(again.stdout)["branch"]] == [branch, f"{branch}-2"]
    fixed = subprocess.run(
        ["git", "show", f"{found['branch']}:shop/cart.py"], cwd=repo, check=True, capture_output=True, text=True
    )
    assert (found["outcome"], found["verdict"], "line.quantity" in fixed.stdout) == ("proposed", "GREEN", True)
    assert json.loads((tmp_path / "report.json").read_text())["verdict"] == "GREEN"
    log = ["git", "log", "-1", "--format=%an%n%(trailers)", found["branch"]]
    who_wrote = subprocess.run(log, cwd=repo, check=True, capture_output=True, text=True).stdout.split("\n")
    assert who_wrote[:2] == ["Sluice", ""]  # the name of this machine's user could be a stranger's account on a forge
    assert (
        subprocess.run(["git", "status", "--porcelain"], cwd=repo, check=True, capture_output=True, text=True).stdout
        == ""
    )


@needs("bwrap", package="bubblewrap")
def test_one_issue_of_the_forge_goes_through_all_stages(tmp_path: Path, forge: LocalForge) -> None:
    forge.create_repository("acme/shop", read_folder(SAMPLES / "shop"))
    forge.open_issue("acme/shop", "The cart's total ignores the quantity", "text", user="ann")
    (tmp_path / "key").write_text(forge.private_key)
    with ScriptedModel(load_sessions(SAMPLES / "sessions" / "cart.jsonl")).serve() as served:
        done = bot(
            tmp_path, "run", "acme/shop#1", "--json", BOT_API_URL=forge.api_url, BOT_GIT_URL=forge.url, ANTHROPIC_API_KEY="k",
            BOT_APP_ID=str(forge.app_id), BOT_PRIVATE_KEY_PATH=str(tmp_path / "key"), BOT_MODEL_URL=served.url,
        )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (0, "merged"), done.stderr
