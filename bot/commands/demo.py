"""bot demo: the whole loop on this machine."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bot import log
from bot.demo import loop
from bot.demo.loop import Demo, Ended, Told


@click.command()
@click.option("--once", is_flag=True, help="run the three issues to their end, then leave")
@click.option("--json", "as_json", is_flag=True, help="print one JSON object at the end, and nothing else")
@click.option("--port", type=int, default=0, help="of the dashboard (any free one)")
@click.option("--forge-port", type=int, default=0, help="of the local forge (any free one)")
@click.option(
    "--replay", multiple=True, type=click.Path(exists=True, path_type=Path), metavar="FILE",
    help="a transcript, or a folder of them, that answers where it fits",
)  # fmt: skip
def demo(once: bool, as_json: bool, port: int, forge_port: int, replay: tuple[Path, ...]) -> int:
    """Run three labelled issues to gated pull requests, with a local forge and, without a key, a scripted model."""
    log.set_up("ERROR")
    with loop.scratch() as folder:
        started = _demo(
            Path(folder), once=once or as_json, as_json=as_json, port=port, forge_port=forge_port, replay=replay
        )
        code = asyncio.run(started)
    sys.stdout.flush()
    os._exit(code)  # stages that the end cut short never return


async def _demo(
    folder: Path, *, once: bool, as_json: bool, port: int, forge_port: int, replay: tuple[Path, ...]
) -> int:
    console = Console(quiet=as_json, highlight=False)
    async with loop.running(folder, port=port, forge_port=forge_port, replay=replay) as running:
        _welcome(console, running)
        ended = await loop.play(running, told=lambda told: _say(console, told))
        if as_json:
            click.echo(json.dumps({"model": running.model, "tickets": [_plain(e) for e in ended]}, indent=2))
        console.print(_table(ended))
        good = len(ended) == len(loop.STORIES) and all(e.as_wanted for e in ended)
        console.print("All three ended as they should." if good else "Not all ended as they should.")
        if not once:
            console.print(f"\nForge      {running.forge.url}\nDashboard  {running.dashboard}\n\nCtrl-C ends it.")
            await _until_interrupted()
    return 0 if good else 1


def _welcome(console: Console, running: Demo) -> None:
    if running.model == "scripted":
        console.print(loop.SCRIPTED)
    console.print(f"Forge      {running.forge.url}\nDashboard  {running.dashboard}\n")


def _say(console: Console, told: Told) -> None:
    where = f"{told.ticket.repository}#{told.ticket.issue}"
    console.print(f"{where:<14} {told.stage:<8} {told.seconds:6.2f} s", style="dim")


def _table(ended: list[Ended]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("issue", "title", "outcome", "gate", "pull", "rounds"):
        table.add_column(name, no_wrap=True, max_width=18 if name == "title" else None)
    for name in ("seconds", "ours"):
        table.add_column(name, justify="right", no_wrap=True)
    for end in ended:
        total = sum(end.seconds.values())
        mark = "" if end.as_wanted else f" (wanted: {end.wanted})"
        pull = f"#{end.pull_request}" if end.pull_request else "–"
        table.add_row(
            end.issue, end.title, f"{end.outcome}{mark}", end.verdict or "–", pull, str(end.rounds), f"{total:.2f}",
            f"{end.own_seconds:.2f}",
        )  # fmt: skip
    return table


def _plain(end: Ended) -> dict[str, object]:
    return {**asdict(end), "as_wanted": end.as_wanted}


async def _until_interrupted() -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()
