"""bot doctor: check that everything is in place, each line with its mend."""

import asyncio
import json
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click
import sqlalchemy as sa

from bot.errors import BotError
from bot.measure.disk import Disk, measure
from bot.opening import data_folder
from bot.sandbox import proc
from bot.sandbox.box import BWRAP, Box, wrap
from bot.settings import Settings, load
from bot.setup.finding import Finding
from bot.slots.disk import low_disk
from bot.tickets.store import open_store, sqlite_url

GIT_AT_LEAST = (2, 38)  # merge-tree --write-tree
MB = 1024 * 1024


@click.command()
@click.option("--disk", is_flag=True, help="only the disk, beside the folder for temporary files")
@click.option("--github", is_flag=True, help="ask the forge too: App, permissions, events, webhook, installations")
@click.option("--json", "as_json", is_flag=True)
def doctor(disk: bool, github: bool, as_json: bool) -> None:
    """Check that everything is in place; exit code 1 where something that is needed is missing."""
    settings, findings = _settings()
    if disk:
        findings = []
    elif settings is not None:
        findings = [_python(), asyncio.run(_git()), asyncio.run(_box(settings)), *findings, *_signing(settings)]
        findings.append(_database(settings))
    if settings is not None:
        findings += _disk(settings, beside=disk)
        findings += asyncio.run(_forge(settings)) if github else []
    failed = any(f.needed and not f.ok for f in findings)
    if as_json:
        click.echo(json.dumps({"ok": not failed, "findings": [asdict(f) for f in findings]}, indent=2))
    else:
        for found in findings:
            word = "ok" if found.ok else "NOT OK" if found.needed else "advice"
            click.echo(f"{word:<7} {found.name:<12} {found.said}")
            if found.mend and not found.ok:
                click.echo(f"{'':<20} mend: {found.mend}")
    if failed:
        raise click.exceptions.Exit(1)


def _settings() -> tuple[Settings | None, list[Finding]]:
    try:
        settings = load()
    except BotError as error:
        return None, [Finding("settings", False, str(error), "correct that value, and run this again")]
    return settings, [Finding("settings", True, "every value can be read")]


def _python() -> Finding:
    ok = sys.version_info >= (3, 11)
    return Finding("python", ok, platform.python_version(), "install Python 3.11 or newer")


async def _git() -> Finding:
    mend = "apt-get install git (2.38 or newer)"
    found = shutil.which("git")
    if found is None:
        return Finding("git", False, "not on PATH", mend)
    done = await proc.run(found, "--version", cwd=Path("/"), env={}, limit_s=10)
    number = re.search(r"(\d+)\.(\d+)", done.output)
    version = (int(number[1]), int(number[2])) if number else (0, 0)
    return Finding("git", version >= GIT_AT_LEAST, done.output.strip(), mend)


async def _box(settings: Settings) -> Finding:
    """Start a box for real: that the program is there says nothing about the kernel."""
    if settings.sandbox == "off":
        return Finding(
            "sandbox", False, "off: commands of repositories run with this user's rights", "unset BOT_SANDBOX",
            needed=False,
        )  # fmt: skip
    if shutil.which(BWRAP) is None:
        return Finding("sandbox", False, "bwrap is not on PATH", "apt-get install bubblewrap")
    with tempfile.TemporaryDirectory() as folder:
        work, home = Path(folder, "work"), Path(folder, "home")
        work.mkdir()
        home.mkdir()
        argv, env = wrap(Box("bubblewrap", work, home), ["true"], env={})
        done = await proc.run(*argv, cwd=work, env=env, limit_s=10)
    if done.exit_code == 0:
        return Finding("sandbox", True, f"bubblewrap starts, in {1000 * done.seconds:.0f} ms")
    mend = (
        "let users make namespaces: sysctl kernel.unprivileged_userns_clone=1 (Debian), "
        "kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), --privileged or a seccomp profile (containers)"
    )
    return Finding("sandbox", False, f"bubblewrap does not start: {done.output.strip()[-300:]}", mend)


def _signing(settings: Settings) -> list[Finding]:
    signed = bool(settings.token) or settings.app_id is not None
    keyed = settings.token or settings.private_key or settings.private_key_path
    model = settings.anthropic_api_key or settings.model_url
    return [
        Finding(
            "forge", bool(signed and keyed), "signs in" if signed and keyed else "no App with its key, and no token",
            "run `bot setup`, or set BOT_TOKEN",
        ),
        Finding(
            "webhook", settings.webhook_secret is not None,
            "deliveries can be verified" if settings.webhook_secret else "no secret: every delivery is refused",
            "set BOT_WEBHOOK_SECRET to the secret of the hook; `bot worker` needs none", needed=False,
        ),
        Finding(
            "model", bool(model), "a key or an endpoint is set" if model else "no key",
            "set ANTHROPIC_API_KEY, or let repositories use agent.kind = \"command\"", needed=False,
        ),
    ]  # fmt: skip


async def _forge(settings: Settings) -> list[Finding]:
    """Ask the forge what it knows of us."""
    if settings.app_id is None and settings.token is None:
        return [Finding("App", False, "no App and no token", "run `bot setup`")]
    import httpx

    from bot.connecting import open_forge
    from bot.setup.examine import examine

    async with httpx.AsyncClient(timeout=30.0) as http:
        try:
            forge = open_forge(settings, http)
        except BotError as error:
            return [Finding("App", False, str(error), "correct that value, and run this again")]
        return await examine(forge, label=settings.label, pulls=settings.webhook_secret is None)


def _database(settings: Settings) -> Finding:
    try:
        url = settings.database_url or sqlite_url(data_folder(settings.data) / "sluice.db")
        store = open_store(url)
        with store.read() as c:
            c.execute(sa.select(1))
        store.close()
    except (BotError, sa.exc.SQLAlchemyError, OSError) as error:
        return Finding("database", False, str(error).splitlines()[0], "check BOT_DATABASE_URL and BOT_DATA")
    return Finding("database", True, "opens" + (", shared" if settings.database_url else ", SQLite in the data folder"))


def _disk(settings: Settings, *, beside: bool, look: Callable[[Path], Disk] = measure) -> list[Finding]:
    try:
        data = data_folder(settings.data)
    except BotError as error:
        return [Finding("disk", False, str(error), "set BOT_DATA to a folder on a local disk")]
    low = low_disk(data, least_bytes=settings.low_disk_mb * MB)
    findings = [Finding("room", not low, low or "enough is free", "free some, or `bot slots rm`, or BOT_LOW_DISK_MB")]
    here = look(data)
    findings.append(Finding("disk", not here.advice, _words(here), "; ".join(here.advice), needed=False))
    if beside:
        there = look(Path(tempfile.gettempdir()))
        gain = here.file_ms / there.file_ms
        said = f"{_words(there)}; {gain:.1f} times as fast as the slots' folder"
        same = data.stat().st_dev == Path(there.path).stat().st_dev
        findings.append(Finding("beside it", same or gain < 2, said, f"BOT_DATA={there.path}/sluice", needed=False))
    return findings


def _words(disk: Disk) -> str:
    return (
        f"{disk.path} on {disk.mount.kind} ({disk.mount.options}), {disk.file_ms:.2f} ms a small file: "
        f"{disk.create_ms:.3f} made, {disk.stat_ms:.3f} looked at, {disk.delete_ms:.3f} deleted"
    )
