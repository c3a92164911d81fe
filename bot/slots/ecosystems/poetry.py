"""Poetry: its own environment, in the project."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project, virtual_env

NAME: str = "poetry"
LANGUAGE: str = "python"
LOCKS: Sequence[str] = ("poetry.lock",)
INPUTS: Sequence[str] = ("pyproject.toml", "poetry.toml")
KEEP: Sequence[str] = (".venv",)
PROGRAMS: Sequence[str] = ("poetry", "python3")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    del project
    return [("poetry", "install", "--no-interaction", "--sync", "--compile")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {
        "POETRY_CACHE_DIR": str(store / "poetry"), "POETRY_VIRTUALENVS_IN_PROJECT": "true",
        "POETRY_VIRTUALENVS_CREATE": "true",
    }  # fmt: skip


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Put the virtual environment first."""
    del store
    return {**virtual_env(root), "POETRY_VIRTUALENVS_IN_PROJECT": "true"}
