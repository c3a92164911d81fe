"""A condition is text that is never empty, so it is always true."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.conditions import always_true
from gate.repository.opening import Repository

ID = "condition-always-true"
SUMMARY = (
    "`if:` with anything beside its `${{ }}`, be it the line end of `if: |`, is text, and text that is not empty is true.\n"
    "Next: write the expression without `${{ }}`, or with nothing around it (`if: >-` keeps no line end)."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such condition of a job or a step."""
    for workflow in repo.workflows:
        for job in workflow.jobs:
            places = [(job.condition, job.found.at("if"), job.label)]
            places += [(s.condition, s.found.at("if"), f"{job.label} / {s.name}") for s in job.steps]
            for condition, line, who in places:
                if always_true(condition):
                    yield Finding(
                        ID, Level.WARNING, f"{who}: `if` is text, so it always holds: {condition!r}", workflow.path, line,
                        fix="one expression and nothing around it", reproduce=f"actionlint {workflow.path}",
                    )  # fmt: skip
