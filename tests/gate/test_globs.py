"""Path patterns: what fits them."""

import pytest

from gate.globs import matches, matches_one


@pytest.mark.parametrize(
    ("path", "glob", "fits"),
    [
        ("a/b.py", "a/b.py", True), ("a/b.py", "./a/b.py", True), ("a/b.py", "a", True), ("ab/c", "a", False),
        ("a/b.py", "b.py", False), ("a/b.py", "**/b.py", True), ("b.py", "**/b.py", True), ("b.py/c", "**/b.py", True),
        ("a/bb.py", "**/b.py", False), ("x/a/b/y", "**/a/b", True), ("a/b", "a/", True), ("a", "a/", False),
        ("a/b.py", "a/*.py", True), ("a/b/c.py", "a/*.py", False), ("a/b/c.py", "a/**.py", True), ("a.b", "a?b", True),
        ("a/x/b", "a/**/b", True), ("a/b", "a/**/b", True), ("a+b", "a+b", True), ("aab", "a+b", False),
        ("a\nb", "a\nb", True), ("x/c.d", "**/**/c.d", True), ("", "", True), ("a", "", False),
    ],
)  # fmt: skip
def test_a_path_fits_a_pattern_or_lies_below_what_does(path: str, glob: str, fits: bool) -> None:
    assert (matches(path, glob), matches_one(path, ("no/such", glob))) == (fits, fits)
