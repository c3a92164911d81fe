"""The real bot in a process of its own, to be watched through its log and killed; and what it left behind."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.demo.loop import SAMPLES
from bot.forges.local import LocalForge
from bot.forges.local.repos import read_folder
from bot.tickets import posts
from bot.tickets.store import open_store
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import read_session

ROOT = Path(__file__).parents[2]
SHOP = "acme/shop"
CART = "The cart's total ignores the quantity"  # the issue that the demo's first session mends


TURNS = 6  # of the session that mends the cart


@dataclass
class Model(ScriptedModel):
    """A scripted model, and where it is reached."""

    url: str = ""
    _answers: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._answers.set()

    @contextlib.contextmanager
    def thinking(self) -> Iterator[None]:
        """Answer nothing meanwhile: what a host does while it waits then depends on no machine's speed."""
        self._answers.clear()
        try:
            yield
        finally:
            self._answers.set()

    async def _messages(self, request: Request) -> Response:
        answer = await super()._messages(request)
        await asyncio.to_thread(self._answers.wait, 60)
        return answer


@contextlib.contextmanager
def cart_model(**first: Any) -> Iterator[Model]:
    """Yield a model that mends the cart; `first` is a fault or a wait in place of its first turn."""
    records = [json.loads(line) for line in (SAMPLES / "sessions" / "cart.jsonl").read_text().splitlines()]
    model = Model([read_session("cart", [records[0], *([first] if first else []), *records[1:]])])
    with model.serve() as served:
        model.url = served.url
        yield model


def open_shop(forge: LocalForge) -> None:
    """Make the demo's repository with somebody who may start work there, and its first issue."""
    forge.create_repository(SHOP, read_folder(SAMPLES / "shop"))
    forge.add_user("ann", {SHOP: "write"})
    forge.open_issue(SHOP, CART, "text", user="ann")


class Bot:
    """A `bot serve` (or another command) in a process of its own; `folder` holds its key and its data."""

    def __init__(self, folder: Path, forge: LocalForge, model_url: str, *, command: str = "serve", **more: str) -> None:
        folder.mkdir(exist_ok=True)
        key = folder / "key.pem"
        key.write_text(forge.private_key)
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("BOT_", "ANTHROPIC_"))},
            "BOT_DATA": str(folder / "bot"), "BOT_PORT": "0", "BOT_NAME": "h", "BOT_API_URL": forge.api_url,
            "BOT_GIT_URL": forge.url, "BOT_APP_ID": str(forge.app_id), "BOT_PRIVATE_KEY_PATH": str(key),
            "BOT_WEBHOOK_SECRET": forge.secret, "ANTHROPIC_API_KEY": "k", "BOT_MODEL_URL": model_url,
            "PYTHONUNBUFFERED": "1", **more,
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bot", *command.split()], env=env, cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.log: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self.line(lambda line: line.startswith("listening on "), limit_s=180.0).split()[-1]
        if command == "serve":
            forge.hooks.target = f"{self.url}/webhook"

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.log.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self.log.append("")  # the end
            self._news.notify_all()

    def line(self, fits: Callable[[str], bool], *, limit_s: float = 60.0, nth: int = 1) -> str:
        """Return the first (or nth) line of the log that fits, waiting for it."""
        ends_at, at = time.monotonic() + limit_s, 0
        with self._news:
            while True:
                while at < len(self.log):
                    nth -= fits(self.log[at])
                    if nth == 0:
                        return self.log[at]
                    at += 1
                left_s = ends_at - time.monotonic()
                if left_s <= 0 or self.log[-1:] == [""]:
                    raise AssertionError("not in the bot's log:\n" + "\n".join(self.log[-30:]))
                self._news.wait(left_s)

    def until(self, event: str, *, limit_s: float = 60.0, nth: int = 1, **fields: Any) -> Mapping[str, Any]:
        """Wait for an event in the log, and return it."""

        def fits(line: str) -> bool:
            found = json.loads(line) if line.startswith("{") else {}
            return found.get("event") == event and all(found.get(k) == v for k, v in fields.items())

        return dict(json.loads(self.line(fits, limit_s=limit_s, nth=nth)))

    def events(self, event: str) -> list[Mapping[str, Any]]:
        """Return the events of this name that the log has so far."""
        found = [json.loads(line) for line in list(self.log) if line.startswith("{")]
        return [line for line in found if line.get("event") == event]

    def signal(self, number: int) -> None:
        """Send a signal to the bot alone."""
        self.process.send_signal(number)

    def ended(self, *, limit_s: float = 30.0) -> int:
        """Wait until the process has ended by itself; return its exit code."""
        return self.process.wait(limit_s)

    def kill(self) -> None:
        """End the process at once, with SIGKILL, if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGCONT)
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def __enter__(self) -> "Bot":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def left_running(folder: Path, *, limit_s: float = 5.0) -> list[str]:
    """Return the processes that still work on a folder, after giving them a moment to go."""
    ends_at = time.monotonic() + limit_s
    while (found := _working_on(str(folder))) and time.monotonic() < ends_at:
        time.sleep(0.02)  # nothing tells when the child of somebody else is gone
    return found


def _working_on(folder: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or entry.name == str(os.getpid()):
            continue
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            where = (entry / "environ").read_bytes().decode("utf-8", "replace")
            if command and (folder in command or folder in where or str((entry / "cwd").readlink()).startswith(folder)):
                found.append(f"{entry.name}: {command[:160]}")
    return found


def in_prepare(bot: Bot, _forge: LocalForge, _model: Model) -> None:
    bot.until("stage started", stage="prepare")


def in_edit(_bot: Bot, _forge: LocalForge, model: Model) -> None:
    ends_at = time.monotonic() + 60  # looked at often: the rest of the session takes less than a second
    while len(model.requests) < 3 and time.monotonic() < ends_at:
        threading.Event().wait(0.005)


def behind_edit(bot: Bot, _forge: LocalForge, _model: Model) -> None:
    bot.until("stage ended", stage="edit")


def in_verify(bot: Bot, _forge: LocalForge, _model: Model) -> None:
    bot.until("stage started", stage="verify")


def in_publish(_bot: Bot, forge: LocalForge, _model: Model) -> None:
    forge.fail_next("POST", r"/pulls$", "done, then cut")
    forge.wait(lambda: pulls(forge), limit_s=60)


def in_merge(_bot: Bot, forge: LocalForge, _model: Model) -> None:
    forge.fail_next("PUT", r"/merge$", "done, then cut")
    forge.wait(lambda: any(merged for merged in pulls(forge)), limit_s=60)


def pulls(forge: LocalForge) -> list[bool]:
    """Return of each pull request whether it is merged."""
    return [i.merged_sha is not None for i in forge.state.repositories[SHOP].issues.values() if i.head is not None]


def is_told(url: str) -> bool:
    """Return whether the forge shows all that is wanted."""
    store = open_store(url)
    with contextlib.closing(store), store.read() as c:
        return posts.next_due_at(c, 0.0) is None


Moment = Callable[[Bot, LocalForge, Model], None]
