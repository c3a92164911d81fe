"""The report as people and machines read it: one function a format."""

import json
import re
from collections.abc import Callable, Mapping

from gate.report import Finding, Level, Report, StepOutcome, StepReport, Verdict, render_json

SUMMARY_BYTES = 1024 * 1024 - 4096  # GitHub drops a job summary over 1 MiB
COMMENT_LENGTH = 65_536
ANNOTATIONS = 10  # errors, and as many warnings, that GitHub shows a step
LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
MARKS = {
    StepOutcome.PASSED: "✓", StepOutcome.FAILED: "✗", StepOutcome.HOLLOW: "∅", StepOutcome.TIMED_OUT: "⏱",
    StepOutcome.NOT_RUN: "–",
}  # fmt: skip
_SPOKEN = re.compile(r"((?:^|\r)\s*):(?=:)", re.MULTILINE)  # how a command to a runner starts
_RED, _GREEN, _YELLOW, _DIM, _BOLD, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[2m", "\x1b[1m", "\x1b[0m"


def render_text(report: Report, *, colour: bool = False) -> str:
    """Return the report as a table for a terminal, then what went wrong, then the verdict."""
    paint = (lambda text, tone: f"{tone}{text}{_OFF}") if colour else (lambda text, _tone: text)
    width = max((len(s.name) for s in report.steps), default=0)
    lines = []
    for step in report.steps:
        tone = _GREEN if step.outcome is StepOutcome.PASSED else _DIM if step.outcome is StepOutcome.NOT_RUN else _RED
        mark = paint(MARKS[step.outcome], tone)
        lines.append(f"{mark} {step.name:<{width}}  {step.outcome:<9}  {step.seconds:7.2f} s  {what(step)}".rstrip())
    for step in report.steps:
        if step.outcome in (StepOutcome.FAILED, StepOutcome.TIMED_OUT, StepOutcome.HOLLOW) and step.log.strip():
            lines += ["", paint(f"── {step.name}: {step.run}", _BOLD), *step.log.rstrip().splitlines()[-40:]]
    for finding in report.findings:
        tone = {Level.ERROR: _RED, Level.WARNING: _YELLOW, Level.NOTE: _DIM}[finding.level]
        lines += ["", f"{paint(finding.level, tone)} {finding.rule}: {place(finding)}{finding.message}"]
        if finding.fix:
            lines.append(f"  mend: {finding.fix}")
    tone = _GREEN if report.verdict is Verdict.GREEN else _RED
    source = f"{_DIM if colour else ''}policy: {report.policy.source}{_OFF if colour else ''}"
    lines += ["", f"{paint(report.verdict, tone + _BOLD)}  {report.reason}"]
    if report.policy.source:
        lines.append(source)
    return "\n".join(lines).lstrip("\n") + "\n"


def render_markdown(report: Report, *, length: int = SUMMARY_BYTES, proposal: str = "") -> str:
    """Return the report for a job summary, or with `length` for a comment; cut to fit, saying so."""
    icon = "✅" if report.verdict is Verdict.GREEN else "❌"
    parts = [f"## {icon} Gate: {report.verdict}", _cell(report.reason)]
    if report.steps:
        rows = [
            f"| {_cell(s.name)} | {MARKS[s.outcome]} {s.outcome} | {_cell(what(s))} | {s.seconds:.1f} |"
            for s in report.steps
        ]
        parts.append("\n".join(["| step | outcome | evidence | seconds |", "|---|---|---|--:|", *rows]))
    if report.findings:
        parts.append("\n".join(f"- **{f.level}** `{f.rule}` {_cell(place(f) + f.message)}" for f in report.findings))
    if proposal:
        parts.append(f"A `gate.toml` that would fit this repository:\n\n{_fence(proposal, 'toml')}")
    parts.append(f"Policy: `{_cell(report.policy.source or 'none')}`")
    head = "\n\n".join(parts)
    logs = [s for s in report.steps if s.outcome not in (StepOutcome.PASSED, StepOutcome.NOT_RUN) and s.log.strip()]
    for step in logs:
        output = _fence(step.log[-12_000:], "text")
        head += f"\n\n<details><summary>Output of {_cell(step.name)}</summary>\n\n{output}\n\n</details>"
    return _cut(head + "\n", length)


def render_github(report: Report) -> str:
    """Return annotations as workflow commands: at most ten errors and ten warnings, the worst first."""
    commands = [_command(f.level, f.message, f.path, f.line, f.rule) for f in report.findings]
    for step in report.steps:
        if step.outcome not in (StepOutcome.PASSED, StepOutcome.NOT_RUN):
            commands += _from_output(step) or [
                _command(Level.ERROR, f"{step.name}: {step.reason}", None, None, step.name)
            ]
    if report.verdict is not Verdict.GREEN:
        commands.insert(0, _command(Level.ERROR, report.reason, None, None, f"Gate: {report.verdict}"))
    errors = [c for c in commands if c.startswith("::error")][:ANNOTATIONS]
    warnings = [c for c in commands if c.startswith("::warning")][:ANNOTATIONS]
    notices = [c for c in commands if c.startswith("::notice")][:ANNOTATIONS]
    return "\n".join([*errors, *warnings, *notices, unspoken(render_text(report))]) + "\n"


def render_junit(report: Report) -> str:
    """Return the steps as a JUnit test suite."""
    bad = sum(s.outcome in (StepOutcome.FAILED, StepOutcome.TIMED_OUT, StepOutcome.HOLLOW) for s in report.steps)
    unrun = sum(s.outcome is StepOutcome.NOT_RUN for s in report.steps)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="gate" tests="{len(report.steps)}" failures="{bad}" skipped="{unrun}"'
        f' time="{report.seconds:.3f}">',
        f'  <properties><property name="verdict" value="{report.verdict}"/></properties>',
    ]
    for step in report.steps:
        lines.append(f'  <testcase classname="gate" name={_attribute(_xml(step.name))} time="{step.seconds:.3f}">')
        if step.outcome is StepOutcome.NOT_RUN:
            lines.append(f"    <skipped message={_attribute(_xml(step.reason))}/>")
        elif step.outcome is not StepOutcome.PASSED:
            message = _attribute(_xml(f"{step.outcome}: {step.reason}"))
            lines.append(f"    <failure message={message}>{_escaped(_xml(step.log))}</failure>")
        lines.append("  </testcase>")
    return "\n".join([*lines, "</testsuite>"]) + "\n"


def render_sarif(report: Report) -> str:
    """Return findings and failing steps as SARIF 2.1.0."""
    results = [_sarif(f.rule, f.level, f.message, f.path, f.line) for f in report.findings]
    results += [
        _sarif(f"step-{s.outcome}", Level.ERROR, f"{s.name}: {s.reason}", report.policy.source or "gate.toml", None)
        for s in report.steps
        if s.outcome not in (StepOutcome.PASSED, StepOutcome.NOT_RUN)
    ]
    rules = [{"id": rule} for rule in sorted({str(r["ruleId"]) for r in results})]
    driver = {"name": "gate", "informationUri": "https://example.invalid/sluice", "rules": rules}
    run = {"tool": {"driver": driver}, "results": results, "properties": {"verdict": report.verdict}}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "text": render_text,
    "json": lambda report: render_json(report) + "\n",
    "markdown": render_markdown,
    "github": render_github,
    "junit": render_junit,
    "sarif": render_sarif,
}


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


def what(step: StepReport) -> str:
    """Return what a step did in words, such as "41 tests, 2 skipped"."""
    found = step.evidence
    words = [
        f"{found.tests} test{'' if found.tests == 1 else 's'}" if found.tests is not None else "",
        f"{found.files} file{'' if found.files == 1 else 's'}" if found.files is not None else "",
        f"{found.skipped} skipped" if found.skipped else "",
        step.reason,
    ]
    return ", ".join(w for w in words if w)


def place(finding: Finding) -> str:
    """Return where a finding is, ready to stand before its message."""
    if not finding.path:
        return ""
    return f"{finding.path}:{finding.line}: " if finding.line else f"{finding.path}: "


def _from_output(step: StepReport) -> list[str]:
    """Return annotations for the `file:line: message` lines that most tools print."""
    from gate.locations import find  # noqa: PLC0415 only for this format

    return [
        _command(Level.ERROR, message, path, line, step.name) for path, line, message in find(step.log)[:ANNOTATIONS]
    ]


def _command(level: Level, message: str, path: str | None, line: int | None, title: str) -> str:
    where = f"file={_property(path)}," if path else ""
    at = f"line={line}," if path and line else ""
    return f"::{LEVELS[level]} {where}{at}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _sarif(rule: str, level: Level, message: str, path: str | None, line: int | None) -> dict[str, object]:
    found: dict[str, object] = {"ruleId": rule, "level": str(level), "message": {"text": message}}
    if path:
        where: dict[str, object] = {"artifactLocation": {"uri": path.replace("\\", "/")}}
        if line:
            where["region"] = {"startLine": line}
        found["locations"] = [{"physicalLocation": where}]
    return found


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;").replace("@", "@\u200b")


def _fence(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _cut(text: str, length: int) -> str:
    note = "\n\n… cut at the platform's length limit\n"
    if len(text.encode()) <= length:
        return text
    return text.encode()[: length - len(note.encode())].decode("utf-8", "ignore") + note


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    """Return a quoted attribute; the standard library's own costs 16 ms to load, with all of urllib behind it."""
    text = _escaped(text).replace('"', "&quot;")
    return '"' + text.replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;") + '"'


def _xml(text: str) -> str:
    return "".join(c if c in "\t\n\r" or " " <= c < "\ufffe" else "\ufffd" for c in text)
