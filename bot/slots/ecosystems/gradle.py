"""Gradle: what every project of a build needs, into the store; the project's wrapper where it has one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "gradle"
LANGUAGE: str = "jvm"
LOCKS: Sequence[str] = (
    "gradle.lockfile", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts",
)  # fmt: skip
INPUTS: Sequence[str] = (
    "gradle.properties", "gradlew", "gradle/libs.versions.toml", "gradle/wrapper/gradle-wrapper.properties",
)  # fmt: skip
KEEP: Sequence[str] = ()
PROGRAMS: Sequence[str] = ("gradle", "java")

# `dependencies` looks at the uppermost project alone, and ends well when nothing could be had. What compiles and runs
# must be there; other configurations of plugins need not even be resolvable
RESOLVE = """\
allprojects { project ->
    project.tasks.create('sluiceResolve').doLast {
        def wanted = ['compileClasspath', 'runtimeClasspath', 'testCompileClasspath', 'testRuntimeClasspath']
        project.configurations.findAll { it.canBeResolved }.each { found ->
            if (found.name in wanted) { found.resolve() }
            else { found.incoming.artifactView { view -> view.lenient(true) }.files.files }
        }
        project.buildscript.configurations.each { it.resolve() }
    }
}
"""


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    program = "./gradlew" if project.named("gradlew") else "gradle"
    script = (
        f'printf %s "$1" >/tmp/resolve.gradle && {program} --no-daemon --quiet -I /tmp/resolve.gradle sluiceResolve'
    )
    return [("sh", "-c", script, f"{program} sluiceResolve", RESOLVE)]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {"GRADLE_USER_HOME": str(store / "gradle")}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the store."""
    del root
    return {"GRADLE_RO_DEP_CACHE": str(store / "gradle" / "caches")}
