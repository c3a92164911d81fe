"""A workflow goes on, and is green, when a check fails."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.checkers import verifies
from gate.repository.opening import Repository
from gate.repository.workflows import Job, Workflow, WorkflowStep

ID = "continue-on-error"
SUMMARY = (
    "`continue-on-error: true` at a step or a job makes its failure a success.\n"
    "Next: take it away. Beside an upload or a report it does no harm, and is a note."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield an error where a check is meant, a note elsewhere."""
    for workflow in repo.workflows:
        for job in workflow.jobs:
            if job.goes_on:
                verifies = any(_verifies(repo, workflow, job, step) for step in job.steps)
                yield _finding(workflow, job.found.at("continue-on-error"), f"the job {job.label}", verifies)
            for step in job.steps:
                if step.goes_on and not _is_looked_at(step, job):
                    line = step.found.at("continue-on-error")
                    yield _finding(workflow, line, f"{job.label} / {step.name}", _verifies(repo, workflow, job, step))


def _verifies(repo: Repository, workflow: Workflow, job: Job, step: WorkflowStep) -> bool:
    """Return whether a check is passed over; an expression (`matrix.experimental`) may be meant for a few only."""
    goes_on = step.found if step.goes_on else job.found
    return "${{" not in str(goes_on.get("continue-on-error")) and verifies(repo.checks, workflow, job, step)


def _is_looked_at(step: WorkflowStep, job: Job) -> bool:
    """Return whether a later step reads how this one ended: `steps.ID.outcome`."""
    key = step.found.get("id")
    return bool(key) and any(
        f"steps.{key}.outcome" in f"{other.condition} {other.run} {other.found.get('env', '')}" for other in job.steps
    )


def _finding(workflow: Workflow, line: int, who: str, verifies: bool) -> Finding:
    level = Level.ERROR if verifies else Level.NOTE
    message = f"{who}: " + ("a failing check is green" if verifies else "a failure is passed over")
    return Finding(
        ID, level, message, workflow.path, line, fix="take continue-on-error away" if verifies else "",
        reproduce=f"grep -n continue-on-error {workflow.path}",
    )  # fmt: skip
