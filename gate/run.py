"""Run a policy's steps side by side and say what they prove."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from gate import proc, tools
from gate.policy import Policy, Step
from gate.report import Evidence, Finding, Level, PolicyStamp, Report, StepOutcome, StepReport, Verdict
from gate.tools.tool import Invocation

TAIL_BYTES = 16_384
# what a hook or a runner sets for its own use: location of another repository, files that a runner obeys
DROPPED = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GITHUB_ENV", "GITHUB_OUTPUT",
    "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_URL",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """How to run; `wrap` is put before every step's shell, such as a sandbox."""

    jobs: int
    fail_fast: bool = False
    wrap: tuple[str, ...] = ()
    today: date = field(default_factory=date.today)
    on_line: Callable[[str, str], None] | None = None  # (step, line), live
    changed: tuple[str, ...] | None = None  # with --since: what differs; None: everything runs
    logs: Path | None = None  # where whole outputs are kept


@dataclass(frozen=True, slots=True)
class Place:
    """What is judged."""

    root: Path
    repository: str | None
    base: str | None
    head: str | None


def plan(policy: Policy, place: Place) -> Report:
    """Return what would run; nothing does. Every step is `not_run`."""
    steps = tuple(StepReport(s.name, _kind(s, place.root)[0], s.run, StepOutcome.NOT_RUN) for s in policy.steps)
    verdict = Verdict.GREEN if steps else Verdict.UNGATED
    reason = f"{_steps(len(steps))} would run" if steps else UNGATED
    return _report(policy, place, verdict, reason, steps)


UNGATED = "no step is configured for this repository; `gate init` proposes a gate.toml"


def run(
    policy: Policy, place: Place, options: Options, *, env: Mapping[str, str], stop: threading.Event,
    findings: Sequence[Finding] = (),
) -> Report:  # fmt: skip
    """Run every step and return the report. `findings` come from the comparison with the base."""
    began = time.monotonic()
    if not policy.steps:
        return _report(policy, place, Verdict.UNGATED, UNGATED, (), findings)
    own = options.logs is None
    logs = Path(tempfile.mkdtemp(prefix="gate-")) if options.logs is None else options.logs
    logs.mkdir(parents=True, exist_ok=True)
    try:
        steps = _Run(policy, place, options, {k: v for k, v in env.items() if k not in DROPPED}, stop, logs).all()
    finally:
        if own:
            shutil.rmtree(logs, ignore_errors=True)
    verdict, reason, noted = judge(policy, steps, findings, today=options.today)
    return replace(
        _report(policy, place, verdict, reason, steps, (*findings, *noted)), seconds=time.monotonic() - began
    )


def judge(
    policy: Policy, steps: Sequence[StepReport], findings: Sequence[Finding], *, today: date
) -> tuple[Verdict, str, tuple[Finding, ...]]:
    """Return the verdict, why, and notes on waivers; pure."""
    if not steps:
        return Verdict.UNGATED, UNGATED, ()
    waived, noted = _waivers(policy, today)
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
    if not any(_proves(policy, s) for s in steps):
        return Verdict.HOLLOW, f"no step showed what it verified; {counts}", noted
    return Verdict.GREEN, counts, noted


def denominator(steps: Sequence[StepReport]) -> str:
    """Return what was executed: `7 steps, 7 ran, 412 tests executed, 3 skipped`."""
    ran = sum(s.outcome is not StepOutcome.NOT_RUN for s in steps)
    tests = [s.evidence.tests for s in steps if s.evidence.tests is not None]
    files = [s.evidence.files for s in steps if s.evidence.files is not None]
    skipped = sum(s.evidence.skipped or 0 for s in steps)
    parts = [_steps(len(steps)), f"{ran} ran"]
    if tests or not files:
        parts.append(f"{sum(tests)} test{'' if sum(tests) == 1 else 's'} executed")
    if files:
        parts.append(f"{sum(files)} file{'' if sum(files) == 1 else 's'} checked")
    return ", ".join([*parts, f"{skipped} skipped"])


