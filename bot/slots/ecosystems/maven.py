"""Maven: everything that going offline needs, into the store."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "maven"
LANGUAGE: str = "jvm"
LOCKS: Sequence[str] = ("pom.xml",)
INPUTS: Sequence[str] = ()
KEEP: Sequence[str] = ()
PROGRAMS: Sequence[str] = ("mvn", "java")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    del project
    return [("mvn", "-B", "-q", "dependency:go-offline")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the host's store."""
    return {"MAVEN_ARGS": f"-Dmaven.repo.local={store / 'maven'}"}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the store, without asking a registry."""
    del root
    return {"MAVEN_ARGS": f"-o -Dmaven.repo.local={store / 'maven'}"}
