"""A workflow that GitHub refuses: no check appears, and nothing is red."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.workflows import GLOBS
from gate.repository.yaml_lines import Mapped

ID = "workflow-invalid"
SUMMARY = (
    "GitHub does not run a workflow that it cannot read: its checks do not appear, and nothing turns red.\n"
    "Next: mend it; actionlint names every fault."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield what GitHub would refuse: no events, no jobs, a step that does nothing, a need of no job."""
    for path in repo.tree.named(*GLOBS):
        found = repo.tree.yaml(path)
        if found is None:
            continue  # empty, or told as unread
        for line, message in _faults(found):
            yield Finding(
                ID, Level.ERROR, message, path, line, fix="mend it, or GitHub runs nothing of it",
                reproduce=f"actionlint {path}",
            )  # fmt: skip


def _faults(found: object) -> Iterator[tuple[int, str]]:
    if not isinstance(found, Mapped):
        yield 1, "expected a mapping with `on` and `jobs`"
        return
    for key in ("on", "jobs"):
        if not found.get(key):
            yield found.at(key), f"expected `{key}`, found nothing"
    jobs = found.get("jobs")
    if not isinstance(jobs, Mapped):
        return
    for key, job in jobs.items():
        if not isinstance(job, Mapped):
            yield jobs.at(str(key)), f"jobs.{key}: expected a mapping"
            continue
        needs = job.get("needs") or []
        for need in needs if isinstance(needs, list) else [needs]:
            if not isinstance(need, str | int) or need not in jobs:
                yield job.at("needs"), f"jobs.{key}.needs: expected the id of a job, got {need!r}"
        if not job.get("uses"):
            yield from _steps(jobs.at(str(key)), str(key), job)


def _steps(line: int, key: str, job: Mapped) -> Iterator[tuple[int, str]]:
    for wanted in ("runs-on", "steps"):
        if not job.get(wanted):
            yield line, f"jobs.{key}: expected `{wanted}`, found nothing"
    steps = job.get("steps") or []
    if not isinstance(steps, list):
        yield job.at("steps"), f"jobs.{key}.steps: expected a list"
    for number, step in enumerate(steps if isinstance(steps, list) else []):
        if not isinstance(step, Mapped):
            yield job.at("steps"), f"jobs.{key}.steps[{number}]: expected a mapping"
        elif bool(step.get("run")) == bool(step.get("uses")):
            got = "both" if step.get("run") else "neither"
            yield step.line, f"jobs.{key}.steps[{number}]: expected `run` or `uses`, found {got}"
