"""Claims: what is read from prose, and when two of them meet. A wrong "disjoint" is the error that must not happen."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tickets.claims import WHOLE, claim, covers, meet, normalise, overlap, read_claim, widen


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param("Paths: src/a.py, docs/", ("docs/", "src/a.py"), id="a line"),
        pytest.param(
            "**Files:** `src/a b.py` and `x/*.ts`", ("src/a b.py", "x/*.ts"), id="names in backquotes may hold blanks"
        ),
        pytest.param(
            "## Paths\n\n- src/api/\n- [ ] `lib/x.py`\n\nother text",
            ("lib/x.py", "src/api/"),
            id="a list under a heading",
        ),
        pytest.param("### Files\n\nsrc/a.py\n\n### Why\n\nbecause", ("src/a.py",), id="an issue form's field"),
        pytest.param("Fix the cart in src/cart.py", WHOLE, id="prose names nothing"),
        pytest.param("```\nPaths: src/a.py\n```", WHOLE, id="a code block is no claim"),
        pytest.param("Paths: ../other/a.py", WHOLE, id="outside the repository"),
        pytest.param("Paths: /etc/passwd", WHOLE, id="absolute"),
        pytest.param("Paths: src/a.py, C:\\x", WHOLE, id="one that is not understood makes it everything"),
        pytest.param("Paths: ./src//a.py, src/b/../c.py", ("src/a.py", "src/c.py"), id="many forms of one path"),
        pytest.param("Paths: .", WHOLE, id="the root"),
        pytest.param("Paths: src and docs & lib", ("docs", "lib", "src"), id="folders in a row"),
        pytest.param("Files: the usual ones", WHOLE, id="words are no paths"),
        pytest.param("Files: src/a.py (and maybe docs)", WHOLE, id="a remark"),
        pytest.param("Files: src/a.py; lib/b.py", WHOLE, id="a semicolon"),
        pytest.param("Files: src/**.py", ("src/**",), id="a double star inside of a name"),
        pytest.param("Files: **/**", WHOLE, id="everything by another name"),
        pytest.param(
            "Files: src/\u202ea.py", ("src/\u202ea.py",), id="a name with a control of direction is one of its own"
        ),
        pytest.param("", WHOLE, id="nothing"),
    ],
)
def test_a_claim_is_read_from_an_issue(text: str, paths: tuple[str, ...]) -> None:
    assert read_claim(text) == paths


@pytest.mark.parametrize(
    ("a", "b", "met"),
    [
        ("src/a.py", "src/a.py", True),
        ("src", "src/a.py", True),
        ("src/", "src/deep/a.py", True),
        ("src/a.py", "src/b.py", False),
        ("src/a", "src/ab", False),
        ("Src/A.py", "src/a.PY", True),
        ("caf\u00e9", "cafe\u0301", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a.ts", False),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/deep/er/a.py", True),
        ("src/**", "lib/a.py", False),
        ("**/*.md", "docs/a.md", True),
        ("a*", "*b", True),
        ("a?c/x", "abc", True),
        ("**", "anything", True),
        ("STRASSE/a", "stra\u00dfe/a", True),
        ("\ufb01le.py", "file.py", True),
        ("src/*/b.py", "src/a/*.py", True),
        ("src/*/b.py", "src/a/c.py", False),
        ("**/b", "a/**", True),
        ("a/**/z", "a/b/c/z/deep", True),
    ],
)
def test_two_paths_meet_or_do_not(a: str, b: str, met: bool) -> None:
    assert (meet(a, b), meet(b, a)) == (met, met)


def test_patterns_and_depths_that_are_meant_to_take_for_ever_do_not() -> None:
    evil, other = "/".join(["**", "a"] * 15) + "/x", "/".join(["a", "**"] * 15) + "/y"
    assert (meet(evil, other), covers([evil], "/".join(["a"] * 60)), claim(["a/" * 2000])) == (True, False, WHOLE)
    assert (claim(["*a" * 40]), claim([f"{n}*" for n in range(40)])) == (WHOLE, WHOLE)
    assert (covers(["a"], "/".join(["a"] * 1500)), covers(["**"], "/".join(["a"] * 1500))) == (False, True)


PATHS = st.lists(st.sampled_from(["a", "b", "A", "*", "a*", "?", "**", "*b"]), min_size=1, max_size=3).map("/".join)


@given(PATHS, PATHS)
def test_meeting_is_symmetric(a: str, b: str) -> None:
    assert meet(a, b) == meet(b, a)


@given(PATHS)
def test_a_path_meets_itself(a: str) -> None:
    assert meet(a, a)


def _matches(pattern: str, path: str) -> bool:
    """A slow and plain reading of what a pattern claims: what it matches, and all below."""
    parts = [
        "(?:.+/)?" if p == "**" else re.escape(p).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") + "/"
        for p in pattern.split("/")
    ]
    regex = "".join(parts)
    return any(
        re.fullmatch(regex.rstrip("/") if not regex.endswith("?") else regex + ".*", prefix, re.I)
        or re.fullmatch(regex, prefix + "/", re.I)
        for prefix in _prefixes(path)
    )


def _prefixes(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]


FILES = ["/".join(parts) for n in (1, 2, 3) for parts in itertools.product(["a", "b", "ab"], repeat=n)]


@given(PATHS, PATHS)
def test_two_claims_that_match_one_file_are_never_called_disjoint(a: str, b: str) -> None:
    if any(_matches(a, file) and _matches(b, file) for file in FILES):
        assert meet(a, b)


@given(st.text(max_size=40))
def test_any_text_has_a_claim_and_one_form(text: str) -> None:
    found = read_claim(f"Paths: {text}")
    assert claim(found) == found
    assert all(normalise(path) == path for path in found)


def test_a_manifest_takes_its_lockfile_along_and_migrations_their_folder() -> None:
    assert "db/migrations/" in widen(["web/package.json", "db/migrations/0007_x.sql"])
    assert {"web/package-lock.json", "package-lock.json"} <= set(widen(["web/package.json"]))


def test_a_link_takes_its_target_along() -> None:
    assert widen(["docs/a.md"], links=[("docs", "site/docs")]) == ("docs/a.md", "site/docs")


def test_shared_paths_belong_to_every_claim() -> None:
    assert overlap(widen(["a.py"], shared=["CHANGELOG.md"]), widen(["b.py"], shared=["CHANGELOG.md"])) == (
        "CHANGELOG.md",
        "CHANGELOG.md",
    )


@pytest.mark.parametrize(
    ("paths", "file", "inside"),
    [
        (["src/"], "src/a/b.py", True),
        (["src/*.py"], "src/a.py", True),
        (["src/*.py"], "lib/a.py", False),
        (["**"], "x", True),
    ],
)
def test_a_touched_file_is_inside_a_claim_or_not(paths: list[str], file: str, inside: bool) -> None:
    assert covers(paths, file) == inside
