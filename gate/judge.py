"""Say what steps prove: how each ended, and the verdict of the whole run. No I/O."""

from collections.abc import Sequence
from datetime import date

from gate.policy import Policy, Step
from gate.proc import Ended
from gate.report import Evidence, Finding, Level, StepOutcome, StepReport, Verdict

UNGATED = "no step is configured for this repository; `gate init` proposes a gate.toml"
NO_STEPS = "{} is there and has no step; `gate init` proposes some"


def ungated(policy: Policy) -> str:
    """Return why nothing gates a repository: no policy, or one without steps."""
    return NO_STEPS.format(policy.source) if policy.source else UNGATED


# the exit codes that say "there was nothing to look at": https://docs.pytest.org/en/stable/reference/exit-codes.html
_FOUND_NOTHING = (("pytest", 5), ("gate notes", 4))

# what bash says with these: https://www.gnu.org/software/bash/manual/bash.html#Exit-Status
_SHELL_CODES = {
    126: " (found, but cannot be run)", 127: " (command not found)", 130: " (interrupted)", 134: " (aborted)",
    137: " (killed, as when memory is short)", 139: " (crashed: segmentation fault)", 143: " (terminated)",
}  # fmt: skip
SKIPPED = "no path of this step changed"


def judge(
    policy: Policy, steps: Sequence[StepReport], findings: Sequence[Finding], *, today: date
) -> tuple[Verdict, str, tuple[Finding, ...]]:
    """Return the verdict, why, and notes on waivers; pure."""
    if not steps:
        return Verdict.UNGATED, ungated(policy), ()
    unseen = [s.name for s in steps if s.outcome is StepOutcome.PASSED and not _proves(policy, s)]
    waived, noted = waived_steps(policy, today), (*_notes_on_waivers(policy, today), *_notes_on_unseen(policy, unseen))
    counts = denominator(steps)
    tampered = [f for f in findings if f.level is Level.ERROR]
    if tampered:
        return Verdict.TAMPERED, f"{tampered[0].message} ({len(tampered)} in all)", noted
    failed = [s for s in steps if s.outcome in (StepOutcome.FAILED, StepOutcome.TIMED_OUT)]
    unrun = [s for s in steps if s.outcome is StepOutcome.NOT_RUN and not s.reason.startswith(SKIPPED)]
    if failed or unrun:
        worst = (failed or unrun)[0]
        why = worst.reason or f"exit code {worst.exit_code}"
        return Verdict.RED, f"{worst.name} {worst.outcome.replace('_', ' ')}: {why}; {counts}", noted
    hollow = [s for s in steps if s.outcome is StepOutcome.HOLLOW and s.name not in waived]
    if hollow:
        return Verdict.HOLLOW, f"{hollow[0].name} verified nothing: {hollow[0].reason}; {counts}", noted
    excused = [s.name for s in steps if s.outcome is StepOutcome.HOLLOW]
    if not any(_proves(policy, s) for s in steps):
        why = f", and the waiver of {', '.join(excused)} proves nothing in its place" if excused else ""
        return Verdict.HOLLOW, f"no step showed what it verified{why}; {counts}", noted
    waivers = f"; waived: {', '.join(excused)}" if excused else ""
    silent = f"; nothing to be seen of {', '.join(unseen)}" if unseen else ""
    return Verdict.GREEN, f"{counts}{waivers}{silent}", noted


def allowed(findings: Sequence[Finding], by: str) -> tuple[Finding, ...]:
    """Return findings of weakening as warnings, since somebody who may has let them pass; each says by what."""
    return tuple(
        f._replace(level=Level.WARNING, message=f"{f.message} (allowed by {by})") if f.level is Level.ERROR else f
        for f in findings
    )


