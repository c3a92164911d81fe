"""A check runs only where a secret is there, which it is not for pull requests from forks."""

import re
from collections.abc import Iterator
from typing import Any

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checkers import verifies
from gate.repository.opening import Repository
from gate.repository.workflows import Job, Workflow, WorkflowStep

ID = "secret-gated-check"
SUMMARY = (
    "a check is skipped, and green, where a secret is empty: in pull requests from forks and of Dependabot, or after the "
    "secret was renamed.\n"
    "Next: let what needs no secret run always; say in the required job that the rest was left out."
)
_ASKED = later(r"\b(env|secrets)\.(\w+)\s*(?:!=\s*(?:''|\"\"|null)|(?:&&|\}\}|$))|!=\s*''\s*&&\s*secrets\.")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each step or job that judges something behind such a question."""
    for workflow in repo.workflows:
        for job in workflow.jobs if workflow.judges else ():
            for step in job.steps:
                asked = _secret(workflow, job, step)
                if asked and verifies(repo.checks, workflow, job, step):
                    line = step.found.at("if")
                    yield Finding(
                        ID, Level.WARNING, f"{job.label} / {step.name} is skipped, and green, where {asked} is empty",
                        workflow.path, line, fix="let it fail where the secret is missing and should not be",
                        reproduce=f"grep -n '{asked}' {workflow.path}",
                    )  # fmt: skip


def _secret(workflow: Workflow, job: Job, step: WorkflowStep) -> str:
    for match in _ASKED.finditer(step.condition.strip()):
        where, name = match[1], match[2]
        places: list[Any] = [step.found.get("env"), job.found.get("env"), workflow.found.get("env")]
        value = next((p[name] for p in places if isinstance(p, dict) and name in p), None)
        if where == "secrets" or (where == "env" and re.search(r"\bsecrets\.", str(value))):
            return f"{where}.{name}"
    return ""
