"""Pipenv: `pipenv sync` alone would take a stale or broken lock, and leave what nobody asks for any more."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project, virtual_env

NAME: str = "pipenv"
LANGUAGE: str = "python"
LOCKS: Sequence[str] = ("Pipfile.lock",)
INPUTS: Sequence[str] = ("Pipfile",)
KEEP: Sequence[str] = (".venv",)
PROGRAMS: Sequence[str] = ("pipenv", "python3")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    del project
    return [("pipenv", "verify"), ("pipenv", "sync", "--dev"), ("pipenv", "clean")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    caches = {"PIPENV_CACHE_DIR": str(store / "pipenv"), "PIP_CACHE_DIR": str(store / "pip")}
    return {"PIPENV_VENV_IN_PROJECT": "1", **caches}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Put the virtual environment first."""
    del store
    return {**virtual_env(root), "PIPENV_VENV_IN_PROJECT": "1"}