SKIPPED = "no path of this step changed"


class _Run:
    """The steps of one run: which wait, which run, which ended."""

    def __init__(
        self, policy: Policy, place: Place, options: Options, env: Mapping[str, str], stop: threading.Event, logs: Path
    ) -> None:
        self._policy, self._place, self._options, self._env, self._stop = policy, place, options, env, stop
        self._logs = logs
        self._done: dict[str, StepReport] = {}
        self._changed = threading.Condition()
        self._failing = False

    def all(self) -> tuple[StepReport, ...]:
        """Run all steps, as many at a time as there are jobs, each after what it needs."""
        waiting = list(self._policy.steps)
        running = 0
        with self._changed:
            while waiting or running:
                for step in [s for s in waiting if self._settled(s)]:
                    refusal = self._refusal(step)
                    if refusal is not None:
                        waiting.remove(step)
                        self._done[step.name] = refusal
                    elif running < self._options.jobs:
                        waiting.remove(step)
                        running += 1
                        threading.Thread(target=self._one, args=(step,), daemon=True).start()
                if any(self._settled(s) for s in waiting) and running < self._options.jobs:
                    continue
                if running:
                    before = len(self._done)
                    while len(self._done) == before:
                        self._changed.wait(0.1)  # a signal that another thread got is handled when this one wakes
                    running -= len(self._done) - before
        return tuple(self._done[s.name] for s in self._policy.steps)

    def _settled(self, step: Step) -> bool:
        return all(need in self._done for need in step.needs)

    def _refusal(self, step: Step) -> StepReport | None:
        """Return why a step does not run, where it does not."""
        kind = step.kind or "check"
        bad = [n for n in step.needs if self._done[n].outcome is not StepOutcome.PASSED and not self._skipped(n)]
        if bad:
            return StepReport(
                step.name, kind, step.run, StepOutcome.NOT_RUN, reason=f"it needs {bad[0]}, which did not pass"
            )
        if self._stop.is_set():
            return StepReport(step.name, kind, step.run, StepOutcome.NOT_RUN, reason="the run was interrupted")
        if self._failing and self._options.fail_fast:
            return StepReport(
                step.name, kind, step.run, StepOutcome.NOT_RUN, reason="another step failed (--fail-fast)"
            )
        if step.paths and self._options.changed is not None and not _touches(step.paths, self._options.changed):
            return StepReport(
                step.name, kind, step.run, StepOutcome.NOT_RUN, reason=f"{SKIPPED} ({', '.join(step.paths)})"
            )
        return None

    def _skipped(self, name: str) -> bool:
        return self._done[name].outcome is StepOutcome.NOT_RUN and self._done[name].reason.startswith(SKIPPED)

    def _one(self, step: Step) -> None:
        try:
            report = self._step(step)
        except Exception as error:  # a fault of ours must end the run, not hang it
            report = StepReport(step.name, step.kind or "check", step.run, StepOutcome.FAILED, reason=f"{error!r}")
        with self._changed:
            self._done[step.name] = report
            self._failing = self._failing or report.outcome not in (StepOutcome.PASSED, StepOutcome.NOT_RUN)
            self._changed.notify_all()

    def _step(self, step: Step) -> StepReport:
        root = self._place.root
        kind, invocations = _kind(step, root)
        cwd = root / step.cwd
        if not cwd.resolve().is_relative_to(root.resolve()) or not cwd.is_dir():
            return StepReport(
                step.name, kind, step.run, StepOutcome.FAILED, reason=f"no folder {step.cwd!r} in the repository"
            )
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in step.name)
        log, scratch = self._logs / f"{name}.log", self._logs / f"{name}.evidence"
        scratch.mkdir(parents=True, exist_ok=True)
        env = {**self._env, **step.env, "GATE": "1"}
        env |= tools.environment(invocations, scratch, env=env, wrap=self._options.wrap)
        on_line = self._options.on_line
        ended = proc.run(
            [*self._options.wrap, *step.shell.split(), step.run], cwd=cwd, env=env, log=log, limit_s=step.limit_s,
            stop=self._stop, on_line=None if on_line is None else lambda line: on_line(step.name, line),
        )  # fmt: skip
        evidence = _no_evidence()
        if ended.exit_code is not None and not ended.error:
            evidence = tools.read_evidence(
                invocations, log, scratch, exit_code=ended.exit_code, env=env, wrap=self._options.wrap, stop=self._stop
            )
        outcome, reason = settle(step, kind, ended, evidence)
        return StepReport(
            step.name, kind, step.run, outcome, ended.exit_code, round(ended.seconds, 3), evidence, tail(log), reason
        )


