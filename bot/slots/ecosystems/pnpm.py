"""pnpm: a frozen install, copied from the store: a link into it would let one job write into all slots."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "pnpm"
LANGUAGE: str = "javascript"
LOCKS: Sequence[str] = ("pnpm-lock.yaml",)
INPUTS: Sequence[str] = (".npmrc", "package.json", "pnpm-workspace.yaml", ".pnpmfile.cjs")
KEEP: Sequence[str] = ("node_modules",)
PROGRAMS: Sequence[str] = ("pnpm", "node")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    scripts = () if project.scripts else ("--ignore-scripts",)
    return [("pnpm", "install", "--frozen-lockfile", "--prefer-offline", *scripts)]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store; pnpm 11 took another prefix for its variables."""
    wanted = {"store_dir": str(store / "pnpm"), "package_import_method": "copy", "confirm_modules_purge": "false"}
    return {f"{prefix}_{key}": value for key, value in wanted.items() for prefix in ("npm_config", "pnpm_config")}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Nothing more is needed: commands find the folder by themselves."""
    del root, store
    return {}
