"""Weakening in a tool's configuration: sources excluded, rules switched off, thresholds lowered, strictness gone."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as IniError
from typing import Any

from gate.globs import matches
from gate.integrity.change import Change, File, error
from gate.policy import Policy
from gate.report import Finding

JSON = ("**/tsconfig*.json", "**/jsconfig*.json", "**/.eslintrc", "**/.eslintrc.json", "**/biome.json*", "**/package.json",
        "**/.nycrc*", "**/.mocharc.json", "**/jest.config.json", "**/pyrightconfig.json", "**/turbo.json")  # fmt: skip
TOML = ("**/pyproject.toml", "**/ruff.toml", "**/.ruff.toml", "**/Cargo.toml", "**/.coveragerc.toml", "**/clippy.toml")
INI = (
    "**/setup.cfg",
    "**/mypy.ini",
    "**/.mypy.ini",
    "**/pytest.ini",
    "**/tox.ini",
    "**/.coveragerc",
    "**/.flake8",
    "**/.pylintrc",
)
LINES = ("**/eslint.config.*", "**/.eslintrc.[jcy]*", "**/.eslintrc.js", "**/.eslintrc.cjs", "**/.eslintrc.yml", "**/.eslintrc.yaml",
         "**/jest.config.*", "**/vitest.config.*", "**/vite.config.*", "**/playwright.config.*",
         "**/.golangci.yml", "**/.golangci.yaml", "**/.rubocop.yml", "**/phpunit.xml*", "**/codecov.yml", "**/.codecov.yml")  # fmt: skip
IGNORES = ("**/.eslintignore", "**/.prettierignore", "**/.biomeignore", "**/.flake8ignore")
OUT = re.compile(
    r"(?:^|[._-])(?:extend[_-])?(?:exclude|excludes|ignore|ignores|omit|skip|per[_-]file[_-]ignores|disable|deselect|"
    r"ignore[_-]?patterns|testPathIgnorePatterns|coveragePathIgnorePatterns|modulePathIgnorePatterns|norecursedirs|"
    r"disable_error_code|exclude_lines|exclude_also)$",
    re.IGNORECASE,
)
IN = re.compile(
    r"(?:^|\.)(?:include|files|select|extend[_-]select|testMatch|roots|testpaths|collectCoverageFrom|packages)$",
    re.IGNORECASE,
)
LOOSE = re.compile(
    r"(?:^|\.)(?:ignore_errors|ignore_missing_imports|skipLibCheck|passWithNoTests|noEmitOnError|allowJs|exit_zero|follow_imports)$"
)
STRICT = re.compile(
    r"(?:^|\.)(?:strict\w*|no[A-Z]\w*|disallow_\w+|check_untyped_defs|warn_\w+|no_implicit_\w+|xfail_strict|"
    r"forbidOnly|filterwarnings|fail_on_\w+|failOn\w+)$"
)
THRESHOLD = re.compile(
    r"(?:^|[._])(?:fail_under|fail-under|branches|functions|lines|statements|threshold|minimum_coverage|"
    r"coverage_threshold|check-coverage)$",
    re.IGNORECASE,
)
_LINE_THRESHOLD = re.compile(
    r"\b(branches|functions|lines|statements|threshold|target|fail_under)['\"]?\s*[:=]\s*['\"]?(\d+(?:\.\d+)?)"
)
_LINE_OUT = re.compile(
    r"\b(?:exclude|excludes|ignore|ignores|ignorePatterns|testPathIgnorePatterns|coveragePathIgnorePatterns|testIgnore)\b\s*['\"]?\s*[:=(]"
)
_LINE_OFF = re.compile(r"""['"][\w@/-]+['"]\s*:\s*(?:['"]off['"]|0\b|\[\s*['"]off['"])""")
_RULE_OFF = frozenset({"off", 0, "0"})


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield what each changed configuration loosens."""
    del policy
    for file in change.files:
        if file.before is None and not any(matches(file.path, g) for g in IGNORES):
            continue
        if _is(file, JSON):
            yield from _values(file, _json(file.before), _json(file.now))
        elif _is(file, TOML):
            yield from _values(file, _toml(file.before), _toml(file.now))
        elif _is(file, INI):
            yield from _values(file, _ini(file.before), _ini(file.now))
        elif _is(file, LINES):
            yield from _lines(file)
        elif _is(file, IGNORES):
            for number, line in file.added():
                if not line.lstrip().startswith("#"):
                    yield error("source-excluded", f"no longer looked at: {line.strip()}", file.path, number)


