"""Formats that several test runners share: junit, TAP, and the JSON of jest."""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from gate.tools.tool import Counts, Ran, per_line, tally

_HEAD_BYTES = 1 << 16
_MOST_BYTES = 16 << 20
_TAP = per_line(r"^[ \t]*(?P<result>ok|not ok)\b(?P<rest>[^\n]*)")
_REPORTER = per_line(r"(?:^|=)(?:tap|tap-flat|json|json-stream|junit|xunit)$|^--json$")
_TAP_TOTAL = per_line(r"^[ \t]*# (tests|pass|fail) (\d+)$")
_SUITE = per_line(r"<testsuite [^>]*>")


def is_asked_to_print(ran: Ran) -> bool:
    """Return whether every invocation names a machine-readable reporter: other closing lines are not its own."""
    return all(any(_REPORTER.search(word) for word in invocation.words) for invocation in ran.invocations)


def read_printed(tool: str, ran: Ran) -> Counts | None:
    """Return what a runner's machine-readable output on the terminal or in `--outputFile` says."""
    for text in (*output_files(ran), ran.output):
        for reader in (_jest_json, _junit_text, _tap):
            found = reader(text)
            if found is not None:
                tests, skipped, failed = found
                return tally(tool, tests, skipped=skipped, failed=failed)
    return None


def read_junit_files(paths: Iterable[Path], *, since: float) -> tuple[int, int, int] | None:
    """Return executed, skipped and failed tests of the junit files that are new since then; None without one."""
    totals = [0, 0, 0]
    seen = False
    for path in paths:
        text = read_result(path, since=since, most_bytes=_HEAD_BYTES)
        suite = _SUITE.search(text or "")
        if suite is None:  # only the first is the runner's own: further down a test's output may hold others
            continue
        seen = True
        skipped = _attribute(suite[0], "skipped") + _attribute(suite[0], "ignored")
        totals[0] += _attribute(suite[0], "tests") - skipped
        totals[1] += skipped
        totals[2] += _attribute(suite[0], "failures") + _attribute(suite[0], "errors")
    return (totals[0], totals[1], totals[2]) if seen else None


def read_result(path: Path, *, since: float, most_bytes: int = _MOST_BYTES) -> str | None:
    """Return the beginning of a file that was written since then; None for an older one, and for what is no file."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe put there must not hold us up
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_mtime < since - 1:  # file systems keep coarse times
                return None
            return file.read(most_bytes).decode("utf-8", "replace")
    except OSError:
        return None


def output_files(ran: Ran) -> list[str]:
    """Return the texts of the result files that command lines name, as far as this run wrote them."""
    texts = (
        read_result(invocation.cwd / name, since=ran.since)
        for invocation in ran.invocations
        for name in _named_files(invocation.words)
    )
    return [text for text in texts if text is not None]


def _named_files(words: Sequence[str]) -> list[str]:
    names = []
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if re.match(r"--output-?[fF]ile(\.\w+)?$|--test-reporter-destination$", name):
            names.append(value if equals else "".join(words[i + 1 : i + 2]))
    return [name for name in names if name and not name.startswith("std")]


def _jest_json(text: str) -> tuple[int, int, int] | None:
    found = {}
    for key in ("Passed", "Failed", "Pending", "Todo"):
        values = re.findall(rf'"num{key}Tests":\s*(\d+)', text)
        if not values and key in {"Passed", "Failed"}:
            return None
        found[key] = int(values[-1]) if values else 0
    return found["Passed"] + found["Failed"], found["Pending"] + found["Todo"], found["Failed"]


def _junit_text(text: str) -> tuple[int, int, int] | None:
    suites = _SUITE.findall(text)
    if not suites:
        return None
    skipped = sum(_attribute(s, "skipped") for s in suites)
    failed = sum(_attribute(s, "failures") + _attribute(s, "errors") for s in suites)
    return sum(_attribute(s, "tests") for s in suites) - skipped, skipped, failed


def _tap(text: str) -> tuple[int, int, int] | None:
    if not re.search(r"^[ \t]*(TAP version \d+|1\.\.\d+)", text, re.MULTILINE):
        return None
    executed = skipped = failed = 0
    for match in _TAP.finditer(text):
        rest = match["rest"].rstrip()
        if rest.endswith("{"):  # a group: its tests follow
            continue
        if re.search(r"# (SKIP|TODO)\b", rest, re.IGNORECASE):
            skipped += 1
            continue
        executed += 1
        failed += match["result"] == "not ok"
    totals = {word: int(count) for word, count in _TAP_TOTAL.findall(text)}
    if "pass" in totals:  # the last word of the runner itself; tests may print lines of their own
        return totals["pass"] + totals.get("fail", 0), skipped, totals.get("fail", 0)
    return executed, skipped, failed


def _attribute(tag: str, name: str) -> int:
    match = re.search(rf'\b{name}="(\d+)"', tag)
    return int(match[1]) if match else 0
