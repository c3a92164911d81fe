"""From settings to what every command starts with: the data folder, the store, the sandbox. Imports little."""

import os
import shutil
from pathlib import Path

from bot.errors import ConfigError, UserError
from bot.sandbox.box import BWRAP, Mode
from bot.settings import Settings, load
from bot.tickets.store import Store, open_store, sqlite_url

DATABASE, ENGINE = "sluice.db", "engine.db"  # ours, and the one of durable execution


def data_folder(path: Path) -> Path:
    """Return the data folder, made where it is missing. Raises ConfigError where it cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = path / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise ConfigError(
            f"BOT_DATA: expected a folder that can be written, got {path}: {error.strerror}. Mend: set BOT_DATA"
        ) from error
    return path.resolve()


def need_git() -> None:
    """Raise ConfigError where git is missing."""
    if shutil.which("git") is None:
        raise ConfigError("expected git on PATH, found none. Mend: apt-get install git")


def sandbox_mode(settings: Settings) -> Mode:
    """Return how commands are boxed. Raises ConfigError where they should be and cannot."""
    if settings.sandbox == "off":
        return "off"
    if shutil.which(BWRAP) is None:
        raise ConfigError(
            "expected bubblewrap (bwrap) on PATH, found none. Mend: apt-get install bubblewrap, "
            "or run without a sandbox at your own risk: BOT_SANDBOX=off"
        )
    return "bubblewrap"


def opened() -> tuple[Store, Path]:
    """Return the store that the settings name, and the data folder; raises UserError where no bot has run yet."""
    settings = load()
    if not settings.database_url and not (settings.data / DATABASE).is_file():
        raise UserError(
            f"BOT_DATA: expected the data of a bot, found none in {settings.data.absolute()}. "
            "Mend: call this where `bot serve` was started, or set BOT_DATA (or BOT_DATABASE_URL) as it has it"
        )
    data = data_folder(settings.data)
    return open_store(settings.database_url or sqlite_url(data / DATABASE)), data
