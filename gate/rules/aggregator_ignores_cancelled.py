"""A job that sums up others asks only whether one failed: cancelled and skipped ones count as passed."""

from collections.abc import Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.required import Required, required_jobs
from gate.repository.workflows import WorkflowStep

ID = "aggregator-ignores-cancelled"
SUMMARY = (
    "an aggregator that fails only for `failure` is green when a job was cancelled (a time-out, a push behind it) or "
    "skipped. Which job is the aggregator is told as for required-job-can-skip.\n"
    "Next: fail unless every result is `success` (`contains(needs.*.result, 'cancelled')` too, or alls-green)."
)
_FAILURE = later(r"""['"]?failure['"]?""")
_RESULT = later(
    r"needs(?:\.[\w*-]+|\[[^\]]{1,80}\])\.result|toJSON\(needs\)|\$\{?[A-Za-z_]*(?:RESULT|result|NEEDS|needs)\w*|\bfailure\(\)"
)
_MORE = later(r"cancelled|skipped|success(?!\()|alls-green")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each required job whose only question is whether another failed, or which asks nothing at all."""
    for required in required_jobs(repo):
        job = required.job
        if not job.needs or not required.runs_always or any("alls-green" in s.uses for s in job.steps):
            continue
        asking = [step for step in job.steps if _RESULT.search(_text(step))]
        whole = "\n".join(map(_text, job.steps))
        if asking and _FAILURE.search(whole) and not _MORE.search(whole):
            yield _told(required, asking[0], f"{job.label} fails only when a job failed: a cancelled one is green")
        elif not asking and required.why.startswith("it waits"):
            line = job.steps[0] if job.steps else WorkflowStep("", job.line)
            yield _told(
                required,
                line,
                f"{job.label} runs always and looks at no result of {', '.join(job.needs)}: it is always green",
            )


def _text(step: WorkflowStep) -> str:
    return f"{step.condition} {step.run} {step.uses} {step.found.get('env', '')} {step.found.get('with', '')}"


def _told(required: Required, step: WorkflowStep, message: str) -> Finding:
    return Finding(
        ID, Level.ERROR, message, required.workflow.path, step.line, fix="fail unless every result is success",
        reproduce=f"grep -n 'result' {required.workflow.path}",
    )  # fmt: skip
