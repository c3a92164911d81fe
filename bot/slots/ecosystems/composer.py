"""Composer: an install from the lock."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "composer"
LANGUAGE: str = "php"
LOCKS: Sequence[str] = ("composer.lock",)
INPUTS: Sequence[str] = ("composer.json",)
KEEP: Sequence[str] = ("vendor",)
PROGRAMS: Sequence[str] = ("composer", "php")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    scripts = () if project.scripts else ("--no-scripts", "--no-plugins")
    return [("composer", "install", "--no-interaction", "--no-progress", *scripts)]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {"COMPOSER_CACHE_DIR": str(store / "composer"), "COMPOSER_ALLOW_SUPERUSER": "1"}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Nothing more is needed: commands find the folder by themselves."""
    del root, store
    return {}
