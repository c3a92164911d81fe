"""The workflow of the required job runs only for some paths: for others the check waits for ever."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.required import required_jobs
from gate.repository.workflows import JUDGING

ID = "paths-filter-on-required"
SUMMARY = (
    "a required check of a workflow with `paths` or `paths-ignore` stays pending where the filter leaves the workflow out; "
    "people then take the requirement away, or add a twin that is always green. Which job is required is told as for "
    "required-job-can-skip.\n"
    "Next: let the workflow always run, and decide in a job what is to be checked."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each filter at an event by which a required job should run."""
    for required in required_jobs(repo):
        for event in sorted(JUDGING & required.workflow.events.keys()):
            filters = required.workflow.events[event]
            key = next((k for k in ("paths", "paths-ignore") if filters.get(k)), "")
            if key:
                line = getattr(filters, "lines", {}).get(key, 1)
                yield Finding(
                    ID, Level.WARNING, f"{required.job.label} ({required.why}) does not appear where `{key}` leaves the workflow out",
                    required.workflow.path, line, fix=f"take `{key}` away from {event}",
                    reproduce=f"grep -n -A9 {event} {required.workflow.path}",
                )  # fmt: skip
