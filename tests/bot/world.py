"""A bot with its forge and a scripted model, and what tests ask of them."""

import asyncio
import contextlib
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.app import Service
from bot.demo import loop
from bot.forges.local import LocalForge
from bot.settings import Settings
from bot.tickets import journal, tickets
from bot.tickets.ticket import State, Ticket
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import Turn, read_session
from tests.contract import Contract

CALC = "def add(a, b):\n    return a - b\n"
FILES = {
    "gate.toml": '[steps.test]\nrun = "python3 -m unittest -q"\nkind = "test"\n',
    "calc.py": CALC,
    "test_calc.py": "import unittest, calc\nclass T(unittest.TestCase):\n    def test_it(self):\n        calc.add\n",
}


def change(text: str, path: str = "calc.py") -> dict[str, Any]:
    return {"edit": {"command": "create", "path": path, "file_text": text}}


@dataclass
class Model(ScriptedModel):
    """A scripted model that does something in the world before it answers about an issue."""

    sessions: list[Any] = field(default_factory=list)
    before: dict[str, Callable[[], object]] = field(default_factory=dict)

    def _turn(self, asked: Mapping[str, Any]) -> Turn:
        first = str(asked["messages"][0])
        for name in [name for name in self.before if name in first]:
            self.before.pop(name)()
        return super()._turn(asked)

    def says(self, name: str, *turns: dict[str, Any], feedback: bool = False, when: Sequence[str] = ()) -> None:
        start = {"type": "start", "repository": name, "feedback": feedback, "when": list(when)}
        self.sessions.append(read_session(f"{name} {len(self.sessions)}", [start, *turns]))

    def told(self) -> str:
        """Return what the newest conversation began with."""
        return str(self.requests[-1]["messages"][0]["content"][0]["text"])


@dataclass
class World:
    forge: LocalForge
    service: Service
    model: Model
    folder: Path

    def repository(self, name: str, settings: str = "", **files: str) -> str:
        self.forge.create_repository(name, {**FILES, ".github/bot.toml": settings, **files})
        self.forge.add_user("ann", {name: "write"})
        return name

    async def ask(self, repo: str) -> Ticket:
        """Open an issue with the label, and return its ticket once it is done."""
        number = self.forge.open_issue(repo, "add subtracts", "It should add.", user="ann")
        self.forge.label_issue(repo, number, "bot", user="ann")
        return await self.done(repo, attempt=1)

    async def done(self, repo: str, *, attempt: int) -> Ticket:
        ends_at = time.monotonic() + 60
        with self.service.bell.listen() as listener:
            while time.monotonic() < ends_at:
                with self.service.store.read() as c:
                    found = tickets.list_tickets(c, repository=repo)
                if found and found[0].attempt == attempt and found[0].state is State.DONE:
                    return found[0]
                await listener.wait(1.0)
        raise AssertionError(f"not done: {found}")

    async def seen(self, look: Callable[[], bool]) -> None:
        """Wait until the forge shows it; what is posted comes a moment after the end."""
        await asyncio.to_thread(self.forge.wait, look)

    def log(self, ticket: Ticket) -> list[str]:
        """Return the lines of a ticket's log."""
        with self.service.store.read() as c:
            return [line.line for line in journal.lines_after(c, ticket.id, 0)]

    def ref(self, repo: str) -> str:
        """Return the name under which the newest attempt's work is kept."""
        with self.service.store.read() as c:
            ticket = tickets.list_tickets(c, repository=repo)[0]
        return f"{ticket.id}-{ticket.attempt}"

    def git_in(self, folder: Path, *words: str) -> str:
        return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True).stdout.strip()

    def git(self, repo: str, *words: str) -> str:
        folder = str(next(self.folder.rglob(f"{repo}.git")))
        return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True).stdout.strip()


@contextlib.asynccontextmanager
async def living(folder: Path, **more: Any) -> AsyncIterator[World]:
    """Yield a world while it lives in a folder."""
    forge, model = LocalForge(folder / "forge"), Model([])
    forge.observer = contract = Contract()
    with model.serve() as served:
        settings = Settings(
            data=folder / "bot", port=0, name="h", api_url=forge.api_url, app_id=forge.app_id,
            private_key=SecretStr(forge.private_key), webhook_secret=SecretStr(forge.secret), model_url=served.url,
            anthropic_api_key=SecretStr("k"), **{"git_url": forge.url, **more},
        )  # fmt: skip
        async with loop.serving(settings) as (service, url):
            forge.hooks.target = f"{url}/webhook"
            yield World(forge, service, model, folder / "forge")
    forge.close()
    assert contract.wrong == []
