"""A mark counts where a check fails for it; how a run ended is told from its steps."""

from pathlib import Path

import pytest

from gate.attribution import Counts, Marks, colour, compare
from gate.formatters import is_formatter, without
from gate.policy import Step
from gate.report import Evidence, Report, StepOutcome, StepReport, Verdict
from gate.search import Colour

PASSED, FAILED, HOLLOW, TIMED_OUT = StepOutcome.PASSED, StepOutcome.FAILED, StepOutcome.HOLLOW, StepOutcome.TIMED_OUT


@pytest.mark.parametrize(
    ("text", "strong", "weak"),
    [
        ("a.py:1:1: F821 Undefined name `{a}`", {"a"}, set()),
        ("  1:1  warning  '{a}' is not defined  no-undef", set(), {"a"}),
        ("  1:1  warning  '{a}' is not defined\n  1:1  error  '{b}' is not defined", {"b"}, {"a"}),
        ("warning: unused\n  |\n5 | let {a} = 1\n  | ^^^\nerror[E0425]: no\n5 | {b}", {"b"}, {"a"}),
        ("warning: {a}\nNameError: name '{a}' is not defined", {"a"}, set()),
        ("\x1b[31mReferenceError\x1b[0m: f{a} of \x1b[1m{b}\x1b[0m", {"a", "b"}, set()),
        ("nothing, and cnry00zzzz is nobody's", set(), set()),
    ],
    ids=[
        "a plain line",
        "a warning",
        "each in its line",
        "lines of source below",
        "an error too",
        "colours",
        "nobody's",
    ],
)
def test_a_mark_in_nothing_but_warnings_is_told_apart(
    tmp_path: Path, text: str, strong: set[str], weak: set[str]
) -> None:
    marks = Marks("00")
    (tmp_path / "log").write_text(text.format(a=marks.of("a"), b=marks.of("b")))
    assert marks.printed(tmp_path / "log") == (strong, weak)


def test_marks_are_ten_letters_and_no_two_are_alike() -> None:
    marks = Marks("a1")
    made = {marks.of(str(number)) for number in range(3000)}
    assert (len(made), {len(mark) for mark in made}, marks.of("7") in made) == (3000, {10}, True)


def step(
    outcome: StepOutcome, *, code: int | None = 0, tests: int | None = None, files: int | None = None
) -> StepReport:
    return StepReport("a", "test", "x", outcome, code, evidence=Evidence("x", tests, files), reason="why")


@pytest.mark.parametrize(
    ("ended", "whole", "wanted"),
    [
        (step(PASSED, tests=3), Counts(tests=3), (Colour.GREEN, (), "")),
        (step(PASSED, tests=2), Counts(tests=3), (Colour.UNCLEAR, (), "a stayed green and executed 2 tests, where it executed 3 before")),
        (step(PASSED), Counts(tests=3), (Colour.UNCLEAR, (), "a stayed green and executed an unknown number of tests, where it executed 3 before")),
        (step(PASSED, files=9), Counts(), (Colour.GREEN, (), "")),
        (step(FAILED, code=1), Counts(), (Colour.RED, ("a",), "")),
        (step(FAILED, code=0), Counts(), (Colour.RED, ("a",), "")),
        (step(FAILED, code=137), Counts(), (Colour.UNCLEAR, (), "a: killed, as when memory is short")),
        (step(FAILED, code=-9), Counts(), (Colour.UNCLEAR, (), "a: why")),
        (step(FAILED, code=None), Counts(), (Colour.UNCLEAR, (), "a: why")),
        (step(TIMED_OUT, code=None), Counts(), (Colour.UNCLEAR, (), "a: why")),
        (step(HOLLOW), Counts(), (Colour.RED, ("a",), "")),
        (step(HOLLOW), Counts(hollow=True), (Colour.GREEN, (), "")),
    ],
)  # fmt: skip
def test_how_a_run_ended(ended: StepReport, whole: Counts, wanted: tuple[Colour, tuple[str, ...], str]) -> None:
    assert colour(Report(Verdict.RED, "", steps=(ended,)), {"a": whole}) == wanted


def test_files_that_are_compiled_anew_only_once_are_no_count_to_rely_on() -> None:
    first, second = (Report(Verdict.GREEN, "", steps=(step(PASSED, tests=2, files=n),)) for n in (5, None))
    assert compare(first, second) == ({"a": Counts(tests=2)}, "")


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("ruff format --check .", True), ("npx prettier --check .", True), ("black . && isort .", True), ("ruff check .", False),
        ("ruff check . && ruff format --check .", False), ("cargo fmt --check", True), ("cargo test", False), ("echo hello", False),
    ],
)  # fmt: skip
def test_a_step_of_formatters_alone_is_known(tmp_path: Path, command: str, wanted: bool) -> None:
    assert is_formatter(Step("a", command), tmp_path) is wanted


def test_what_needed_a_step_that_is_left_out_needs_what_that_needed() -> None:
    steps = (Step("a", "x"), Step("b", "x", needs=("a",)), Step("c", "x", needs=("b", "a")))
    assert without(steps, ["b"]) == (Step("a", "x"), Step("c", "x", needs=("a",)))
