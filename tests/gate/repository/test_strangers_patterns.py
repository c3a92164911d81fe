"""Regular expressions of strangers: found where that is quick, left unsaid where it may take for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.repository.patterns import searches


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"(/__tests__/.*|(\.|/)(test|spec))\.[jt]sx?$", "/R/src/__tests__/a.js", True),
        (r"(/__tests__/.*|(\.|/)(test|spec))\.[jt]sx?$", "/R/src/a.js", False),
        (r"^(a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p)/", "p/x.py", True),
        (r"(?<name>x)\.ts", "x.ts", True),
        (r"[(+*]a\)+", "*a))", True),
        ("(", "(", None),
        ("[[", "[", None),
        ("(" * 900 + "x" + ")" * 900, "x", None),
        ("(a+)+$", "aaaa", None),
        ("(a|aa)+$", "aaaa", None),
        ("(?:x.*){4,}y", "xxxx", None),
        (".*" * 12 + "x", "a" * 60, None),
        ("(a|a)" * 30 + "b", "a" * 30, None),
        ("a?" * 30 + "a" * 30, "a" * 30, None),
        (".*x.*y", "a" * 4000, None),
        ("x" * 3000, "x", None),
    ],
)
def test_a_search_says_what_it_found_or_that_it_cannot_be_said(pattern: str, text: str, found: bool | None) -> None:
    assert searches(pattern, text) is found


def test_capitals_can_be_taken_for_small_letters() -> None:
    assert searches("SPEC", "a.spec.ts", ignore_case=True) is True


@given(st.text(r"ab()|*+?{}[]\.^$2,", max_size=60))
def test_no_pattern_takes_long_or_raises(pattern: str) -> None:
    assert searches(pattern, "ab" * 40) in (True, False, None)
