"""Go: modules into the store, which its own checksums guard."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "go"
LANGUAGE: str = "go"
LOCKS: Sequence[str] = ("go.sum",)
INPUTS: Sequence[str] = ("go.mod", "go.work", "go.work.sum", "vendor/modules.txt")
KEEP: Sequence[str] = ()
PROGRAMS: Sequence[str] = ("go",)


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says; nothing where the repository holds its modules itself."""
    del project
    return [("sh", "-c", "[ -f vendor/modules.txt ] || exec go mod download", "go mod download")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {"GOMODCACHE": str(store / "go")}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the store, without asking a proxy."""
    del root
    return {"GOMODCACHE": str(store / "go"), "GOPROXY": "off"}
