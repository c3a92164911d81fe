"""Two workflows have a job of one name: one that works, and one that only says yes."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from gate.commands.idle import does_nothing
from gate.report import Finding, Level
from gate.repository.checkers import verifies
from gate.repository.opening import Repository
from gate.repository.workflows import JUDGING, Job, Workflow

ID = "twin-workflow-always-green"
SUMMARY = (
    "a workflow that is left out for some paths has a twin with the same job name that only succeeds, so that the required "
    "check appears. Where the paths of the one are not those that the other leaves out, the twin's green stands in for "
    "checks that should have run.\n"
    "Next: let one workflow always run and decide inside it what is to be checked; or keep both lists equal."
)


class _Twin(NamedTuple):
    workflow: Workflow
    job: Job
    paths: frozenset[str] | None
    ignored: frozenset[str] | None


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each idle job whose name is that of a working job elsewhere, unless their paths are exact opposites."""
    twins = [_twin(w, job) for w in repo.workflows if w.judges for job in w.jobs]
    called = dict[str, list[_Twin]]()
    for twin in twins:
        called.setdefault(twin.job.label, []).append(twin)
    for twin in (t for t in twins if _is_idle(t.job)):
        for real in called[twin.job.label]:
            if real.workflow.path != twin.workflow.path and not _opposite(real, twin) and _works(repo, real):
                yield Finding(
                    ID, Level.ERROR, f"{twin.job.label} does nothing here and has the name of the job that works in {real.workflow.path}",
                    twin.workflow.path, twin.job.line, files=tuple(sorted((real.workflow.path, twin.workflow.path))), count=2,
                    fix=f"leave out here exactly the paths that {real.workflow.path} names, or let one workflow always run",
                    reproduce=f"diff {real.workflow.path} {twin.workflow.path}",
                )  # fmt: skip


def _twin(workflow: Workflow, job: Job) -> _Twin:
    filters = next((workflow.events[e] for e in sorted(JUDGING) if e in workflow.events), {})
    return _Twin(workflow, job, _listed(filters.get("paths")), _listed(filters.get("paths-ignore")))


def _listed(found: Any) -> frozenset[str] | None:
    return frozenset(map(str, found)) if isinstance(found, list) else None


def _is_idle(job: Job) -> bool:
    return bool(job.steps) and all(not s.uses and does_nothing(s.run) for s in job.steps)


def _works(repo: Repository, twin: _Twin) -> bool:
    job = twin.job
    return (
        bool(job.found.get("uses"))
        or any(verifies(repo.checks, twin.workflow, job, s) for s in job.steps)
        or (any(s.uses for s in job.steps) and any(s.run and not does_nothing(s.run) for s in job.steps))
    )


def _opposite(real: _Twin, twin: _Twin) -> bool:
    both = (real.paths, twin.ignored), (real.ignored, twin.paths)
    return any(a is not None and a == b for a, b in both)
