"""A check stands behind a condition that never holds."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.checkers import verifies
from gate.repository.conditions import never_true
from gate.repository.opening import Repository

ID = "condition-always-false"
SUMMARY = (
    "`if: false` was left behind at a check, or its condition waits for an event for which the workflow never runs: it is "
    "skipped each time, and skipped counts as passed.\n"
    "Next: take the condition away, or the check."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each job and each step that judges something and never runs."""
    for workflow in repo.workflows:
        for job in workflow.jobs:
            checks = [s for s in job.steps if verifies(repo.checks, workflow, job, s)]
            why = never_true(job.condition, workflow.events)
            if why and (checks or job.found.get("uses")):
                yield _told(f"{job.label} never runs: {why}", workflow.path, job.found.at("if"))
                continue
            for step in checks:
                why = never_true(step.condition, workflow.events)
                if why:
                    line = step.found.at("if")
                    yield _told(f"{job.label} / {step.name} never runs: {why}", workflow.path, line)


def _told(message: str, path: str, line: int) -> Finding:
    return Finding(
        ID,
        Level.ERROR,
        message,
        path,
        line,
        fix="take the condition away, or the check",
        reproduce=f"actionlint {path}",
    )
