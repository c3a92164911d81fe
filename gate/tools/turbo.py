"""turbo, nx and lerna: the tools that they start tell what ran; here only that nothing or too little ran."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Line, Ran, closing_line

NAME = "turbo"
KIND = "runner"

_TURBO = closing_line(r"Tasks: +(?P<done>\d+) successful, (?P<total>\d+) total")
_NOTHING = Line(
    r"No tasks were executed as part of this run|No tasks were run|No projects with \S+ target were run"
    r"|No projects matched|No packages found with the lifecycle script|No packages remain after ignoring"
)


def matches(argv: Sequence[str]) -> bool:
    """Return whether a monorepo runner runs tasks."""
    return argv[0] in {"turbo", "nx", "lerna", "moon", "rush"}


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
