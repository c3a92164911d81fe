"""How evidence moved against a report of the base: `tests 41 (-3)`. Pure."""

from gate.report import Finding, Level, Report


def moved(report: Report, base: Report) -> Report:
    """Return the report with how its counts moved in the reason, and a warning for each step that executed fewer."""
    words = [
        f"{what} {after} ({after - before:+d})"
        for what, before, after in (("tests", _total(base, "tests"), _total(report, "tests")),
                                    ("files", _total(base, "files"), _total(report, "files")))
        if before or after or what == "tests"
    ]  # fmt: skip
    findings = (*report.findings, *_dropped(report, base))
    return report._replace(reason=f"{report.reason}; {', '.join(words)}", findings=findings)


def _dropped(report: Report, base: Report) -> tuple[Finding, ...]:
    """Return a warning for each step whose count fell; a step that is new or gone is the policy's to judge."""
    before = {step.name: step.evidence for step in base.steps}
    found = []
    for step in report.steps:
        for what in ("tests", "files"):
            was = getattr(before.get(step.name), what, None)
            now = getattr(step.evidence, what)
            if was is not None and now is not None and now < was:
                message = f"{step.name} executed {was} {what} at the base, now {now} ({now - was:+d})"
                fix = f"look where they went; `evidence = {was}` holds the number from now on"
                found.append(Finding("executed-count-dropped", Level.WARNING, message, report.policy.source, fix=fix))
    return tuple(found)


def _total(report: Report, what: str) -> int:
    return sum(getattr(step.evidence, what) or 0 for step in report.steps)
