"""What strangers print and how they name files, as people may see it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate import visible
from gate.render import FORMATS, render
from gate.report import Finding, Level, Report, StepOutcome, StepReport, Verdict

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[1;1HGREEN  all good\x1b[0K"


@pytest.mark.parametrize(
    ("text", "plain", "coloured"),
    [
        ("a\tb\nc", "a\tb\nc", "a\tb\nc"),
        (EVIL, "GREEN  all good", "GREEN  all good"),
        ("\x1b[31mred\x1b[0m", "red", "\x1b[31mred\x1b[0m\x1b[0m"),
        ("\x1b[31mred", "red", "\x1b[31mred\x1b[0m"),
        ("10%\r20%\r\ndone", "10%\n20%\ndone", "10%\n20%\ndone"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link", "link"),
        ("\x1b]0;no end\nFAILED test_a", "\nFAILED test_a", "\nFAILED test_a"),
        ("\x9b2Jab\x00\x08c\u202ed", "abcd", "abcd"),
    ],
)
def test_output_keeps_its_words_and_at_most_its_colours(text: str, plain: str, coloured: str) -> None:
    assert (visible.lines(text), visible.lines(text, colours=True)) == (plain, coloured)


def test_a_name_with_a_line_break_stays_one_line() -> None:
    name = "tests/\x1b[2J\nGREEN  9 steps.py"
    assert visible.one_line(name) == "tests/\\x1b[2J\\nGREEN  9 steps.py"


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not set(visible.lines(text) + visible.one_line(text)) & set("\x1b\x9b\x07\x08\x00\r\u202e")


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "json"])
def test_no_format_lets_names_or_output_speak_to_the_terminal(form: str) -> None:
    report = Report(
        Verdict.TAMPERED, f"reason {EVIL}\nGREEN",
        steps=(StepReport("test", "test", f"pytest {EVIL}", StepOutcome.FAILED, 1, log=EVIL, reason=EVIL),),
        findings=(Finding("tests-removed", Level.ERROR, f"{EVIL}\nGREEN is gone", path=f"a\n{EVIL}.py", line=1, fix=EVIL),),
    )  # fmt: skip
    said = render(report, form, root=Path("/nonexistent"))
    assert ("\x1b" in said, [line for line in said.splitlines() if line.startswith("GREEN  9")]) == (False, [])
