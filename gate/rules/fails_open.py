"""A tool that judges only inside a pull request runs where there is none, and succeeds."""

from collections.abc import Iterator, Sequence

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.shell_files import place
from gate.repository.workflows import JUDGING, Job, Workflow, WorkflowStep

ID = "fails-open"
SUMMARY = (
    "Danger, and reviewdog with a reporter of pull requests, say that this is no pull request and exit 0 when they run for a "
    "push or in a merge queue: the step is green and nothing was looked at.\n"
    "Next: let it run for pull requests only and require another check; `danger --fail-if-no-pr` (Ruby) makes it red. A note "
    "where the workflow runs for pull requests, too."
)
_DANGER = {"danger", "danger-js", "danger-swift", "danger-kotlin", "danger-dart"}
_ACTIONS = ("danger/danger-js", "danger/swift", "danger/kotlin", "MeilCli/danger-action")
_INSIDE = JUDGING - {"merge_group"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each of them in the policy, and in workflows that also run where there is no pull request."""
    for at in repo.checks:
        for command in at.commands:
            tool = fails_open(command.argv)
            if tool and at.is_policy:
                yield _told(
                    f"{at.name}: {tool} succeeds without looking where there is no pull request",
                    *place(repo.tree, at, command),
                )
    for workflow in repo.workflows:
        outside = sorted(workflow.events.keys() & {"push", "merge_group", "schedule", "workflow_dispatch"})
        for job in workflow.jobs if outside else ():
            for step in job.steps:
                tool = _of(repo, workflow, job, step)
                if tool and not any("pull_request" in c or "head_ref" in c for c in (step.condition, job.condition)):
                    level = Level.WARNING if _INSIDE.isdisjoint(workflow.events) else Level.NOTE
                    message = f"{job.label} / {step.name}: {tool} succeeds without looking for {' and '.join(outside)}"
                    yield _told(message, workflow.path, step.run_line or step.line, level)


def fails_open(argv: Sequence[str]) -> str:
    """Return the tool of a command line that succeeds outside of a pull request, nothing where it is none."""
    words = argv[1:]
    if argv[0] in _DANGER:
        asked = next((w for w in words if not w.startswith("-")), "ci")
        return "Danger" if asked == "ci" and not any(w.startswith("--fail-if-no-pr") for w in words) else ""
    if argv[0] == "reviewdog" and any("github-pr-" in w or "gitlab-mr-" in w for w in words):
        return "reviewdog"
    return ""


def _of(repo: Repository, workflow: Workflow, job: Job, step: WorkflowStep) -> str:
    if step.uses.startswith(_ACTIONS):
        return "Danger"
    name = f"{job.label} / {step.name}"
    runs = [c for c in repo.checks if c.source == workflow.path and c.name == name and c.text == step.run]
    return next((tool for at in runs for c in at.commands if (tool := fails_open(c.argv))), "")


def _told(message: str, path: str, line: int | None, level: Level = Level.WARNING) -> Finding:
    return Finding(
        ID, level, message, path, line, fix="run it for pull requests only, and require another check beside it",
        reproduce="GITHUB_WORKFLOW=ci GITHUB_EVENT_NAME=push danger ci; echo $?",
    )  # fmt: skip
