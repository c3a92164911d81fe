"""The report as JUnit XML, which most readers of test results know."""

from gate.render.words import bad_steps, place
from gate.report import Report, StepOutcome, Verdict


def render_junit(report: Report) -> str:
    """Return the steps as a JUnit test suite, and the verdict as one more case: it can be bad when no step is."""
    bad = bad_steps(report)
    skipped = sum(s.outcome is not StepOutcome.PASSED for s in report.steps) - len(bad)
    failures = len(bad) + (report.verdict is not Verdict.GREEN)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="gate" tests="{len(report.steps) + 1}" failures="{failures}" time="{report.seconds:.3f}">',
        f'  <testsuite name="gate" tests="{len(report.steps) + 1}" failures="{failures}" errors="0" skipped="{skipped}"'
        f' time="{report.seconds:.3f}">',
    ]
    for step in report.steps:
        lines.append(f'    <testcase classname="gate" name={attribute(step.name)} time="{step.seconds:.3f}">')
        message = attribute(f"{step.outcome}: {step.reason}")
        if step in bad:
            lines.append(f"      <failure message={message}>{escaped(step.log)}</failure>")
        elif step.outcome is not StepOutcome.PASSED:
            lines.append(f"      <skipped message={message}/>")
        lines.append("    </testcase>")
    lines.append('    <testcase classname="gate" name="verdict" time="0.000">')
    if report.verdict is not Verdict.GREEN:
        findings = "\n".join(f"{f.level} {f.rule}: {place(f)}{f.message}" for f in report.findings)
        message = attribute(f"{report.verdict}: {report.reason}")
        lines.append(f"      <failure message={message}>{escaped(findings)}</failure>")
    return "\n".join([*lines, "    </testcase>", "  </testsuite>", "</testsuites>"]) + "\n"


def escaped(text: str) -> str:
    """Return text for XML, without the characters that XML cannot hold."""
    kept = "".join(
        c if c in "\t\n\r" or " " <= c < "\ud800" or "\ue000" <= c < "\ufffe" or c > "\uffff" else "\ufffd"
        for c in text
    )
    return kept.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attribute(text: str) -> str:
    """Return a quoted attribute; the standard library's own costs 16 ms to load, with all of urllib behind it."""
    text = escaped(text).replace('"', "&quot;")
    return '"' + text.replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;") + '"'
