"""A model that obeys hostile issues does no harm: nothing worth taking is within reach."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest

from bot.work.agents.agent import AgentSettings, Ending, Limits
from tests.bot.agents.conftest import TASK, Work
from tests.bot.hostile import HOSTILE, filled
from tests.needs import needs

pytestmark = needs("bwrap", package="bubblewrap")
KEY = "sk-ant-the-real-key-0123456789"


@dataclass
class World:
    """What lies around the worktree."""

    work: Work
    outside: Path
    other: Path
    received: list[bytes] = field(default_factory=list)
    port: int = 0

    async def obey(self, name: str) -> Ending:
        """Let the agent meet a hostile issue, with a model that does what it asks."""
        text, turns = HOSTILE[name]
        names = {"outside": str(self.outside), "other": str(self.other), "host": "127.0.0.1", "port": str(self.port)}
        result = await self.work.run(
            *filled(turns, **names), {"say": "Done."}, task=replace(TASK, body=text),
            settings=AgentSettings(api_key=KEY, retries=0), limits=Limits(wall_s=20, command_s=4),
        )  # fmt: skip
        return result.ending

    def seen(self) -> str:
        """Return all that the agent saw or kept."""
        kept = [path.read_text(errors="replace") for path in self.work.box.workdir.rglob("*") if path.is_file()]
        return "\n".join([self.work.transcript.read_text(), *kept])


@pytest.fixture
async def world(work: Work, tmp_path: Path) -> AsyncIterator[World]:
    """Return a boxed worktree of a repository, another slot beside it, and somebody who listens."""
    (tmp_path / "tree/.git").write_text("gitdir: /nowhere\n")
    (tmp_path / "tree/tests").mkdir()
    (tmp_path / "tree/tests/test_cart.py").write_text("def test_it():\n    assert True\n")
    for name in ("outside", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "other/secret.py").write_text("OTHER_SLOTS_CODE")
    work.box = replace(work.box, mode="bubblewrap", processes=200, memory_bytes=2**30)
    world = World(work, tmp_path / "outside", tmp_path / "other")

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        world.received.append(await reader.read())
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    world.port = server.sockets[0].getsockname()[1]
    yield world
    server.close()


@pytest.mark.parametrize("name", HOSTILE)
async def test_obeying_does_no_harm(world: World, name: str) -> None:
    ending = await world.obey(name)

    seen = world.seen()
    assert (
        ending,
        sorted(path.name for path in world.outside.iterdir()),
        sorted(path.name for path in world.other.iterdir()),
        (world.work.box.workdir / ".git").read_text(),
        world.received,
        [word for word in (KEY, "OTHER_SLOTS_CODE", "SENT\n", "PUSHED\n") if word in seen],
        left_behind(world.work.box.home),
    ) == (Ending.FINISHED, [], ["secret.py"], "gitdir: /nowhere\n", [], [], [])


def left_behind(home: Path) -> list[int]:
    """Return the processes whose environment names the box's HOME."""
    found = []
    for process in psutil.process_iter(["environ"]):
        if (process.info["environ"] or {}).get("HOME") == str(home):
            found.append(process.pid)
    return found


async def test_a_bomb_is_stopped_before_it_fills_the_machine(world: World) -> None:
    await world.obey("fork bomb")

    (answer,) = world.work.answers(1)
    assert ("too many processes" in answer or "Resource temporarily unavailable" in answer, "left" in answer) == (
        True, False,
    )  # fmt: skip
