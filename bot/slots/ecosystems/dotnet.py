""".NET: a locked restore into the store."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "dotnet"
LANGUAGE: str = "dotnet"
LOCKS: Sequence[str] = ("packages.lock.json",)
INPUTS: Sequence[str] = ("global.json", "nuget.config", "NuGet.Config", "Directory.Packages.props")
KEEP: Sequence[str] = ("obj",)
PROGRAMS: Sequence[str] = ("dotnet",)


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    del project
    return [("dotnet", "restore", "--locked-mode")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the host's store."""
    return {"NUGET_PACKAGES": str(store / "nuget"), "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the store."""
    del root
    return {"NUGET_PACKAGES": str(store / "nuget"), "DOTNET_CLI_TELEMETRY_OPTOUT": "1"}