def _is(file: File, globs: tuple[str, ...]) -> bool:
    return any(matches(file.path, glob) for glob in globs)


def _values(file: File, before: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> Iterator[Finding]:
    if before is None or not before:
        return
    if file.now is None:
        yield error("config-removed", "the configuration was there, now it is not", file.path)
        return
    if now is None:
        return  # the tool itself fails on what cannot be parsed
    was, is_ = dict(_flat(before)), dict(_flat(now))
    for key in sorted(was.keys() | is_.keys()):
        if was.get(key) != is_.get(key):
            yield from _moved(file, key, was.get(key), is_.get(key))


def _moved(file: File, key: str, was: Any, now: Any) -> Iterator[Finding]:
    line = _find(file.now or "", key)
    said = f"{key} was {_shown(was)}, now it is {_shown(now)}"
    if OUT.search(key) and isinstance(now, list | str | bool | dict):
        more = [x for x in _list(now) if x not in _list(was)]
        if more:
            yield error("source-excluded", f"{said}; new: {_shown(more)}", file.path, line)
    elif IN.search(key) and isinstance(was, list) and [x for x in was if x not in _list(now)]:
        if now is not None or not key.endswith(("include", "files")):
            yield error("source-excluded", said, file.path, line)
    elif THRESHOLD.search(key) and _number(was) is not None and (_number(now) or 0.0) < (_number(was) or 0.0):
        yield error("threshold-lowered", said, file.path, line)
    elif (LOOSE.search(key) and now in (True, "true", "True", "skip", "silent") and was != now) or (
        STRICT.search(key) and was in (True, "true", "True", "error") and now != was
    ):
        yield error("check-loosened", said, file.path, line)
    elif ".rules." in f".{key}" and now in _RULE_OFF and was not in _RULE_OFF and was is not None:
        yield error("rule-off", said, file.path, line)


def _lines(file: File) -> Iterator[Finding]:
    if file.now is None:
        yield error("config-removed", "the configuration was there, now it is not", file.path)
        return
    before = {m[1]: float(m[2]) for m in _LINE_THRESHOLD.finditer(file.before or "")}
    for number, line in file.added():
        for match in _LINE_THRESHOLD.finditer(line):
            if float(match[2]) < before.get(match[1], 0.0):
                message = f"{match[1]} was {before[match[1]]:g}, now it is {match[2]}"
                yield error("threshold-lowered", message, file.path, number)
        if _LINE_OUT.search(line):
            yield error("source-excluded", f"more is left out than before: {line.strip()[:160]}", file.path, number)
        elif _LINE_OFF.search(line):
            yield error("rule-off", f"a rule is switched off: {line.strip()[:160]}", file.path, number)


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, value


def _json(text: str | None) -> Mapping[str, Any] | None:
    """Read JSON as tools do: with comments and trailing commas."""
    if text is None:
        return None
    bare = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*[\s\S]*?\*/', lambda m: m[1] or "", text)
    bare = re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda m: m[1] or "", bare)
    try:
        found = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _toml(text: str | None) -> Mapping[str, Any] | None:
    try:
        return None if text is None else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeError, RecursionError):
        return None


def _ini(text: str | None) -> Mapping[str, Any] | None:
    if text is None:
        return None
    parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except IniError:
        return None
    return {section: {key: _lists(value) for key, value in parser[section].items()} for section in parser.sections()}


def _lists(value: str | None) -> Any:
    parts = [part.strip() for part in re.split(r"[\n,]", value or "") if part.strip()]
    return parts if len(parts) > 1 or "\n" in (value or "") else (value or "").strip()


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value is None or value is False or value == "" else [value]


def _number(value: Any) -> float | None:
    try:
        return float(value) if not isinstance(value, bool) else None
    except (TypeError, ValueError):
        return None


def _shown(value: Any) -> str:
    return "not set" if value is None else repr(value)[:120]


def _find(text: str, key: str) -> int | None:
    last = key.rpartition(".")[2]
    return next((n for n, line in enumerate(text.splitlines(), 1) if last in line), None)
