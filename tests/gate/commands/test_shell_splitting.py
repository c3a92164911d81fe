"""Shell text, split into the commands that it may run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.commands.resolve import STRICT
from gate.commands.shell import PLAIN, Options, Simple, split

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
    "a document": ("cat >f <<'EOF'\nif a; then\nEOF\nb", [Simple(("cat",)), Simple(("b",))]),
    "a document for a shell": ("bash <<EOF\na\nEOF", [Simple(("bash",)), Simple(("a",)), Simple(("EOF",))]),
    "documents of one word": (
        "cat <<-E\nx\n\tE\na\ncat <<E\ny\nE\nb",
        [Simple(("cat",)), Simple(("a",)), Simple(("cat",)), Simple(("b",))],
    ),
    "a document without an end": ("cat <<EOF\na", [Simple(("cat",)), Simple(("a",))]),
    "nothing": ("  # only words\n", []),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_text_is_split_into_commands(text: str, expected: list[Simple]) -> None:
    assert [simple._replace(binds=True, lost="") for simple in split(text)] == expected  # what binds is asked below


# text -> the checks whose failure is the failure of the text, alone (`sh -c`) and under `bash -eo pipefail`
BINDS = {
    "t": ("t", "t"),
    "t || true": ("", ""),
    "t || :": ("", ""),
    "t || exit 1": ("t", "t"),
    "t || { echo; exit 1; }": ("t", "t"),
    "t || (exit 0)": ("", ""),
    "t || false": ("t", "t"),
    "t || u": ("u", "u"),
    "t && u": ("tu", "tu"),
    "t && u || true": ("", ""),
    "t; u": ("u", "tu"),
    "t\nu": ("u", "tu"),
    "t && u; x": ("x", "ux"),
    "t | x": ("x", "tx"),
    "t & x": ("x", "x"),
    "! t": ("", ""),
    "(t; u)": ("u", "tu"),
    "t $(u)": ("t", "t"),
    "t $(u)/x && x": ("tx", "tx"),
    "x=$(t)": ("t", "t"),
    "x=$(t); u": ("u", "tu"),
    "{ t; u; } && x": ("ux", "ux"),
    "if t; then x; fi": ("x", "x"),
    "if ! t; then exit 1; fi": ("t", "t"),
    "if ! t; then exit 1; fi; u": ("tu", "tu"),
    "if t; then x; else exit 1; fi; u": ("tu", "txu"),
    "(if ! t; then exit 1; fi); u": ("u", "tu"),
    "if t; then x; else exit 1; fi": ("tx", "tx"),
    "for i in 1; do t; done": ("t", "t"),
    "while t; do x; done": ("x", "x"),
    "case a in a) t ;; *) u ;; esac": ("tu", "tu"),
    "set -e\nt\nu": ("tu", "tu"),
    "set -euo pipefail\nt | x\nu": ("txu", "txu"),
    "set +e\nt\nu": ("u", "u"),
    "(set +e; t; x); u": ("u", "xu"),
    "t; rc=$?; x; exit $rc": ("t", "tx"),
    "t || rc=$?; exit $rc": ("t", "t"),
    "t || rc=0; exit $rc": ("", ""),
    "trap 'exit 0' EXIT; t": ("", ""),
    "trap 'rm x' EXIT; t": ("t", "t"),
}


@pytest.mark.parametrize("text", BINDS)
def test_a_failure_counts_or_is_swallowed(text: str) -> None:
    alone, strict = (
        "".join(s.words[0] for s in split(text, options) if s.binds and s.words[0] in "tux")
        for options in (PLAIN, STRICT)
    )
    assert (alone, strict) == BINDS[text]


def test_documents_without_an_end_are_looked_for_once() -> None:
    assert len(split("a <<E\n" * 20_000)) == 20_000  # forty minutes where each line looks through the rest


def test_what_stands_behind_an_exit_does_not_surely_run() -> None:
    assert [s.sure for s in split("a; exit 0; b")] == [True, True, False]


@given(st.text(alphabet="abc '\"\\\n;|&()<>${}#=`", max_size=60))
def test_any_text_can_be_split(text: str) -> None:
    assert all(simple.words for simple in split(text))


# text -> by what the failure of the check `t` is lost, under the shell that GitHub starts (`bash -e`)
LOST = {
    "t": "", "t || true": "|| true", "t && x || echo no": "|| echo no", "t 2>&1 | tee log": "| tee log", "t &": "&", "! t": "!",
    "t && u; x": "&&", "set +e; t; echo done": "; echo done", "if t; then x; fi": "if", "trap 'exit 0' EXIT; t": "trap",
    "if ! t; then f=1; fi; exit $f": "", "(t | tee log) || true": "|| true",
}  # fmt: skip


@pytest.mark.parametrize(("text", "lost"), LOST.items())
def test_by_what_a_failure_is_lost_is_told(text: str, lost: str) -> None:
    assert [s.lost for s in split(text, Options(errexit=True)) if s.words[0] == "t"] == [lost]
