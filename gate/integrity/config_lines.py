"""Configurations that are programs or XML, read by their lines: JavaScript, Gradle, Maven, PHPUnit."""

import re
from collections import Counter
from collections.abc import Iterator

from gate.integrity.change import File, error
from gate.integrity.config_values import LEVELS
from gate.integrity.options import covers
from gate.patterns import closable, later, opened, sub_closed
from gate.report import Finding

_NUMBER = later(
    r"\b(branches|functions|lines|statements|threshold|target|fail_under|minimum)['\"]?\s*[:=]\s*['\"]?(\d+(?:\.\d+)?)"
)
_RULE = later(r"""['"]([@\w/-]+)['"]\s*:\s*(?:\[\s*)?['"]?(off|warn|error|[012])\b""")
_SHARED = later(  # else a whole name, which is none and is not looked at again from its middle
    r"(\b[\w.]*\bconfigs?(?:\.[\w-]+|\[\s*['\"][^'\"]+['\"]\s*\])+|['\"](?:eslint:|plugin:|airbnb|standard|prettier|google|xo)[\w:/@-]*['\"])"
    r"|\b[\w.]++"
)
_ARRAY = later(
    r"""\b(include|files|testMatch|testRegex|roots|testDir|projects|spec|collectCoverageFrom)['"]?\s*[:=]\s*(\[[^\]]*\]|['"`][^'"`]*['"`])"""
)
_LEFT_OUT = later(r"""\b(?:globalI|i)gnores?\b['"]?\s*[:=(]|\b(?:exclude|excludes|ignorePatterns|\w*IgnorePatterns|testIgnore)\b\s*(?:['"]\s*)?[:=(]"""
                       r"""|\bexclude\s*['"]|<excludes?>|<exclude |<skip>\s*true|<haltOnFailure>\s*false""")  # fmt: skip
_FILTER = later(
    r"\b(?:grep|grepInvert|testNamePattern|shard|onlyChanged)\s*[:=]|\benabled\s*=\s*false|\bonlyIf\s*\{\s*false"
)
_STRICT = later(
    r"\b(forbidOnly|failOn\w+|failZero|strict\w*|reportUnusedDisableDirectives|beStrict\w+|maxWarnings|bailOnFailure)['\"]?\s*[:=]\s*['\"]?([^,}\s'\"]+)"
)
_DIRECTORY = later(r"<(?:directory|file)[^<>]*>([^<]+)<|<testsuite [^<>]*name=\"([^\"]+)\"")
_STRING = later(r"""['"`]([^'"`]+)['"`]""")
_COMMENT = r"""("(?:\\.|[^"\\\n])*+"|'(?:\\.|[^'\\\n])*+'|`(?:\\.|[^`\\\n])*+`|\\[\\"'`])|(?<![^\s,;{}()])(?://[^\n]*|/\*[^\n]*?\*/)|<!--[^\n]*?-->"""
_SHOWN = 160


def look_at_lines(file: File, *, before: str, now: str) -> Iterator[Finding]:
    """Yield what a text loosens against what stood there before."""
    yield from _thresholds(file, before, now)
    yield from _rules(file, before, now)
    yield from _patterns(file, before, now)
    yield from _switches(file, before, now)
    shared = _taken_over(now)
    for name in sorted((Counter(_taken_over(before)) - Counter(shared)).keys()):
        if not any(
            other.startswith(name.rpartition(".")[0]) and re.search(r"strict|all\b|type", other, re.I)
            for other in shared
        ):
            yield error("rule-off", f"{name} was taken over, now it is not", file.path, _line(now, "export"))
    directories = {m[1] or m[2] for m in _DIRECTORY.finditer(now)}
    for match in _DIRECTORY.finditer(before):
        name = match[1] or match[2]
        if name not in directories:
            yield error("source-excluded", f"{name} was looked at, now it is not", file.path, None)
    plain, had = _without_comments(now), _without_comments(before)
    left_out, filtered = _LEFT_OUT.search(before) is not None, len(_FILTER.findall(plain)) > len(_FILTER.findall(had))
    for number, line in File(file.path, had, plain).added():
        if _LEFT_OUT.search(line) and not re.match(r"\s*(?:\*|#)", line):
            if left_out and _is_in(line, before):
                continue
            yield error("source-excluded", f"more is left out than before: {line.strip()[:_SHOWN]}", file.path, number)
        elif filtered and _FILTER.search(line):
            yield error("source-excluded", f"what runs is filtered: {line.strip()[:_SHOWN]}", file.path, number)


def _without_comments(text: str) -> str:
    """Return text without comments that begin and end on one line; what might be a regular expression stays."""
    return "\n".join(sub_closed(_COMMENT, lambda match: match[1] or "", line) for line in text.split("\n"))


def _is_in(line: str, before: str) -> bool:
    """Return whether all that a line names stood there before."""
    names = set(_STRING.findall(line))
    return bool(names) and all(name in before for name in names)


def _taken_over(text: str) -> list[str]:
    return [name for name in _SHARED.findall(text) if name]


def _thresholds(file: File, before: str, now: str) -> Iterator[Finding]:
    had, have = dict[str, list[float]](), dict[str, list[float]]()
    for text, into in ((before, had), (now, have)):
        for match in _NUMBER.finditer(text):
            into.setdefault(match[1], []).append(float(match[2]))
    for name, values in had.items():
        left = have.get(name, [])
        if not left or min(left) < min(values):
            became = f"{min(left):g}" if left else "not set"
            yield error(
                "threshold-lowered", f"{name} was {min(values):g}, now it is {became}", file.path, _line(now, name)
            )


def _rules(file: File, before: str, now: str) -> Iterator[Finding]:
    had, have = dict[str, list[int]](), dict[str, list[int]]()
    for text, into in ((before, had), (now, have)):
        for match in _RULE.finditer(text):
            into.setdefault(match[1], []).append(LEVELS[match[2]])
    words = {0: "off", 1: "a warning", 2: "an error", -1: "not set"}
    for name in sorted(had.keys() | have.keys()):
        was, is_ = had.get(name, []), have.get(name, [])
        more_off = is_.count(0) > was.count(0)
        if more_off or max(is_, default=-1) < max(was, default=-1):
            became = words[0 if more_off else max(is_, default=-1)]
            message = f"{name} was {words[max(was, default=-1)]}, now it is {became}"
            yield error("rule-off", message, file.path, _line(now, name))


def _patterns(file: File, before: str, now: str) -> Iterator[Finding]:
    had, have = dict[str, list[str]](), dict[str, list[str]]()
    for text, into in ((before, had), (now, have)):
        for match in _ARRAY.finditer(closable(text)):
            into.setdefault(match[1], []).extend(_STRING.findall(opened(match[2])))
    for name, values in had.items():
        left = have.get(name, [])
        lost = [v for v in values if not any(covers(other, v) for other in left)]
        if lost and (left or name in ("testDir", "projects")):
            yield error("source-excluded", f"{name} was {values}, now it is {left}", file.path, _line(now, name))


def _switches(file: File, before: str, now: str) -> Iterator[Finding]:
    have = {m[1]: m[2] for m in _STRICT.finditer(now)}
    for match in _STRICT.finditer(before):
        name, value = match[1], match[2]
        if value not in ("false", "0") and have.get(name, "not set") in ("false", "0", "not set"):
            message = f"{name} was {value}, now it is {have.get(name, 'not set')}"
            yield error("check-loosened", message, file.path, _line(now, name))


def _line(text: str, word: str) -> int | None:
    at = text.find(word)
    return text.count("\n", 0, at) + 1 if at >= 0 else None
