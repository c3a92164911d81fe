"""A matrix is computed by another job and may be empty: then the job is skipped, which counts as passed."""

from collections.abc import Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checkers import verifies
from gate.repository.opening import Repository
from gate.repository.required import required_jobs
from gate.repository.workflows import Job, Workflow

ID = "dynamic-matrix-can-be-empty"
SUMMARY = (
    "a matrix out of `fromJSON` may be `[]`: no job runs, and skipped counts as passed. It is an error where the job that "
    "sums up accepts skipped ones.\n"
    "Next: let the job that computes the matrix fail when it is empty, or say `if: needs.x.outputs.y != '[]'` and ask for it "
    "in the aggregator."
)
_COMPUTED = later(r"\$\{\{\s*from[jJ][sS][oO][nN]\(\s*(?:needs|steps)\.")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each computed matrix of a job that judges something, unless its emptiness is asked for."""
    for workflow in repo.workflows:
        for job in workflow.jobs if workflow.judges else ():
            matrix = _matrix(job)
            if _COMPUTED.search(str(matrix)) and "'[]'" not in str(workflow.found) and _works(repo, workflow, job):
                accepted = _accepts_skipped(repo, workflow, job)
                more = f", and {accepted} accepts that" if accepted else ""
                yield Finding(
                    ID, Level.ERROR if accepted else Level.WARNING, f"{job.label} is skipped, and green, when its matrix is []{more}",
                    workflow.path, _line(job), fix="fail where the list is empty that the matrix is made of",
                    reproduce=f"grep -n fromJSON {workflow.path}",
                )  # fmt: skip


def _matrix(job: Job) -> object:
    strategy = job.found.get("strategy")
    return strategy.get("matrix") if isinstance(strategy, dict) else None


def _line(job: Job) -> int:
    strategy = job.found.get("strategy")
    return int(getattr(strategy, "lines", {}).get("matrix", job.line))


def _works(repo: Repository, workflow: Workflow, job: Job) -> bool:
    return any(verifies(repo.checks, workflow, job, s) for s in job.steps)


def _accepts_skipped(repo: Repository, workflow: Workflow, job: Job) -> str:
    """Return the aggregator that takes a skipped job for one that passed."""
    for required in required_jobs(repo):
        if required.workflow.path == workflow.path and job.id in required.job.needs:
            text = " ".join(f"{s.condition} {s.run} {s.found.get('with', '')}" for s in required.job.steps)
            if (
                "allowed-skips" in text
                or "'skipped'" in text
                or '"skipped"' in text
                or ("failure" in text and "success" not in text)
            ):
                return required.job.label
    return ""
