"""pip: the requirements of a folder, in an environment made anew: pip never takes out what nobody asks for any more."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project, virtual_env

NAME: str = "pip"
LANGUAGE: str = "python"
LOCKS: Sequence[str] = ("requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "requirements.lock")
INPUTS: Sequence[str] = ("constraints.txt", "pyproject.toml", "setup.py", "setup.cfg")
KEEP: Sequence[str] = (".venv",)
PROGRAMS: Sequence[str] = ("python3",)


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    asked = [part for name in project.named(*LOCKS) for part in ("-r", name)]
    return [
        ("python3", "-m", "venv", "--clear", ".venv"),
        (".venv/bin/python", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q", *asked),
    ]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {"PIP_CACHE_DIR": str(store / "pip")}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Put the virtual environment first."""
    del store
    return {**virtual_env(root)}
