"""The report as a table that people like to read."""

from gate.render.words import MARKS, place, what
from gate.report import Level, Report, StepOutcome, StepReport, Verdict

LOG_LINES = 40  # of each failing step
_RED, _GREEN, _YELLOW, _DIM, _BOLD, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[2m", "\x1b[1m", "\x1b[0m"


def _what(step: StepReport) -> str:
    return what(step) or (step.run if step.outcome is StepOutcome.NOT_RUN else "")


def render_text(report: Report, *, colour: bool = False) -> str:
    """Return the report as a table for a terminal, then what went wrong, then the verdict."""
    paint = (lambda text, tone: f"{tone}{text}{_OFF}") if colour else (lambda text, _tone: text)
    width = max((len(s.name) for s in report.steps), default=0)
    lines = []
    for step in report.steps:
        tone = _GREEN if step.outcome is StepOutcome.PASSED else _DIM if step.outcome is StepOutcome.NOT_RUN else _RED
        mark = paint(MARKS[step.outcome], tone)
        lines.append(f"{mark} {step.name:<{width}}  {step.outcome:<9}  {step.seconds:7.2f} s  {_what(step)}".rstrip())
    for step in report.steps:
        if step.outcome in (StepOutcome.FAILED, StepOutcome.TIMED_OUT, StepOutcome.HOLLOW) and step.log.strip():
            lines += ["", paint(f"── {step.name}: {step.run}", _BOLD), *step.log.rstrip().splitlines()[-LOG_LINES:]]
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
