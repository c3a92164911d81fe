"""The required job is skipped when a job that it needs fails, and a skipped job counts as passed."""

from collections.abc import Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.required import Required, required_jobs

ID = "required-job-can-skip"
SUMMARY = (
    "a job is skipped when one that it needs fails or is skipped, unless it says `if: always()`; GitHub takes a skipped "
    "required job for one that passed. `success() || failure()` is not enough: it is false when a job was cancelled. Looked "
    "at is the job that a merge waits for, where files show it: named in .github/settings.yml, .asf.yaml, bors.toml or a "
    "ruleset, running `gate` or this Action, or an aggregator (it needs others, does no work of its own, and is named like "
    "`gate`, `ci`, `all-checks`, `alls-green`).\n"
    "Next: `if: always()` at that job, and fail in it unless every result of `needs` is `success`."
)
_EVENT = later(r"github\.(?:event|actor|ref|head_ref|base_ref|repository)|steps\.|inputs\.|vars\.|env\.")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each required job whose needs can skip it, or whose own condition can."""
    for required in required_jobs(repo):
        job, condition = required.job, required.job.condition
        if required.runs_always and not _EVENT.search(condition):
            continue
        if job.needs and not required.runs_always:
            why = f"`if: {condition.strip()}`" if condition else "no `if: always()`"
            yield _told(
                required, f"{job.label} ({required.why}) is skipped, so green, when a job that it needs is not ({why})"
            )
        elif condition and _EVENT.search(condition):
            yield _told(required, f"{job.label} ({required.why}) is skipped, so green, unless `{condition.strip()}`")


def _told(required: Required, message: str) -> Finding:
    job = required.job
    line = job.found.at("if") if job.condition else job.found.at("needs")
    return Finding(
        ID, Level.ERROR, message, required.workflow.path, line, fix="if: always(), and fail unless all results are success",
        reproduce=f"grep -n 'needs:\\|if:' {required.workflow.path}",
    )  # fmt: skip
