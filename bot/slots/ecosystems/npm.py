"""npm: `npm ci`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "npm"
LANGUAGE: str = "javascript"
LOCKS: Sequence[str] = ("package-lock.json", "npm-shrinkwrap.json")
INPUTS: Sequence[str] = (".npmrc", "package.json")
KEEP: Sequence[str] = ("node_modules",)
PROGRAMS: Sequence[str] = ("npm", "node")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    scripts = () if project.scripts else ("--ignore-scripts",)
    return [("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", *scripts)]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {"npm_config_cache": str(store / "npm"), "npm_config_update_notifier": "false"}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Nothing more is needed: commands find the folder by themselves."""
    del root, store
    return {}
