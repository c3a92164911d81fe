"""bot slots: list, warm, reset and remove the worktrees of this host."""

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

import click
import httpx
from rich.console import Console
from rich.table import Table

from bot.commands.arguments import repository_name
from bot.connecting import by_size, open_forge
from bot.errors import UserError
from bot.opening import data_folder, sandbox_mode
from bot.settings import Settings, load
from bot.slots.disk import low_disk, size_bytes
from bot.slots.pool import Pool
from bot.slots.shelf import Kept, kept
from bot.slots.slot import Slot
from bot.tickets import leases, rechecks
from bot.tickets.repository import PATH, read_settings
from bot.tickets.store import open_store, sqlite_url

MB = 1024 * 1024
WORDS = {
    rechecks.NEW: "to come", rechecks.SAME: "the same", rechecks.DIFFERS: "different", rechecks.UNSTEADY: "unsteady",
    rechecks.FAILED: "failed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One slot as it is shown."""

    repository: str
    name: str
    state: str  # free, leased, quarantined
    warm: bool  # dependencies of a lockfile stand in it
    ticket: int | None
    used_at: float
    bytes: int
    caches: tuple[Kept, ...]  # kept for the next gate, or in quarantine with the reason
    path: str
    reason: str


@click.group(invoke_without_command=True)
@click.pass_context
def slots(ctx: click.Context) -> None:
    """List, warm, reset or remove slots of this host."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@slots.command("list")
@click.option("--json", "as_json", is_flag=True)
def list_(as_json: bool = False) -> None:
    """List slots with what they hold and take, the longest unused first."""
    settings, pool, host = _opened()
    with pool.store.read() as c:
        rows, again = leases.rows(c, host), rechecks.counts(c, host)
    lines = [_line(pool, row) for row in rows]
    store_bytes = sum(size_bytes(store) for store in pool.stores())
    low = low_disk(settings.data, least_bytes=settings.low_disk_mb * MB)
    if as_json:
        found = {
            "host": host, "slots": [asdict(line) for line in lines], "store_bytes": store_bytes, "low_disk": low,
            "gated_again": again,
        }  # fmt: skip
        click.echo(json.dumps(found, indent=2))
        return
    if lines:
        _print(lines)
    else:
        click.echo("No slot yet. The first ticket makes one, or: bot slots warm OWNER/REPO")
    click.echo(f"package managers' stores: {store_bytes / MB:,.0f} MB" + (f"\n{low}" if low else ""))
    if again:
        shown = ", ".join(f"{count} {WORDS[state]}" for state, count in sorted(again.items()))
        click.echo(f"gated again without caches: {shown}")


def _line(pool: Pool, row: leases.SlotRow) -> Line:
    slot = pool.slot(row.name, row.repository)
    folder = slot.path.parent
    return Line(
        row.repository, row.name, row.state, bool(row.fingerprint), row.ticket, row.used_at, size_bytes(folder),
        tuple(kept(slot)), str(folder), row.reason,
    )  # fmt: skip


def _print(lines: list[Line]) -> None:
    table = Table("repository", "slot", "state", "dependencies", "caches", "last used", "size", box=None)
    for line in lines:
        state = f"{line.state}: {line.reason}" if line.reason else line.state
        state += f" by ticket {line.ticket}" if line.ticket else ""
        age = f"{(time.time() - line.used_at) / 3600:.1f} h ago"
        installed = "installed" if line.warm else "none"
        good = [cache for cache in line.caches if not cache.quarantined]
        caches = f"{len(good)}, {sum(cache.bytes for cache in good) / MB:,.1f} MB" if good else "none"
        table.add_row(line.repository, line.name, state, installed, caches, age, f"{line.bytes / MB:,.0f} MB")
    Console(highlight=False).print(table)
    for line in lines:
        for cache in line.caches:
            if cache.quarantined:
                click.echo(f"{line.repository} {line.name}: {cache.path} is in quarantine: {cache.quarantined}")


@slots.command()
@click.argument("repository", callback=repository_name, metavar="OWNER/REPO")
@click.option("--count", type=click.IntRange(1, 64), default=1, show_default=True, help="how many slots to make warm")
@click.option("--json", "as_json", is_flag=True)
def warm(repository: str, count: int, as_json: bool) -> None:
    """Make slots of a repository ready ahead of need, with its dependencies installed."""
    parts = asyncio.run(_warm(repository, count))
    if as_json:
        click.echo(json.dumps({"repository": repository, "slots": parts}, indent=2))
        return
    for name, took in parts.items():
        click.echo(f"{repository} {name}: ready; " + ", ".join(f"{part} {s:.2f} s" for part, s in took.items()))


async def _warm(repository: str, count: int) -> dict[str, dict[str, float]]:
    settings, pool, _ = _opened()
    leased: list[Slot] = []
    took: dict[str, dict[str, float]] = {}
    async with httpx.AsyncClient(timeout=30.0) as http:
        forge = open_forge(settings, http)
        pool.mirrors.is_large = by_size(forge, settings.partial_clone_mb)
        branch = await forge.default_branch(repository)
        sha = await forge.branch_sha(repository, branch)
        if sha is None:
            raise UserError(f"the branch {branch} of {repository} has no commit")
        wish = read_settings(await forge.file(repository, PATH, sha) or b"")
        token = await forge.git_token(repository)
        try:
            for n in range(count):
                slot = await pool.lease(repository, ticket=-1 - n, epoch=0)
                if slot is None:
                    raise UserError(f"all {settings.slots} slots of this host are in use (BOT_SLOTS)")
                leased.append(slot)
                parts = took.setdefault(slot.name, {})
                await pool.prepare(
                    slot, url=f"{settings.git_url.rstrip('/')}/{repository}.git", token=token, sha=sha,
                    install=wish.install, on_part=parts.__setitem__,
                )  # fmt: skip
        finally:
            for slot in leased:
                await pool.release(slot)
            await pool.close()
    return took


@slots.command()
@click.argument("repository", callback=repository_name, metavar="OWNER/REPO")
@click.argument("name", metavar="SLOT")
def reset(repository: str, name: str) -> None:
    """Throw a slot's worktree away and free the slot, one in quarantine too; the next job gets a new worktree."""
    _act(repository, name, lambda pool, slot: pool.mend(slot), "is free; its next job makes it anew")


@slots.command()
@click.argument("repository", callback=repository_name, metavar="OWNER/REPO")
@click.argument("name", metavar="SLOT")
def rm(repository: str, name: str) -> None:
    """Remove a slot with everything in it."""
    _act(repository, name, lambda pool, slot: pool.remove(slot), "is removed")


def _act(repository: str, name: str, act: Callable[[Pool, Slot], Awaitable[bool]], said: str) -> None:
    _, pool, host = _opened()
    with pool.store.read() as c:
        states = {(row.repository, row.name): row for row in leases.rows(c, host)}
    row = states.get((repository, name))
    if row is None:
        raise UserError(f"there is no {name} of {repository} on {host}; `bot slots` lists them")

    async def acted() -> bool:
        done = await act(pool, pool.slot(name, repository))
        await pool.close()
        return done

    if not asyncio.run(acted()):
        why = f"ticket {row.ticket} holds it" if row.state == "leased" else "a process or a mount keeps it in use"
        raise UserError(f"{name} of {repository} was left as it is: {why}")
    click.echo(f"{repository} {name} {said}")


def _opened() -> tuple[Settings, Pool, str]:
    settings = load()
    data, host = data_folder(settings.data), settings.name or socket.gethostname()
    store = open_store(settings.database_url or sqlite_url(data / "sluice.db"))
    pool = Pool(
        data / "slots", store, host=host, slots=settings.slots, sandbox=sandbox_mode(settings),
        private_hosts=settings.private_hosts,
    )  # fmt: skip
    return settings, pool, host
