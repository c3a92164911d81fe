"""gradle without its tests (`assemble`, or `build -x test`): how much it compiled is not told."""

from collections.abc import Sequence

from gate.tools.gradle import skips_tests, tasks
from gate.tools.tool import Counts, Ran

NAME = "gradle build"
KIND = "build"

_TASKS = {
    "assemble",
    "classes",
    "testClasses",
    "jar",
    "war",
    "bootJar",
    "compileJava",
    "compileKotlin",
    "assembleDebug",
}


def matches(argv: Sequence[str]) -> bool:
    """Return whether gradle builds without running tests."""
    wanted = tasks(argv)
    return bool(wanted & _TASKS) or (skips_tests(argv) and bool(wanted & {"build", "check"}))


def read(ran: Ran) -> Counts:
    """Return nothing: gradle prints no count of what it compiled."""
    del ran
    return Counts()
