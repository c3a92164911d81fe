"""Yarn, classic and modern, the modern one with node_modules or Plug'n'Play; it shows by its .yarnrc.yml."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "yarn"
LANGUAGE: str = "javascript"
LOCKS: Sequence[str] = ("yarn.lock",)
INPUTS: Sequence[str] = (".npmrc", "package.json", ".yarnrc", ".yarnrc.yml", ".pnp.cjs")
KEEP: Sequence[str] = (
    "node_modules", ".pnp.cjs", ".pnp.loader.mjs", ".yarn/cache", ".yarn/unplugged", ".yarn/install-state.gz",
)  # fmt: skip
PROGRAMS: Sequence[str] = ("yarn", "node")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    if project.named(".yarnrc.yml"):
        return [("yarn", "install", "--immutable", *(() if project.scripts else ("--mode=skip-build",)))]
    scripts = () if project.scripts else ("--ignore-scripts",)
    return [("yarn", "install", "--frozen-lockfile", "--non-interactive", "--prefer-offline", *scripts)]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the host's store; a modern one whose settings keep them in the repository does so."""
    return {
        "npm_config_cache_folder": str(store / "yarn"), "YARN_GLOBAL_FOLDER": str(store / "yarn-berry"),
        "YARN_ENABLE_TELEMETRY": "0", "YARN_NM_MODE": "classic",
    }  # fmt: skip


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the downloads that Plug'n'Play reads from."""
    del root
    return {"YARN_GLOBAL_FOLDER": str(store / "yarn-berry"), "YARN_ENABLE_TELEMETRY": "0", "YARN_ENABLE_NETWORK": "0"}