def denominator(steps: Sequence[StepReport]) -> str:
    """Return what was executed: `7 steps, 7 ran, 412 tests executed, 3 skipped`."""
    ran = sum(s.outcome is not StepOutcome.NOT_RUN for s in steps)
    tests = [s.evidence.tests for s in steps if s.evidence.tests is not None]
    files = [s.evidence.files for s in steps if s.evidence.files is not None]
    skipped = sum(s.evidence.skipped or 0 for s in steps)
    parts = [steps_in_words(len(steps)), f"{ran} ran"]
    if tests or not files:
        parts.append(f"{sum(tests)} test{'' if sum(tests) == 1 else 's'} executed")
    if files:
        parts.append(f"{sum(files)} file{'' if sum(files) == 1 else 's'} checked")
    return ", ".join([*parts, f"{skipped} skipped"])


def settle(step: Step, kind: str, ended: Ended, evidence: Evidence) -> tuple[StepOutcome, str]:
    """Return how a step ended and why; pure."""
    if ended.error:
        return StepOutcome.FAILED, ended.error
    if ended.timed_out:
        return StepOutcome.TIMED_OUT, f"not finished after {step.limit_s:g} s"
    if ended.stopped or ended.exit_code is None:
        return StepOutcome.FAILED, "it was interrupted"
    if ended.exit_code < 0:
        return StepOutcome.FAILED, f"killed by signal {-ended.exit_code}"
    tools = evidence.tool or ""
    if evidence.hollow and any(tool in tools and ended.exit_code == code for tool, code in _FOUND_NOTHING):
        return StepOutcome.HOLLOW, evidence.hollow
    if ended.exit_code != 0:
        return StepOutcome.FAILED, f"exit code {ended.exit_code}{_SHELL_CODES.get(ended.exit_code, '')}"
    if evidence.failed:
        why = f": {evidence.note}" if evidence.note else ""
        return StepOutcome.FAILED, f"{evidence.failed} failed, and the exit code hid it{why}"
    if step.evidence == "exit" and not evidence.hollow:
        return StepOutcome.PASSED, evidence.note
    return _weigh(step, kind, evidence)


def _weigh(step: Step, kind: str, evidence: Evidence) -> tuple[StepOutcome, str]:
    if evidence.hollow:
        return StepOutcome.HOLLOW, evidence.hollow
    found = evidence.tests if evidence.tests is not None else evidence.files
    if isinstance(step.evidence, int):
        if found is None:
            return StepOutcome.HOLLOW, f"the policy asks for {step.evidence}, and what it executed is not known"
        if found < step.evidence:
            return StepOutcome.HOLLOW, f"the policy asks for {step.evidence}, it executed {found}"
    if kind == "test" and evidence.tests == 0:
        return StepOutcome.HOLLOW, "no test was executed"
    if kind == "test" and evidence.tool and evidence.tests is None:
        return StepOutcome.HOLLOW, f"{evidence.tool} did not say how many tests it executed"
    return StepOutcome.PASSED, evidence.note


def _proves(policy: Policy, step: StepReport) -> bool:
    if step.outcome is not StepOutcome.PASSED:
        return False
    if any(s.name == step.name and s.evidence == "exit" for s in policy.steps):
        return True
    return step.evidence.tool is not None


def waived_steps(policy: Policy, today: date) -> set[str]:
    """Return the steps that may be hollow today."""
    return {w.step for w in policy.waivers if w.step and w.expires >= today}


def _notes_on_unseen(policy: Policy, names: Sequence[str]) -> tuple[Finding, ...]:
    fix = 'run a tool that the gate knows, or say evidence = "exit" where the exit code tells enough'
    return tuple(
        Finding(
            "nothing-seen",
            Level.NOTE,
            f"{name} passed, and nothing that it verified can be seen",
            policy.file,
            fix=fix,
        )
        for name in names
    )


def _notes_on_waivers(policy: Policy, today: date) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            rule="waiver" if w.expires >= today else "waiver-expired",
            level=Level.NOTE if w.expires >= today else Level.WARNING,
            message=f"{w.step} may be hollow until {w.expires}: {w.reason}" if w.expires >= today
            else f"the waiver for {w.step} ended on {w.expires}: {w.reason}",
            path=policy.file,
            fix=f"make {w.step} verify something, then remove its waiver",
        )
        for w in policy.waivers
        if w.step
    )  # fmt: skip


def steps_in_words(count: int) -> str:
    """Return a number of steps in words."""
    return f"{count} step{'' if count == 1 else 's'}"
