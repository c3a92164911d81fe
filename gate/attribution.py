"""Read a run over broken files: how it ended against the whole files, and whose marks the failing steps printed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gate.report import Report, StepOutcome, StepReport
from gate.search import Colour

MARK_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LINE_BYTES = 1 << 16  # of a line that are read at once
_ESCAPES = re.compile(rb"\x1b\[[0-9;:]*[A-Za-z]")
_ERROR = re.compile(rb"error|fail|fatal|panic|exception", re.IGNORECASE)
_WARNING = re.compile(rb"\bwarn(?:ing)?\b|warning\b", re.IGNORECASE)
_FRAME = re.compile(rb"\s*(?:\d+\s*)?[|:=>-]")  # a line of source that a tool shows below what it says
# exit codes of a shell whose child was killed, or was not there to be started
_KILLED = {128 + 9: "killed, as when memory is short", 128 + 15: "terminated", 126: "a program cannot be run"}


class Marks:
    """Words that are unique to files: ten letters, since some readers quote no more of a text."""

    def __init__(self, token: str) -> None:
        self._start = f"cnry{token}"
        self._by_path = dict[str, str]()
        self._by_mark = dict[str, str]()
        self._pattern = re.compile(rb"%s[0-9a-z]{4}" % self._start.encode())

    def of(self, path: str) -> str:
        """Return the mark of a file, the same at every call."""
        if path not in self._by_path:
            number, letters = len(self._by_path), ""
            for _ in range(4):
                number, digit = divmod(number, len(MARK_LETTERS))
                letters = MARK_LETTERS[digit] + letters
            self._by_path[path] = mark = self._start + letters
            self._by_mark[mark] = path
        return self._by_path[path]

    def printed(self, log: Path) -> tuple[set[str], set[str]]:
        """Return the files whose marks an output holds: in an error or in plain words, and in nothing but warnings."""
        strong, weak, warns = set[str](), set[str](), False
        for line in _lines(log):
            if _ERROR.search(line):
                warns = False
            elif _WARNING.search(line):
                warns = True
            elif not _FRAME.match(line):
                warns = False
            found = {self._by_mark[m.decode()] for m in self._pattern.findall(line) if m.decode() in self._by_mark}
            (weak if warns else strong).update(found)
        return strong, weak - strong


def _lines(log: Path) -> Iterator[bytes]:
    try:
        with log.open("rb") as file:
            while line := file.readline(_LINE_BYTES):
                yield _ESCAPES.sub(b"", line)
    except FileNotFoundError:  # of a step that did not run
        return


class Counts(NamedTuple):
    """What a step executed over whole files, as far as both runs agree; None is "not known"."""

    tests: int | None = None
    files: int | None = None
    hollow: bool = False  # which a waiver allows


def compare(first: Report, second: Report) -> tuple[dict[str, Counts], str]:
    """Return what the steps execute, and what keeps two runs over the same files from being the same; pure.

    Files may differ: what is compiled anew the first time is not compiled the second.
    """
    counts = dict[str, Counts]()
    for one, two in zip(first.steps, second.steps, strict=True):
        a, b = one.evidence, two.evidence
        if a.tests != b.tests:
            return {}, f"{one.name} executed {_number(a.tests)} tests, and {_number(b.tests)} the second time"
        counts[one.name] = Counts(a.tests, a.files if a.files == b.files else None, one.outcome is StepOutcome.HOLLOW)
    return counts, ""


def colour(report: Report, whole: Mapping[str, Counts]) -> tuple[Colour, tuple[str, ...], str]:
    """Return how a run ended, the steps that failed as checks fail, and why it is unclear; pure."""
    red = tuple(step.name for step in report.steps if _failed(step, whole.get(step.name, Counts())))
    if red:
        return Colour.RED, red, ""
    for step in report.steps:
        if step.outcome in (StepOutcome.TIMED_OUT, StepOutcome.FAILED):
            why = _KILLED.get(step.exit_code or 0) or step.reason
            return Colour.UNCLEAR, (), f"{step.name}: {why}"
    for step in report.steps:
        if why := _executed_less(step, whole.get(step.name, Counts())):
            return Colour.UNCLEAR, (), why
    return Colour.GREEN, (), ""


def _failed(step: StepReport, whole: Counts) -> bool:
    """Return whether a step failed by its own judgement: one that became hollow counts, for the gate fails then."""
    if step.outcome is StepOutcome.HOLLOW:
        return not whole.hollow
    code = step.exit_code
    return step.outcome is StepOutcome.FAILED and code is not None and code >= 0 and code not in _KILLED


def _executed_less(step: StepReport, whole: Counts) -> str:
    for what in ("tests", "files"):
        before, now = getattr(whole, what), getattr(step.evidence, what)
        if before is not None and now != before:
            return f"{step.name} stayed green and executed {_number(now)} {what}, where it executed {before} before"
    return ""


def _number(count: int | None) -> str:
    return "an unknown number of" if count is None else str(count)


def named(
    logs: Mapping[str, Path], red: Sequence[str], marks: Marks
) -> tuple[dict[str, tuple[str, ...]], dict[str, set[str]]]:
    """Return the files that failing steps named, by which, and those that other steps named or only warned of."""
    strong, weak = dict[str, tuple[str, ...]](), dict[str, set[str]]()
    for step, log in logs.items():
        errors, warnings = marks.printed(log)
        for path in errors if step in red else ():
            strong[path] = (*strong.get(path, ()), step)
        for path in warnings if step in red else errors | warnings:
            weak.setdefault(path, set()).add(step)
    return strong, weak


def tally(paths: Iterable[Sequence[str]]) -> str:
    """Return how often each step is named, the most often first: `lint 38, test 12`."""
    found = dict[str, int]()
    for steps in paths:
        for step in steps:
            found[step] = found.get(step, 0) + 1
    return ", ".join(f"{step} {count}" for step, count in sorted(found.items(), key=lambda item: (-item[1], item[0])))
