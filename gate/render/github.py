"""The report as annotations on GitHub: commands to the runner."""

import re
from itertools import zip_longest
from pathlib import Path

from gate.locations import Place, files_below, find
from gate.render.text import render_text
from gate.render.words import bad_steps
from gate.report import Level, Report, StepReport, Verdict

ANNOTATIONS = 10  # errors, and as many warnings, that GitHub shows of one step of a workflow
LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
_SPOKEN = re.compile(r"((?:^|\r)\s*):(?=:)", re.MULTILINE)  # how a command to a runner starts


def render_github(report: Report, root: Path) -> str:
    """Return annotations: at most ten errors and ten warnings, the worst first, then the table.

    First the verdict, then what weakens the gate, then the first place of each failing step, their second, and so on.
    """
    commands = [command(f.level, f.message, f.path, f.line, f.rule) for f in report.findings]
    by_step = [_of_step(step, root) for step in bad_steps(report)]
    commands += [one for row in zip_longest(*by_step) for one in row if one]
    if report.verdict is not Verdict.GREEN:
        commands.insert(0, command(Level.ERROR, report.reason, None, None, f"Gate: {report.verdict}"))
    return "\n".join([*shown(commands), unspoken(render_text(report))])


def places(step: StepReport, root: Path) -> list[Place]:
    """Return the places that a step's output names, errors first."""
    return find(step.log, inside=files_below(root, step.cwd))


def unspoken(text: str, form: str = "text") -> str:
    """Return a report for a runner's log, in which nothing that a step printed can be a command to the runner.

    A line that starts with `::`, and `##[` anywhere, are commands. What machines read stays the same to them.
    """
    match form:
        case "json" | "sarif":
            return text.replace("##[", "##\\u005b")  # lines start with brackets, quotes and blanks only
        case "junit":
            return _SPOKEN.sub("\\1&#58;", text.replace("##[", "##&#91;"))
        case "github":
            return text  # commands are its purpose; what steps printed was cleaned before
        case _:
            return _SPOKEN.sub("\\1:\u200b", text.replace("##[", "#\u200b#["))


def command(level: Level, message: str, path: str | None, line: int | None, title: str) -> str:
    """Return one annotation: a command to the runner."""
    where = f"file={_property(path)}," if path else ""
    at = f"line={line}," if path and line else ""
    return f"::{LEVELS[level]} {where}{at}title={_property(title)}::{_data(message)}"


def shown(commands: list[str]) -> list[str]:
    """Return as many as GitHub shows, the first of each level."""
    kept = [[c for c in commands if c.startswith(f"::{word} ")][:ANNOTATIONS] for word in LEVELS.values()]
    return [one for group in kept for one in group]


def _of_step(step: StepReport, root: Path) -> list[str]:
    found = [command(p.level, p.message, p.path, p.line, step.name) for p in places(step, root)]
    return found or [command(Level.ERROR, f"{step.name}: {step.reason}", None, None, step.name)]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