def settle(step: Step, kind: str, ended: proc.Ended, evidence: Evidence) -> tuple[StepOutcome, str]:
    """Return how a step ended and why; pure."""
    if ended.error:
        return StepOutcome.FAILED, ended.error
    if ended.timed_out:
        return StepOutcome.TIMED_OUT, f"not finished after {step.limit_s:g} s"
    if ended.stopped or ended.exit_code is None:
        return StepOutcome.FAILED, "it was interrupted"
    if ended.exit_code < 0:
        return StepOutcome.FAILED, f"killed by signal {-ended.exit_code}"
    if ended.exit_code == 5 and "pytest" in (evidence.tool or "") and evidence.hollow:
        return StepOutcome.HOLLOW, evidence.hollow  # pytest's own "no tests collected"
    if ended.exit_code != 0:
        return StepOutcome.FAILED, f"exit code {ended.exit_code}"
    if evidence.failed:
        return StepOutcome.FAILED, f"{evidence.failed} failed, and the exit code hid it"
    if step.evidence == "exit" and not evidence.hollow:
        return StepOutcome.PASSED, ""
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
    return StepOutcome.PASSED, ""


def tail(log: Path) -> str:
    """Return the end of a step's output, from a whole line on."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return text if size <= TAIL_BYTES else text[text.find("\n") + 1 :]


def _proves(policy: Policy, step: StepReport) -> bool:
    if step.outcome is not StepOutcome.PASSED:
        return False
    if any(s.name == step.name and s.evidence == "exit" for s in policy.steps):
        return True
    return step.evidence.tool is not None


def _waivers(policy: Policy, today: date) -> tuple[set[str], tuple[Finding, ...]]:
    live = {w.step for w in policy.waivers if w.expires >= today}
    noted = tuple(
        Finding(
            rule="waiver" if w.expires >= today else "waiver-expired",
            level=Level.NOTE if w.expires >= today else Level.WARNING,
            message=f"{w.step} may be hollow until {w.expires}: {w.reason}" if w.expires >= today
            else f"the waiver for {w.step} ended on {w.expires}: {w.reason}",
            path=policy.source,
            fix=f"make {w.step} verify something, then remove its waiver",
        )
        for w in policy.waivers
    )  # fmt: skip
    return live, noted


def _kind(step: Step, root: Path) -> tuple[str, tuple[Invocation, ...]]:
    invocations = tools.recognise(step.run, root / step.cwd, root=root)
    return step.kind or tools.kind(invocations), invocations


def _touches(globs: Sequence[str], changed: Sequence[str]) -> bool:
    from gate.globs import matches  # noqa: PLC0415 only with --since

    return any(matches(path, glob) for glob in globs for path in changed)


def _no_evidence() -> Evidence:
    return Evidence()


def _report(
    policy: Policy, place: Place, verdict: Verdict, reason: str, steps: tuple[StepReport, ...],
    findings: Sequence[Finding] = (),
) -> Report:  # fmt: skip
    stamp = PolicyStamp(policy.source or None, policy.hash or None)
    return Report(verdict, reason, place.repository, place.base, place.head, stamp, steps, tuple(findings))


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"


def stop_commands(env: Mapping[str, str]) -> tuple[str, str]:
    """Return what to print before and after steps so that their output cannot command a GitHub runner."""
    if env.get("GITHUB_ACTIONS") != "true":
        return "", ""
    token = os.urandom(16).hex()
    return f"::stop-commands::{token}", f"::{token}::"
