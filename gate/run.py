"""Run a policy's steps side by side and say what they prove."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from gate import proc, tools
from gate.commands.idle import NOTHING, is_idle
from gate.errors import UsageError
from gate.judge import SKIPPED, judge, settle, steps_in_words, ungated, waived_steps
from gate.policy import Policy, Step
from gate.report import Evidence, Finding, PolicyStamp, Report, StepOutcome, StepReport, Verdict
from gate.tools.tool import Invocation

TAIL_BYTES = 16_384
# what a hook or a runner sets for its own use: where another repository is (those of `git rev-parse --local-env-vars`
# that tell a place), and files and services that a runner obeys
DROPPED = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
    "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
    "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL",
)  # fmt: skip


class Options(NamedTuple):
    """How to run; `wrap` is put before every step's shell, such as a sandbox."""

    jobs: int
    fail_fast: bool = False
    wrap: tuple[str, ...] = ()
    on_lines: Callable[[str, Sequence[str]], None] | None = None  # (step, lines), live
    changed: tuple[str, ...] | None = None  # with --since: what differs; None: everything runs
    logs: Path | None = None  # where whole outputs are kept


class Place(NamedTuple):
    """What is judged."""

    root: Path
    repository: str | None
    base: str | None
    head: str | None


def plan(policy: Policy, place: Place) -> Report:
    """Return what would run; nothing does. Every step is `not_run`, so the verdict is never GREEN."""
    steps = tuple(StepReport(s.name, _kind(s, place.root)[0], s.run, StepOutcome.NOT_RUN) for s in policy.steps)
    verdict = Verdict.HOLLOW if steps else Verdict.UNGATED
    reason = f"{steps_in_words(len(steps))} would run; nothing ran (--plan)" if steps else ungated(policy)
    return _report(policy, place, verdict, reason, steps)


def run(
    policy: Policy, place: Place, options: Options, *, env: Mapping[str, str], stop: threading.Event,
    findings: Sequence[Finding] = (), on_folder: Callable[[Path], None] = lambda _: None,
) -> Report:  # fmt: skip
    """Run every step and return the report. `findings` come from the comparison with the base.

    `on_folder` hears of a folder for temporary files, which is gone at the end unless this process is killed.
    """
    began = time.monotonic()
    if not policy.steps:
        return _report(policy, place, Verdict.UNGATED, ungated(policy), (), findings)
    today = date.today()  # noqa: DTZ011 a waiver ends with the day of who runs the gate
    logs = _folder_for_logs(options.logs)
    if options.logs is None:
        on_folder(logs)
    try:
        kept = {k: v for k, v in env.items() if k not in DROPPED}
        steps = _Run(policy, place, options, kept, stop, logs, today).all()
    finally:
        if options.logs is None:
            import shutil  # noqa: PLC0415 loaded while the steps ran

            shutil.rmtree(logs, ignore_errors=True)
    verdict, reason, noted = judge(policy, steps, findings, today=today)
    report = _report(policy, place, verdict, reason, steps, (*findings, *noted))
    return report._replace(seconds=time.monotonic() - began)


def _folder_for_logs(wanted: Path | None) -> Path:
    try:
        if wanted is None:
            import tempfile  # noqa: PLC0415 the tools load it anyway

            return Path(tempfile.mkdtemp(prefix="gate-"))
        wanted.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        where = f"--logs {wanted}" if wanted else "the folder for temporary files"
        raise UsageError(f"expected room for the steps' output in {where}, got: {error.strerror or error}") from error
    return wanted


class _Run:
    """The steps of one run: which wait, which run, which ended."""

    def __init__(
        self, policy: Policy, place: Place, options: Options, env: Mapping[str, str], stop: threading.Event,
        logs: Path, today: date,
    ) -> None:  # fmt: skip
        self._policy, self._place, self._options, self._env, self._stop = policy, place, options, env, stop
        self._logs, self._today = logs, today
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
        bad = [n for n in step.needs if not self._lets_on(n)]
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

    def _lets_on(self, name: str) -> bool:
        """Return whether what needs this step may run: it passed, may be hollow, or had nothing to do."""
        match self._done[name].outcome:
            case StepOutcome.PASSED:
                return True
            case StepOutcome.HOLLOW:
                return name in waived_steps(self._policy, self._today)
            case _:
                return self._done[name].reason.startswith(SKIPPED)

    def _one(self, step: Step) -> None:
        try:
            report = self._step(step)
        except Exception as error:  # a fault of ours or a full disk must end the run, not hang it
            why = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) else repr(error)
            report = StepReport(step.name, step.kind or "check", step.run, StepOutcome.FAILED, reason=why)
        with self._changed:
            self._done[step.name] = report._replace(cwd=step.cwd)
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
        name = file_name(step.name)
        log, scratch = self._logs / f"{name}.log", self._logs / f"{name}.evidence"
        scratch.mkdir(parents=True, exist_ok=True)
        env = {**self._env, **step.env, "GATE": "1"}
        env |= tools.environment(invocations, scratch, env=env, wrap=self._options.wrap)
        on_lines = self._options.on_lines
        ended = proc.run(
            [*self._options.wrap, *step.shell.split(), step.run], cwd=cwd, env=env, log=log, limit_s=step.limit_s,
            stop=self._stop, on_lines=None if on_lines is None else lambda lines: on_lines(step.name, lines),
        )  # fmt: skip
        evidence = Evidence()
        if ended.exit_code is not None and not ended.error:
            evidence = tools.read_evidence(
                invocations, log, scratch, exit_code=ended.exit_code, env=env, wrap=self._options.wrap, stop=self._stop
            )
            if step.evidence == "exit" and is_idle(step.run, cwd, root=root):
                evidence = evidence._replace(hollow=evidence.hollow or NOTHING)
        outcome, reason = settle(step, kind, ended, evidence)
        return StepReport(
            step.name, kind, step.run, outcome, ended.exit_code, round(ended.seconds, 3), evidence, tail(log), reason
        )


def file_name(step: str) -> str:
    """Return a file name of a step's own: two steps never share one, on file systems that ignore case either.

    A policy bounds names to 64 letters, digits and `-_.:`; what is not in `a-z0-9-_.` is written as %XX.
    """
    return "".join(c if c.islower() or c in "0123456789-_." else f"%{ord(c):02x}" for c in step)


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


def _kind(step: Step, root: Path) -> tuple[str, tuple[Invocation, ...]]:
    invocations = tools.recognise(step.run, root / step.cwd, root=root)
    return step.kind or tools.kind(invocations), invocations


def _touches(globs: Sequence[str], changed: Sequence[str]) -> bool:
    from gate.globs import matches  # noqa: PLC0415 only with --since

    return any(matches(path, glob) for glob in globs for path in changed)


def _report(
    policy: Policy, place: Place, verdict: Verdict, reason: str, steps: tuple[StepReport, ...],
    findings: Sequence[Finding] = (),
) -> Report:  # fmt: skip
    stamp = PolicyStamp(policy.source or None, policy.hash or None)
    return Report(verdict, reason, place.repository, place.base, place.head, stamp, steps, tuple(findings))


def stop_commands(env: Mapping[str, str]) -> tuple[str, str]:
    """Return what to print before and after steps so that their output cannot command a GitHub runner."""
    if env.get("GITHUB_ACTIONS") != "true":
        return "", ""
    token = os.urandom(16).hex()
    return f"::stop-commands::{token}", f"::{token}::"
