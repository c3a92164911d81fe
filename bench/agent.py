"""What the agent's own work costs: a turn of the loop besides model and tools, and a command in the box."""

import argparse
import asyncio
import logging
import statistics
import tempfile
import time
from pathlib import Path

from bot.sandbox import box as boxes
from bot.sandbox import proc
from bot.sandbox.box import Box, Mode
from bot.work.agents.agent import AgentSettings, Limits, Task
from bot.work.agents.open import open_agent
from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import read_session
from bot.work.agents.shell import Shell, environment

TASK = Task("acme/shop", 1, "Bench", "Nothing to do.")


def box_in(folder: Path, mode: Mode) -> Box:
    for name in ("tree", "home"):
        (folder / name).mkdir(exist_ok=True)
    return Box(mode, folder / "tree", folder / "home")


async def turns(folder: Path, mode: Mode, count: int) -> tuple[float, float, float]:
    """Return the milliseconds of a turn: all of it, the model's and the tools' share."""
    session = read_session("bench", [*[{"bash": "true"}] * count, {"say": "Done."}])
    with ScriptedModel([session]).serve() as served:
        agent = open_agent("anthropic", AgentSettings(model_url=served.url))
        began = time.perf_counter()
        result = await agent.run(
            TASK, box=box_in(folder, mode), limits=Limits(turns=count + 1), transcript=folder / "t.jsonl.gz",
            cancelled=asyncio.Event(), on_line=lambda _: None,
        )  # fmt: skip
        seconds = time.perf_counter() - began
    used = result.usage
    return tuple(1000 * part / used.turns for part in (seconds, used.model_s, used.tools_s))  # type: ignore[return-value]


async def commands(folder: Path, mode: Mode, count: int) -> tuple[float, float]:
    """Return the milliseconds of `true`: as a process of its own, and in a shell that stays."""
    box = box_in(folder, mode)
    alone, kept = [], []
    for _ in range(count):
        began = time.perf_counter()
        argv, env = boxes.wrap(box, ["true"], env=environment(box))
        await proc.run(*argv, cwd=box.workdir, env=env, limit_s=10)
        alone.append(time.perf_counter() - began)
    shell = Shell(box, env=environment(box))
    await shell.run("true", limit_s=10)
    for _ in range(count):
        began = time.perf_counter()
        await shell.run("/bin/true", limit_s=10)
        kept.append(time.perf_counter() - began)
    await shell.close()
    return 1000 * statistics.median(alone), 1000 * statistics.median(kept)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--commands", type=int, default=30)
    asked = parser.parse_args()
    logging.disable(logging.ERROR)
    modes: tuple[Mode, ...] = ("off", "bubblewrap")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await turns(folder, "off", 2)  # what is imported once is imported
        print(f"{'a turn, ms':<14}{'all':>8}{'model':>8}{'tools':>8}{'our own':>9}   aim: our own under 20")
        for mode in modes:
            whole, model, tools = await turns(folder, mode, asked.turns)
            print(f"{mode:<14}{whole:>8.1f}{model:>8.1f}{tools:>8.1f}{whole - model - tools:>9.1f}")
        print(f"\n{'a command, ms':<14}{'alone':>8}{'in shell':>9}   aim: a box adds under 15")
        for mode in modes:
            alone, kept = await commands(folder, mode, asked.commands)
            print(f"{mode:<14}{alone:>8.1f}{kept:>9.1f}")


if __name__ == "__main__":
    asyncio.run(main())
