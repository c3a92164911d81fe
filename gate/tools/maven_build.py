"""Maven without its tests (`compile`, or `package -DskipTests`): `Compiling 12 source files` in each module."""

from collections.abc import Sequence

from gate.tools.maven import goals, skips_tests
from gate.tools.tool import Counts, Ran, closing_line

NAME = "maven"
KIND = "build"

_GOALS = {"compile", "test-compile", "package", "verify", "install", "deploy", "integration-test", "process-classes"}
_COMPILED = closing_line(r"Compiling (?P<files>\d+) source files? ")


def matches(argv: Sequence[str]) -> bool:
    """Return whether Maven builds without running tests."""
    wanted = goals(argv)
    return bool(wanted & {"compile", "test-compile"}) or (skips_tests(argv) and bool(wanted & _GOALS))


def read(ran: Ran) -> Counts:
    """Return how many source files were compiled anew."""
    found = _COMPILED.findall(ran.output)
    return Counts(files=sum(int(n) for n in found) or None)
