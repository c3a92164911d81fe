"""Workflows of GitHub Actions: jobs and steps with the lines that they stand in."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gate.repository.tree import Tree
from gate.repository.yaml_lines import Mapped

GLOBS = (".github/workflows/*.yml", ".github/workflows/*.yaml")
JUDGING = frozenset({"pull_request", "pull_request_target", "merge_group"})  # events whose checks a pull request shows


class WorkflowStep(NamedTuple):
    """One step; `found` is the whole mapping. `line` is where it starts, `run_line` where its script starts.

    `uses` is as written, save that this project's Action is `sluice` where it stands: there it is used as `./`.
    """

    name: str
    line: int
    run: str = ""
    run_line: int = 0
    uses: str = ""
    shell: str = ""  # its own, else the job's or the workflow's default, else empty
    cwd: str = "."
    condition: str = ""
    found: Mapped = Mapped()

    @property
    def goes_on(self) -> bool:
        """Return whether the job goes on when the step fails."""
        return str(self.found.get("continue-on-error", False)).lower() not in ("false", "")


class Job(NamedTuple):
    """One job; `label` is the name that a check on a pull request has."""

    id: str
    label: str
    line: int
    needs: tuple[str, ...]
    condition: str
    steps: tuple[WorkflowStep, ...]
    found: Mapped

    @property
    def goes_on(self) -> bool:
        """Return whether the workflow is green when the job fails."""
        return str(self.found.get("continue-on-error", False)).lower() not in ("false", "")


class Workflow(NamedTuple):
    """One file; `events` maps each event to its filters, an empty mapping where it has none."""

    path: str
    name: str
    events: Mapping[str, Mapping[str, Any]]
    jobs: tuple[Job, ...]
    found: Mapped

    @property
    def judges(self) -> bool:
        """Return whether it runs for pull requests or in a merge queue."""
        return not JUDGING.isdisjoint(self.events)


def read_workflows(tree: Tree) -> tuple[Workflow, ...]:
    """Return the workflows that can be read; a file that is no workflow is left out (`workflow-invalid` names it)."""
    own = _own_action(tree)
    return tuple(w for path in tree.named(*GLOBS) if (w := _workflow(path, tree.yaml(path), own)) is not None)


def _own_action(tree: Tree) -> str:
    """Return what `uses: ./` means: this project's Action where the root holds it."""
    path = "action.yml"
    found = tree.yaml(path) if path in tree.known else None
    return "sluice" if isinstance(found, Mapped) and str(found.get("name", "")).startswith("Sluice") else "./"


def _workflow(path: str, found: Any, own: str) -> Workflow | None:
    if not isinstance(found, Mapped):
        return None
    jobs = found.get("jobs")
    listed = jobs.items() if isinstance(jobs, Mapped) else ()
    read = tuple(_job(str(key), job, found, own) for key, job in listed if isinstance(job, Mapped))
    return Workflow(path, str(found.get("name") or path), _events(found.get("on")), read, found)


def _events(found: Any) -> dict[str, Mapping[str, Any]]:
    if isinstance(found, str):
        return {found: {}}
    if isinstance(found, list):
        return {str(name): {} for name in found}
    if isinstance(found, dict):
        return {str(name): filters if isinstance(filters, dict) else {} for name, filters in found.items()}
    return {}


def _job(key: str, job: Mapped, workflow: Mapped, own: str) -> Job:
    needs = job.get("needs")
    names = [needs] if isinstance(needs, str) else needs if isinstance(needs, list) else []
    defaults = [_defaults(job), _defaults(workflow)]
    listed = job.get("steps")
    steps = tuple(_steps(listed if isinstance(listed, list) else [], defaults, own))
    return Job(
        key, str(job.get("name") or key), job.line - 1, tuple(map(str, names)), str(job.get("if", "")), steps, job
    )


def _defaults(found: Mapped) -> Mapping[str, Any]:
    run = found.get("defaults")
    run = run.get("run") if isinstance(run, dict) else None
    return run if isinstance(run, dict) else {}


def _steps(listed: list[Any], defaults: list[Mapping[str, Any]], own: str) -> Iterator[WorkflowStep]:
    for number, step in enumerate(listed, 1):
        if not isinstance(step, Mapped):
            continue
        run, uses = step.get("run"), str(step.get("uses") or "")
        places = [step, *defaults]
        yield WorkflowStep(
            name=str(step.get("name") or step.get("id") or f"step {number}"),
            line=step.line,
            run=run if isinstance(run, str) else "",
            run_line=step.at("run") + (isinstance(run, str) and "\n" in run.strip()),
            uses=own if uses in ("./", ".") else uses,
            shell=next((str(p["shell"]) for p in places if p.get("shell")), ""),
            cwd=next((str(p["working-directory"]) for p in places if p.get("working-directory")), "."),
            condition=str(step.get("if", "")),
            found=step,
        )
