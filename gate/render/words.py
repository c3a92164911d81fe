"""Words and marks that several formats share."""

from gate.report import Finding, Report, StepOutcome, StepReport, Verdict

MARKS = {
    StepOutcome.PASSED: "✓", StepOutcome.FAILED: "✗", StepOutcome.HOLLOW: "∅", StepOutcome.TIMED_OUT: "⏱",
    StepOutcome.NOT_RUN: "–",
}  # fmt: skip


def bad_steps(report: Report) -> list[StepReport]:
    """Return the steps that speak against the change; a hollow one beside a GREEN verdict was waived."""
    return [
        s for s in report.steps
        if s.outcome not in (StepOutcome.PASSED, StepOutcome.NOT_RUN)
        and not (s.outcome is StepOutcome.HOLLOW and report.verdict is Verdict.GREEN)
    ]  # fmt: skip


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
