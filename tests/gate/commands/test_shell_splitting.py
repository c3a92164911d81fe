"""Shell text, split into the commands that it may run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.commands.shell import Simple, split

CASES = {
    "one": ("pytest -q", [Simple(("pytest", "-q"))]),
    "a list": ("a && b; c", [Simple(("a",)), Simple(("b",)), Simple(("c",))]),
    "an alternative": ("a || b; c", [Simple(("a",)), Simple(("b",), sure=False), Simple(("c",))]),
    "a pipe": ("a 2>&1 | tee log", [Simple(("a",)), Simple(("tee", "log"))]),
    "redirections": ("a <in >out 2> err b &> all", [Simple(("a", "b"))]),
    "lines": ("a\n  # b\nc # d\ne \\\n f", [Simple(("a",)), Simple(("c",)), Simple(("e", "f"))]),
    "quotes": ("a 'b && c' \"d;e\" f\\ g", [Simple(("a", "b && c", "d;e", "f g"))]),
    "quoted lines": ("bash -c 'a\nb'", [Simple(("bash", "-c", "a\nb"))]),
    "assignments": ("A=1 B='x y' c; D=2", [Simple(("c",), (("A", "1"), ("B", "x y")))]),
    "a subshell": ("(cd a && b); c", [Simple(("cd", "a"), depth=1), Simple(("b",), depth=1), Simple(("c",))]),
    "a condition": (
        "if a; then b; else c; fi; d",
        [Simple(("a",)), Simple(("b",), sure=False), Simple(("c",), sure=False), Simple(("d",))],
    ),
    "a loop": ("for x in 1 2; do a; done && b", [Simple(("a",), sure=False), Simple(("b",))]),
    "a group": ("{ a; } && ! b", [Simple(("a",)), Simple(("b",))]),
    "an open quote": ("a; b 'c", [Simple(("a",)), Simple(("b",))]),
    "nothing": ("  # only words\n", []),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_text_is_split_into_commands(text: str, expected: list[Simple]) -> None:
    assert split(text) == expected


@given(st.text(alphabet="abc '\"\\\n;|&()<>${}#=`", max_size=60))
def test_any_text_can_be_split(text: str) -> None:
    assert all(simple.words for simple in split(text))
