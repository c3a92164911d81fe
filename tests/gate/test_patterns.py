"""Regular expressions that are compiled late."""

import re

import pytest

from gate.patterns import later


def test_a_late_pattern_finds_what_a_compiled_one_finds() -> None:
    assert later("a(b)", re.IGNORECASE).findall("ab AB") == ["b", "B"]


def test_a_wrong_pattern_is_an_error_when_it_is_used() -> None:
    wrong = later("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        wrong.search("")
