"""What existing workflows run: checks that nothing else of the repository shows."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gate import tools
from gate.commands.shell import Options, split
from gate.proposals.line import Line, read, short
from gate.strangers import yaml_of

_CHECKS = re.compile(
    r"\b(?:check|lint|test|tests|verify|audit|validate|spec|bats|shellcheck|actionlint|yamllint|tflint)\b", re.I
)
_PREPARES = re.compile(
    r"\b(?:install|ci|setup|checkout|login|cache|upload|download|deploy|publish|apt(?:-get)?|brew|echo|curl|docker)\b"
)
# a comment, or a line that is no command without the lines around it
_PIECE = re.compile(
    r"^(?:#|(?:if|elif|else|fi|for|while|until|case|esac|do|done|then|function)\b|[)}]|\S+\s*\(\)|\S+\))"
    r"|(?:\{|\(|\||&&|\bthen|\bdo|<<-?\s*\S+)$"
)
_GITHUB = Options(errexit=True)  # how it starts a shell
_EVENTS = {"push", "pull_request", "merge_group", "pull_request_target"}
_MOST = 6


def look(repo: Path) -> Iterator[Line]:
    """Yield the commands of workflows that run for pushes and pull requests; never more than a few."""
    folder = repo / ".github" / "workflows"
    if not folder.is_dir():
        return
    seen = set[tuple[str, str]]()
    for path in sorted(folder.glob("*.y*ml")):
        for command, where in _commands(read(path)):
            if (command, where) in seen or len(seen) >= _MOST or "${{" in command or "gate run" in command:
                continue
            if not all(simple.binds for simple in split(command, _GITHUB)):
                continue  # `shellcheck x || true`: it could not fail here either
            known = [i for i in tools.recognise(command, repo / where, root=repo) if i.tool.KIND != "runner"]
            if known or (_CHECKS.search(command) and not _PREPARES.search(command)):
                seen.add((command, where))
                kind = tools.kind(known) if known else "check"
                yield Line(kind, command, kind, f"the workflow {path.name} runs it: {short(command)}", where)


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line that a workflow runs, and its folder."""
    found = yaml_of(text)
    jobs = found.get("jobs") if isinstance(found, dict) and _is_wanted(found) else None
    for job in jobs.values() if isinstance(jobs, dict) else ():
        for step in (job.get("steps") or []) if isinstance(job, dict) else ():
            if isinstance(step, dict) and isinstance(step.get("run"), str) and "if" not in step:
                where = str(step.get("working-directory") or ".")
                is_inside = not Path(where).is_absolute() and ".." not in Path(where).parts and "$" not in where
                lines = re.sub(r"\s*\\\n\s*", " ", step["run"]).splitlines() if is_inside else []
                yield from ((line.strip(), where) for line in lines if line.strip() and not _PIECE.search(line.strip()))


def _is_wanted(workflow: dict[Any, Any]) -> bool:
    events = workflow.get("on", workflow.get(True))  # YAML 1.1 reads the key `on` as true
    names = [events] if isinstance(events, str) else list(events) if isinstance(events, list | dict) else []
    return bool(_EVENTS & set(map(str, names)))
