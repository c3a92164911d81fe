"""turbo, nx and lerna: the tools that they start tell what ran; here only that nothing or too little ran.

Since version 24 nx keeps the output of a task that passed to itself, so it is asked to print it, unless the step says
how it wants it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gate.tools.tool import Counts, Invocation, Ran, closing_line, per_line

NAME = "turbo"
KIND = "runner"

_TURBO = closing_line(r"Tasks: +(?P<done>\d+) successful, (?P<total>\d+) total")
_NOTHING = per_line(
    r"No tasks were executed as part of this run|No tasks were run|No projects with \S+ target were run"
    r"|No projects matched|No packages found with the lifecycle script|No packages remain after ignoring"
)


def matches(argv: Sequence[str]) -> bool:
    """Return whether a monorepo runner runs tasks."""
    return argv[0] in {"turbo", "nx", "lerna", "moon", "rush"}


def environment(invocations: Sequence[Invocation], scratch: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which nx prints what its tasks print."""
    del scratch
    style = "NX_DEFAULT_OUTPUT_STYLE"
    return {style: "static"} if style not in env and any(i.argv[0] == "nx" for i in invocations) else {}


def read(ran: Ran) -> Counts:
    """Return why nothing ran, or how many tasks failed in a run that exits 0."""
    summary = ran.closing(_TURBO)
    done, total = (sum(int(line[key]) for line in summary) for key in ("done", "total"))
    if summary and total == 0:
        return Counts(hollow="turbo executed no task: no package defines it")
    if summary and done < total:
        return Counts(failed=total - done)
    nothing = _NOTHING.search(ran.output)
    name = ran.invocations[0].argv[0]
    return Counts(hollow=f"{name} executed no task: {nothing[0]}") if nothing else Counts()
