"""Run a policy's steps in a copy, over whole files and over broken ones, within a budget."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gate import run
from gate.attribution import Counts, Marks, colour, compare, named
from gate.canaries.canary import Level
from gate.candidates import Candidates
from gate.errors import Interrupted
from gate.formatters import is_formatter, without
from gate.policy import Policy, Step
from gate.report import Report, StepOutcome, Verdict
from gate.run import Options, Place, file_name
from gate.scratch.history import History
from gate.search import Colour, Ran

SLOWER = 4  # a broken step that takes so many times as long as a whole one hangs
LEAST_LIMIT_S = 20.0
_WORST_FIRST = (StepOutcome.FAILED, StepOutcome.TIMED_OUT, StepOutcome.HOLLOW)  # as the verdict judges them
TAIL_LINES = 15  # of a step that fails over whole files
Tell = Callable[[str], None]


class Subject(NamedTuple):
    """What is proved: the copy with its repository, the policy, the steps' environment, and a folder for outputs."""

    tree: Path
    history: History
    policy: Policy
    env: Mapping[str, str]
    logs: Path
    name: str | None = None
    jobs: int = 1


class Failed(Exception):
    """The proof cannot go on: why, and what a step said."""

    def __init__(self, why: str, *notes: str) -> None:
        super().__init__(why)
        self.notes = notes


class Trial:
    """Everything that runs steps; counts the runs, and keeps who was named in passing and which steps never failed."""

    def __init__(
        self, subject: Subject, candidates: Candidates, *, until: float, stop: threading.Event, tell: Tell
    ) -> None:
        self.runs = 0
        self.until = until
        self.passing = dict[str, set[str]]()  # file: steps that named it and did not fail for it
        self.layout = [s.name for s in subject.policy.steps if is_formatter(s, subject.tree)]
        self._subject, self._candidates, self._stop, self._tell = subject, candidates, stop, tell
        self._marks = Marks("")
        self._whole = dict[str, Counts]()
        self._took = dict[str, float]()
        self._failed = set[str]()
        self._passed_over = dict[str, int]()  # step: most files that were broken while it passed and others failed

    @property
    def blind(self) -> dict[str, int]:
        """Return the steps that never failed, with how many broken files they passed over while others failed."""
        return {step: count for step, count in self._passed_over.items() if step not in self._failed}

    def over_whole_files(self) -> None:
        """Run the steps twice over whole files. Raises Failed unless both runs are green and execute the same."""
        reports, said = [], b""
        for turn in ("first", "second"):
            report = self._run(self._subject.policy.steps)
            if report.verdict is not Verdict.GREEN:
                raise _not_green(report, turn)
            self._tell(f"whole files, {turn} time: green in {report.seconds:.1f} s; {report.reason}")
            said += b"".join(path.read_bytes() for path in self._subject.logs.glob("*.log"))
            reports.append(report)
        self._whole, differs = compare(*reports)
        if differs:
            raise Failed(f"over whole files the steps do not run the same twice, so no count tells anything: {differs}")
        self._marks = _fresh_marks(said)
        pairs = zip(reports[0].steps, reports[1].steps, strict=True)
        self._took = {one.name: max(one.seconds, two.seconds) for one, two in pairs}

    def over_broken(self, paths: Sequence[str], levels: Mapping[str, Level], *, at_least_s: float = 0.0) -> Ran | None:
        """Break files, run the steps, mend the files, and return what the steps said; None where no time is left."""
        left_s = max(self.until - time.monotonic(), at_least_s)
        if left_s <= 0:
            return None
        only_syntax = all(levels[path] is Level.SYNTAX for path in paths)
        steps = self._bounded(left_s, () if only_syntax else self.layout)
        for path in paths:
            broken = self._candidates.broken(path, levels[path], self._marks.of(path))
            if broken is not None:
                (self._subject.tree / path).write_bytes(broken.encode())
        self._subject.history.commit(paths)
        report = self._run(steps)
        ran = self._read(report, len(paths))
        if ran.colour is Colour.UNCLEAR and time.monotonic() >= self.until and not at_least_s:
            return None
        self._tell(_in_words(paths, ran, report.seconds))
        return ran

    def _read(self, report: Report, broken: int) -> Ran:
        how, red, why = colour(report, self._whole)
        logs = {s.name: self._subject.logs / f"{file_name(s.name)}.log" for s in report.steps}
        strong, weak = named(logs, red, self._marks)
        for path, steps in weak.items():
            self.passing.setdefault(path, set()).update(steps)
        self._failed.update(red)
        if how is Colour.RED:
            for step in report.steps:
                if step.outcome is StepOutcome.PASSED:
                    self._passed_over[step.name] = max(self._passed_over.get(step.name, 0), broken)
        return Ran(how, strong, red, why)

    def _run(self, steps: Sequence[Step]) -> Report:
        subject = self._subject
        if self._stop.is_set():
            raise Interrupted
        for path in subject.logs.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for cwd in {step.cwd for step in steps}:  # where pytest notes what failed, to run that first or alone
            shutil.rmtree(subject.tree / cwd / ".pytest_cache", ignore_errors=True)
        self.runs += 1
        report = run.run(
            subject.policy._replace(steps=tuple(steps)), Place(subject.tree, subject.name, None, None),
            Options(subject.jobs, logs=subject.logs), env=subject.env, stop=self._stop,
        )  # fmt: skip
        if self._stop.is_set():
            raise Interrupted
        subject.history.restore()  # what was broken, and what the steps themselves wrote
        return report

    def _bounded(self, left_s: float, left_out: Sequence[str]) -> tuple[Step, ...]:
        """Return the steps with a limit that tells a hanging one from one that works, and that keeps the budget."""
        return tuple(
            step._replace(limit_s=min(step.limit_s, left_s, max(LEAST_LIMIT_S, SLOWER * self._took[step.name])))
            for step in without(self._subject.policy.steps, left_out)
        )


def _fresh_marks(said: bytes) -> Marks:
    """Return marks that no output over whole files holds by chance. Raises Failed where it holds every one."""
    start = os.urandom(1)[0]
    tokens = (f"{(start + n) % 256:02x}" for n in range(256))
    token = next((token for token in tokens if f"cnry{token}".encode() not in said), None)
    if token is None:
        raise Failed("the steps print every mark by which a broken file is told, so nothing can be told from them")
    return Marks(token)


def _not_green(report: Report, turn: str) -> Failed:
    if report.verdict is Verdict.UNGATED:
        return Failed(report.reason)
    bad = next((s for outcome in _WORST_FIRST for s in report.steps if s.outcome is outcome), None)
    tail = "\n".join(bad.log.rstrip().splitlines()[-TAIL_LINES:]) if bad else ""
    return Failed(
        f"over whole files the gate is {report.verdict} the {turn} time: {report.reason}. Nothing can be told before "
        "that is mended; where `gate run` is green in the repository itself, the copy lacks something that is there",
        *([f"{bad.name} said at its end:\n{tail}"] if bad and tail else []),
    )


def _in_words(paths: Sequence[str], ran: Ran, seconds: float) -> str:
    what = paths[0] if len(paths) == 1 else f"{len(paths)} files"
    how = f"{ran.colour}, {len(ran.named)} named" if ran.colour is Colour.RED else str(ran.colour)
    return f"{what} broken: {how} in {seconds:.1f} s{f'; {ran.reason}' if ran.reason else ''}"
