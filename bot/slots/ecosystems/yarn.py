"""Yarn, classic and modern; a modern one shows by its .yarnrc.yml."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "yarn"
LANGUAGE: str = "javascript"
LOCKS: Sequence[str] = ("yarn.lock",)
INPUTS: Sequence[str] = (".npmrc", "package.json", ".yarnrc", ".yarnrc.yml")
KEEP: Sequence[str] = ("node_modules",)
PROGRAMS: Sequence[str] = ("yarn", "node")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    if project.named(".yarnrc.yml"):
        return [("yarn", "install", "--immutable")]
    scripts = () if project.scripts else ("--ignore-scripts",)
    return [("yarn", "install", "--frozen-lockfile", "--non-interactive", "--prefer-offline", *scripts)]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the host's store."""
    return {
        "YARN_CACHE_FOLDER": str(store / "yarn"), "YARN_GLOBAL_FOLDER": str(store / "yarn-berry"),
        "YARN_ENABLE_TELEMETRY": "0", "YARN_NM_MODE": "classic",
    }  # fmt: skip


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Nothing more is needed: commands find the folder by themselves."""
    del root, store
    return {}
