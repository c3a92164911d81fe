"""node --test: its closing lines `tests 5 ... pass 2, fail 0`, as TAP (`# `) or spec (`ℹ `).

A file without any test is a passing test to node; such files are taken off. A test marked todo may fail without a
word in the exit code, so it does not count.
"""

import re
from collections.abc import Sequence

from gate.tools.formats import output_files, read_printed
from gate.tools.tool import PREFIX, Counts, Ran, closing_line, per_line, tally

NAME = "node --test"
KIND = "test"

_PARTS = ("passed", "failed", "cancelled", "skipped", "todo")
_LEAD = PREFIX[1:] + r"(?:#|ℹ|<!--) "
_CLOSING = per_line(
    r"^"
    + _LEAD
    + r"tests (?P<tests>\d+)[^\n]*\n(?:"
    + _LEAD
    + r"suites \d+[^\n]*\n)?"
    + _LEAD
    + r"pass (?P<passed>\d+)[^\n]*\n"
    + _LEAD
    + r"fail (?P<failed>\d+)[^\n]*\n(?:"
    + _LEAD
    + r"cancelled (?P<cancelled>\d+)[^\n]*\n)?"
    r"(?:" + _LEAD + r"skipped (?P<skipped>\d+)[^\n]*\n)?(?:" + _LEAD + r"todo (?P<todo>\d+))?"
)
_FILE = closing_line(r"(?:ok \d+ - |✔ |<testcase name=\")(?P<file>\S+\.[cm]?[jt]sx?)(?: \([\d.]+ms\)|\" [^\n]*/>)?$")


def matches(argv: Sequence[str]) -> bool:
    """Return whether node runs tests: with --test, or a test file by itself."""
    if argv[0] not in {"node", "nodejs", "tsx", "glob", "borp"}:
        return False
    if argv[0] == "borp" or "--test" in argv:
        return True
    words = [word for word in argv[1:] if not word.startswith("-")]
    if not words or "node_modules/" in words[0]:
        return False
    paths = [words[0], *(word for word in words[1:] if "," not in word and ("/" in word or word.endswith("s")))]
    return any(re.search(r"(^|[/.\-_])(test|spec)s?[/.\-_]", word) for word in paths)


def is_guess(argv: Sequence[str]) -> bool:
    """Return whether only the file's name speaks for a test."""
    return argv[0] != "borp" and "--test" not in argv


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed, without files that hold none."""
    lines = [m for text in output_files(ran) for m in _CLOSING.finditer(text)] or ran.closing(_CLOSING)
    if not lines:
        return read_printed(NAME, ran) or Counts()
    total = {
        key: sum(int(line[key] or 0) for line in lines) for key in ("passed", "failed", "cancelled", "skipped", "todo")
    }
    files = sum(1 for match in _FILE.finditer(ran.output) if "/" in match["file"] or "." in match["file"])
    failed = total["failed"] + total["cancelled"]
    tests = max(0, total["passed"] - files) + failed
    if not tests and files:
        return Counts(
            tests=0,
            skipped=total["skipped"],
            failed=0,
            hollow=f"node --test executed no test: {files} files without one",
        )
    return tally(NAME, tests, skipped=total["skipped"] + total["todo"], failed=failed)
