"""Which job of the workflows is the one that a merge waits for, as far as files alone can tell.

Branch rules live on the forge. What a repository shows: the names of required checks where it keeps its settings in a
file, a job that runs `gate` or this project's Action, and an aggregator: a job that does nothing but wait for others and
is named like one (`gate`, `ci`, `all-checks`, `alls-green`, `required`, `ci-success`). Of any other job nobody can know.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gate.patterns import later
from gate.repository.checkers import check_of, is_check_action, is_gate_action, verifies
from gate.repository.opening import Repository
from gate.repository.tree import Tree
from gate.repository.workflows import Job, Workflow

_NAMED = later(
    r"^(?:(?:the[ -])?(?:merge[ _-]?)?gate(?:keeper)?|ci|all|bors|conclusion|success|required(?:[ _-]\w+)*|check|checks|green"
    r"|all[ _-]?(?:checks?|jobs?|tests?|green|good|ok|pass(?:ed|ing)?|done|required|successful|the[ _-]things)(?:[ _-]\w+)*"
    r"|alls[ _-]?green|(?:ci|pr|build|tests?|checks?|lint|status|merge|branch|workflow|pipeline)[ _-]?(?:success|successful|succeeded|ok"
    r"|pass(?:ed|ing)?|status|complete[d]?|done|results?|conclusion|gate|summary|green|required|check|checks|final|ready|finished))$",
    re.IGNORECASE,
)
_ALWAYS = later(r"\balways\(\)|!\s*cancelled\(\)")


class Required(NamedTuple):
    """A job that a merge waits for, and how that shows."""

    workflow: Workflow
    job: Job
    why: str

    @property
    def runs_always(self) -> bool:
        """Return whether the job runs whatever became of those that it needs."""
        return _ALWAYS.search(self.job.condition) is not None


def required_jobs(repo: Repository) -> tuple[Required, ...]:
    """Return the jobs of workflows for pull requests that are shown to be required."""
    return repo.tree.once("required-jobs", lambda: tuple(_required(repo)))


def _required(repo: Repository) -> Iterator[Required]:
    names = frozenset(_declared(repo.tree))
    for workflow in repo.workflows:
        for job in workflow.jobs if workflow.judges else ():
            why = _why(repo, workflow, job, names)
            if why:
                yield Required(workflow, job, why)


def _why(repo: Repository, workflow: Workflow, job: Job, names: frozenset[str]) -> str:
    if job.label in names or job.id in names:
        return "the repository's settings require it"
    for step in job.steps:
        run = check_of(repo.checks, workflow, job, step)
        if is_gate_action(step.uses) or (run and any(c.argv[:2] == ("gate", "run") for c in run.commands)):
            return "it runs the gate"
    named = _NAMED.match(job.label) or _NAMED.match(job.id)
    works = any(verifies(repo.checks, workflow, job, s) or is_check_action(s.uses) for s in job.steps)
    waits = (
        not works and not job.found.get("uses") and not any(s.uses.startswith("actions/checkout") for s in job.steps)
    )
    return (
        f"it waits for {', '.join(job.needs)} and is named like an aggregator" if named and job.needs and waits else ""
    )


def _declared(tree: Tree) -> Iterator[str]:
    """Yield the required checks that files name: .github/settings.yml, .asf.yaml, bors.toml, rulesets in JSON."""
    for path in tree.named(".github/settings.yml", ".asf.yaml"):
        yield from _contexts(tree.yaml(path), 0)
    if "bors.toml" in tree.known:
        yield from _strings((tree.toml("bors.toml") or {}).get("status"))
    for path in tree.named(".github/rulesets/*.json"):
        yield from _contexts(tree.json(path), 0)


def _contexts(found: object, depth: int) -> Iterator[str]:
    """Yield the names below `contexts`, and each `context` of a ruleset, wherever they stand."""
    if depth > 12:
        return
    if isinstance(found, dict):
        for key, value in found.items():
            if key == "contexts":
                yield from _strings(value)
            elif key == "context" and isinstance(value, str):
                yield value
            else:
                yield from _contexts(value, depth + 1)
    elif isinstance(found, list):
        for item in found:
            yield from _contexts(item, depth + 1)


def _strings(found: object) -> Iterator[str]:
    if isinstance(found, list):
        yield from (item for item in found if isinstance(item, str))
