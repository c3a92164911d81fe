"""What a red report says to the agent, and when two failures are the same. No I/O."""

import hashlib
import re
from collections.abc import Sequence

from gate.report import Report, StepOutcome, StepReport

TAIL = 4000  # characters of a failing step's output that the agent gets to see
# what differs between any two runs
_DIFFERS = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"  # times of day
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
    r"|\b\d+(?:\.\d+)?\s?(?:ns|[uµ]s|ms|s|secs?|seconds?|m|mins?|minutes?)\b"  # durations
    r"|\b0x[0-9a-fA-F]{4,}\b"  # addresses
    r"|\bpid[ =:]+\d+\b"
    r"|/tmp/[^\s:'\"]+",
)


def failing(report: Report) -> tuple[tuple[str, str], ...]:
    """Return the steps that were not passed, each with the signature of its failure."""
    return tuple((step.name, _signature(step)) for step in report.steps if has_failed(step))


def has_failed(step: StepReport) -> bool:
    """Return whether a step ran and was not passed."""
    return step.outcome not in (StepOutcome.PASSED, StepOutcome.NOT_RUN)


def _signature(step: StepReport) -> str:
    said = _DIFFERS.sub("~", step.log)
    text = f"{step.outcome}\0{step.exit_code}\0{step.evidence.tests}\0{step.evidence.failed}\0{said}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def shared(here: Sequence[tuple[str, str]], base: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the steps that fail on the base too, saying the same."""
    return tuple(name for name, signature in here if (name, signature) in base)


def render_shared(names: Sequence[str]) -> str:
    """Return what is said of failures that were there before the change."""
    steps = ", ".join(f"`{name}`" for name in names)
    return f"{steps} fail{'s' if len(names) == 1 else ''} in the same way on the base commit, without the change."


def render_feedback(report: Report) -> str:
    """Return what a red report says to the agent: the verdict, findings, and the tail of each failing step."""
    parts = [f"The gate says {report.verdict}: {report.reason}"]
    parts += [f"- {f.path or ''}{f':{f.line}' if f.line else ''} {f.rule}: {f.message}" for f in report.findings[:20]]
    for step in report.steps:
        if has_failed(step):
            parts.append(
                f"Step {step.name} ({step.run}) {step.outcome}, exit code {step.exit_code}:\n{step.log[-TAIL:]}"
            )
    return "\n\n".join(parts)
