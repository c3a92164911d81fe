"""Maven: everything that going offline needs, into the store; the project's wrapper where it has one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "maven"
LANGUAGE: str = "jvm"
LOCKS: Sequence[str] = ("pom.xml",)
INPUTS: Sequence[str] = ("mvnw", ".mvn/maven.config", ".mvn/extensions.xml", ".mvn/wrapper/maven-wrapper.properties")
KEEP: Sequence[str] = ()
PROGRAMS: Sequence[str] = ("mvn", "java")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says; without -U what a server once did not have stays missing for a day."""
    return [("./mvnw" if project.named("mvnw") else "mvn", "-B", "-q", "-U", "dependency:go-offline")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store; MAVEN_ARGS is read by 3.9 and newer only, MAVEN_OPTS by all."""
    return {"MAVEN_OPTS": f"-Dmaven.repo.local={store / 'maven'}", "MAVEN_USER_HOME": str(store / "maven-wrapper")}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the store, without asking a registry."""
    del root
    return {**env(store), "MAVEN_ARGS": "-o"}
