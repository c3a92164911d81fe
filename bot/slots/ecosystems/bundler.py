"""Bundler: a frozen install below vendor/bundle."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "bundler"
LANGUAGE: str = "ruby"
LOCKS: Sequence[str] = ("Gemfile.lock",)
INPUTS: Sequence[str] = ("Gemfile", ".ruby-version", ".bundle/config")
KEEP: Sequence[str] = ("vendor/bundle",)
PROGRAMS: Sequence[str] = ("bundle", "ruby")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    del project
    return [("bundle", "install", "--quiet")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {**later(store, store), "BUNDLE_CLEAN": "true", "BUNDLE_USER_CACHE": str(store / "bundler")}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the gems beside the Gemfile."""
    del root, store
    return {"BUNDLE_FROZEN": "true", "BUNDLE_PATH": "vendor/bundle"}
