""".NET: a locked restore into the store; what it writes into obj is what a build without a restore reads.

https://learn.microsoft.com/nuget/consume-packages/package-references-in-project-files#locking-dependencies
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "dotnet"
LANGUAGE: str = "dotnet"
LOCKS: Sequence[str] = ("packages.lock.json",)
PROJECTS: Sequence[str] = ("*.csproj", "*.fsproj", "*.vbproj")
INPUTS: Sequence[str] = (
    *PROJECTS, "global.json", "nuget.config", "NuGet.config", "NuGet.Config", "Directory.Build.props",
    "Directory.Build.targets", "Directory.Packages.props",
)  # fmt: skip
KEEP: Sequence[str] = ("obj",)
PROGRAMS: Sequence[str] = ("dotnet",)


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says; projects are named: beside a solution none would be chosen (MSB1011)."""
    return [("dotnet", "restore", *name, "--locked-mode") for name in zip(project.named(*PROJECTS), strict=True)] or [
        ("dotnet", "restore", "--locked-mode")
    ]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {"NUGET_PACKAGES": str(store / "nuget"), "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the store; ask no server for known weaknesses, leave no build server behind (MSBuild reads variables)."""
    del root
    alone = {"NuGetAudit": "false", "MSBUILDDISABLENODEREUSE": "1", "UseSharedCompilation": "false"}
    return {"NUGET_PACKAGES": str(store / "nuget"), "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", **alone}
