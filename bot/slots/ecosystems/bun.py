"""Bun: a frozen install, copied from the cache."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "bun"
LANGUAGE: str = "javascript"
LOCKS: Sequence[str] = ("bun.lock", "bun.lockb")
INPUTS: Sequence[str] = (".npmrc", "package.json", "bunfig.toml")
KEEP: Sequence[str] = ("node_modules",)
PROGRAMS: Sequence[str] = ("bun",)


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    scripts = () if project.scripts else ("--ignore-scripts",)
    return [("bun", "install", "--frozen-lockfile", "--backend=copyfile", *scripts)]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {"BUN_INSTALL_CACHE_DIR": str(store / "bun"), "DO_NOT_TRACK": "1"}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Nothing more is needed: commands find the folder by themselves."""
    del root, store
    return {}
