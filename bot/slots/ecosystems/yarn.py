"""Yarn, classic and modern, the modern one with node_modules or Plug'n'Play: the lockfile says which one wrote it.

A classic yarn takes a modern lockfile for an empty one and installs anything; a modern one writes a classic one anew.
"""

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


CHOOSE = """\
found=$(yarn --version) || exit
case $found in 1.*) is=classic ;; *) is=modern ;; esac
if [ -f .yarnrc.yml ] || grep -q '^__metadata:' yarn.lock; then wanted=modern; else wanted=classic; fi
if [ $is != $wanted ]; then
    echo "yarn.lock is of a $wanted yarn, and this host's yarn is $found. Put a $wanted one on the host, commit one"
    echo "that .yarnrc.yml or .yarnrc names, or say in install.run how to install."
    exit 1
fi
if [ $is = modern ]; then exec yarn install --immutable $1; fi
exec yarn install --frozen-lockfile --non-interactive --prefer-offline $2
"""


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    scripts = ("", "") if project.scripts else ("--mode=skip-build", "--ignore-scripts")
    return [("sh", "-c", CHOOSE, "yarn install", *scripts)]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store; a modern one whose settings keep them in the repository does so."""
    return {
        "npm_config_cache_folder": str(store / "yarn"), "YARN_GLOBAL_FOLDER": str(store / "yarn-berry"),
        "YARN_ENABLE_TELEMETRY": "0", "YARN_NM_MODE": "classic",
    }  # fmt: skip


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the downloads that Plug'n'Play reads from."""
    del root
    return {"YARN_GLOBAL_FOLDER": str(store / "yarn-berry"), "YARN_ENABLE_TELEMETRY": "0", "YARN_ENABLE_NETWORK": "0"}
