"""The checks of a repository: steps of its policy, and lines that its workflows run for pull requests and pushes."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gate import tools
from gate.commands.resolve import Command, resolve
from gate.commands.shell import Options, shell_options
from gate.patterns import later
from gate.repository.tree import Tree
from gate.repository.workflows import JUDGING, Job, Workflow, WorkflowStep, read_workflows
from gate.tools.tool import Invocation, Tool

_WORKFLOW_EVENTS = JUDGING | {"push"}
_EXPRESSION = later(r"\$\{\{((?:(?!\}\})[\s\S]){0,2000})\}\}")
_MATRIX = later(r"\$\{\{\s*matrix\.([\w-]+)\s*\}\}")
_MOST_TEXTS = 24
_NO_BASH = ("pwsh", "powershell", "cmd", "python")


class Check(NamedTuple):
    """One text that a shell runs: of a step of the policy (`is_policy`) or of a workflow.

    `source` and `line` say where it stands; `commands` are all programs that it runs, through scripts and targets.
    """

    name: str
    text: str
    cwd: Path
    source: str
    line: int | None
    is_policy: bool
    options: Options
    commands: tuple[Command, ...]
    env: Mapping[str, str] = MappingProxyType({})

    @property
    def runs(self) -> tuple[Invocation, ...]:
        """Return the runs of known tools, runners such as npm and make among them."""
        return tuple(invocation(c, tool) for c in self.commands for tool in tools.matching(c.argv))

    @property
    def verifies(self) -> bool:
        """Return whether a known tool that can judge something runs."""
        return any(run.tool.KIND != "runner" for run in self.runs)


def invocation(command: Command, tool: Tool) -> Invocation:
    """Return a command as a run of a tool."""
    c = command
    return Invocation(tool, c.argv, c.cwd, c.launcher, c.program, c.sure, c.binds, c.env)


def read_checks(tree: Tree) -> tuple[Check, ...]:
    """Return the policy's steps, then what workflows run for pushes and pull requests."""
    return (*_of_policy(tree), *(c for w in read_workflows(tree) for c in _of_workflow(tree, w)))


def gating(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Return the checks that decide: the policy's where there is one, else those of the workflows."""
    return tuple(c for c in checks if c.is_policy) or checks


def _of_policy(tree: Tree) -> Iterator[Check]:
    for step in tree.policy.steps:
        cwd = tree.root / step.cwd
        options = shell_options(step.shell.split()[1:])
        source = tree.policy.file
        header = tree.line_of(source, f"[steps.{step.name}]") or tree.line_of(source, step.name) or 1
        line = tree.line_of(source, step.run.splitlines()[0], header) or header
        commands = resolve(step.run, cwd, root=tree.root, options=options)
        yield Check(step.name, step.run, cwd, source, line, True, options, commands, step.env)


def _of_workflow(tree: Tree, workflow: Workflow) -> Iterator[Check]:
    if _WORKFLOW_EVENTS.isdisjoint(workflow.events):
        return
    for job in workflow.jobs:
        for step in job.steps:
            if step.run.strip() and not step.shell.startswith(_NO_BASH):
                yield _check(tree, workflow, job, step)


def _check(tree: Tree, workflow: Workflow, job: Job, step: WorkflowStep) -> Check:
    name = f"{job.label} / {step.name}"
    inside = not Path(step.cwd).is_absolute() and ".." not in Path(step.cwd).parts and "$" not in step.cwd
    cwd = tree.root / step.cwd if inside else tree.root
    options = _options(step.shell)
    texts = _texts(step.run, job)
    commands = tuple(
        {c: None for text in texts for c in resolve(_without_expressions(text), cwd, root=tree.root, options=options)}
    )
    return Check(name, step.run, cwd, workflow.path, step.run_line, False, options, commands)


def _without_expressions(text: str) -> str:
    """Return text in which an expression of GitHub is one word, as a variable is: `${{ a && b || c }}` is no shell."""
    return _EXPRESSION.sub(lambda m: "${" + re.sub(r"\W", "_", m[1].strip()) + "}", text)


def _texts(run: str, job: Job) -> list[str]:
    """Return the texts that a script stands for with what a matrix puts into it; itself where that is computed."""
    strategy = job.found.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, dict) else None
    texts = [run]
    for name in sorted(set(_MATRIX.findall(run))) if isinstance(matrix, dict) else ():
        words = _values(matrix, name)
        if words and len(texts) * len(words) <= _MOST_TEXTS:
            put = re.compile(rf"\$\{{\{{\s*matrix\.{re.escape(name)}\s*\}}\}}")
            texts = [word.join(put.split(text)) for text in texts for word in words]
    return texts


def _values(matrix: Any, name: str) -> list[str]:
    """Return the words that a matrix has for a name, by itself and in what it includes."""
    own, more = matrix.get(name), matrix.get("include")
    included = [entry.get(name) for entry in more if isinstance(entry, dict)] if isinstance(more, list) else []
    values = [*(own if isinstance(own, list) else ()), *included]
    return list(dict.fromkeys(str(v) for v in values if isinstance(v, str | int | float) and "${{" not in str(v)))


def _options(shell: str) -> Options:
    """Return how GitHub starts a shell: `bash -e`, with `pipefail` only where the workflow says `shell: bash`.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell
    """
    if shell == "bash":
        return Options(errexit=True, pipefail=True)
    return shell_options(shell.split()[1:]) if " " in shell else Options(errexit=True)
