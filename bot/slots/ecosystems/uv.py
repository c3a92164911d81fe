"""uv: `uv sync --locked`, copied from its cache."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project, virtual_env

NAME: str = "uv"
LANGUAGE: str = "python"
LOCKS: Sequence[str] = ("uv.lock",)
INPUTS: Sequence[str] = ("pyproject.toml", "uv.toml", ".python-version")
KEEP: Sequence[str] = (".venv",)
PROGRAMS: Sequence[str] = ("uv", "python3")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    del project
    return [("uv", "sync", "--locked")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {
        "UV_CACHE_DIR": str(store / "uv"), "UV_PYTHON_INSTALL_DIR": str(store / "uv-python"), "UV_LINK_MODE": "copy",
        "UV_COMPILE_BYTECODE": "1", "UV_NO_PROGRESS": "1",
    }  # fmt: skip


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Put the virtual environment first."""
    del store
    return {**virtual_env(root), "UV_NO_SYNC": "1", "UV_OFFLINE": "1"}
