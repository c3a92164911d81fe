"""Gradle: the project's wrapper where it has one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "gradle"
LANGUAGE: str = "jvm"
LOCKS: Sequence[str] = ("gradle.lockfile", "build.gradle", "build.gradle.kts")
INPUTS: Sequence[str] = ("settings.gradle", "settings.gradle.kts", "gradle.properties", "gradlew")
KEEP: Sequence[str] = ()
PROGRAMS: Sequence[str] = ("gradle", "java")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    program = "./gradlew" if project.named("gradlew") else "gradle"
    return [(program, "--no-daemon", "--quiet", "dependencies")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the host's store."""
    return {"GRADLE_USER_HOME": str(store / "gradle")}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the store."""
    del root
    return {"GRADLE_RO_DEP_CACHE": str(store / "gradle" / "caches")}
