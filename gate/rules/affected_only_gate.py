"""Tests and tasks run only for what a change touches, and nothing ever runs all of them."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.javascript.affected import Affected, runs_affected, whole_tasks
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "affected-only-gate"
SUMMARY = (
    "a graph decides what a change affects (`nx affected`, `turbo --affected`, `--filter=[main]`, `jest --changedSince`): what it does not\n"
    "know of is skipped, and no step or workflow runs everything. It is an error where the base is HEAD, which nothing differs from.\n"
    "Next: run everything on the default branch or each night (`nx run-many`, `turbo run` without a filter)."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such run whose tasks nothing runs in full."""
    told = set[tuple[str, int | None]]()
    for at, run in runs_affected(repo):
        never = run.base.upper() == "HEAD"
        missing = run.tasks if never else tuple(t for t in run.tasks if t not in whole_tasks(repo))
        where = place(repo.tree, at, run.command, run.by)
        if missing and where not in told:
            told.add(where)
            yield _finding(f"{at.name}: ", run, where, missing, never=never)


def _finding(
    who: str, run: Affected, where: tuple[str, int | None], missing: tuple[str, ...], *, never: bool
) -> Finding:
    what, words = ", ".join(missing), f"{run.command.argv[0]} {run.by}"
    if never:
        message = f"{who}`{words}` compares with HEAD, so {what} never runs in a checkout"
        return Finding(
            ID,
            Level.ERROR,
            message,
            *where,
            fix="compare with the branch that is merged into",
            reproduce=" ".join(run.command.argv),
        )
    message = f"{who}`{words}` runs {what} for what changed, and nothing runs it for everything"
    return Finding(
        ID, Level.WARNING, message, *where, fix="run everything on the default branch, or each night", reproduce=" ".join(run.command.argv)
    )  # fmt: skip
