"""What one moved value of a configuration loosens. Pure: a key, what it was, what it is."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

from gate.integrity.config_files import Key
from gate.integrity.options import covers, weakening
from gate.patterns import later

OUT = later(
    r"^(?:extend[_-])?(?:excludes?|ignores?|omit|skip|per[_-]file[_-]ignores|disable|deselect|(?i:ignore[_-]?patterns)"
    r"|\w*IgnorePatterns|testIgnore|disable_error_code|disabled_rules|exclude_lines|exclude_also|(?:exclude|skip)-(?:dirs|files|rules|functions)"
    r"|extend-ignore|force-exclude|Exclude|stages|ignore[_-]paths)$"
)
IN = later(
    r"^(?:include|files|select|extend[_-]select|testMatch|testRegex|roots|testpaths|collectCoverageFrom|packages|modules|source|spec"
    r"|members|default-members|projects|enable|extends|testDir|python_files|python_classes|python_functions|types)$"
)
DEFAULTS = {"python_files": ["test_*.py", "*_test.py"], "python_classes": ["Test"], "python_functions": ["test"]}
EVERYTHING_AT_FIRST = {"include", "files"}  # in a tsconfig, and files of a hook: left out, everything counts
LOOSE = later(
    r"^(?:ignore_errors|ignore_missing_imports|passWithNoTests|exit_zero|noCheck|allow_(?:untyped|redefinition|any)\w*|implicit_\w+"
    r"|allowOnly|dangerouslyIgnoreUnhandledErrors|informational|skip_missing_interpreters|allowEmpty|fix|forceExit|disable_all|no_site_packages)$"
)
STRICT = later(
    r"^(?:strict\w*|no(?!Emit|Lib|Resolve|Check|Error|Truncation|_site)[A-Z]\w*|exactOptionalPropertyTypes|useUnknownInCatchVariables|alwaysStrict|checkJs"
    r"|allowUnreachableCode|disallow_\w+|check_untyped_defs|warn_\w+|no_implicit_\w+|extra_checks|xfail_strict|xunit_strict|forbidOnly"
    r"|fail_on_\w+|failOn\w+|failZero|branch|[Ee]nabled|recommended|NewCops|tests|test|doctest|harness|show_error_codes_required)$"
)
FILTER = {"grep", "grepInvert", "testNamePattern", "testFilter", "shard", "onlyChanged", "only"}
THRESHOLD = later(
    r"^(?:fail[_-]under|branches|functions|lines|statements|thresholds?|minimum_coverage|coverage_threshold|target|minimum)$",
    re.IGNORECASE,
)
LEVELS: dict[object, int] = {
    "off": 0, "allow": 0, "none": 0, "0": 0, "ignore": 0, "info": 1, "information": 1, "hint": 1, "warn": 1, "warning": 1, "1": 1,
    "error": 2, "deny": 2, "2": 2, "forbid": 3, "basic": 1, "standard": 2, "strict": 3, "false": 0, "true": 2,
}  # fmt: skip
_UPGRADES = ("strict", "all", "type-checked", "recommended-type-checked", "strict-type-checked", "stylistic")


def moved(key: Key, was: Any, now: Any) -> tuple[str, str]:
    """Return the rule that a moved value breaks, and what of it is new or lost; ("", "") where it loosens nothing."""
    if not key:
        return "", ""
    for look in (_left_out, _narrowed, _lowered, _level, _switched, _command):
        found = look(key, was, now)
        if found[0]:
            return found
    return "", ""


def _left_out(key: Key, was: Any, now: Any) -> tuple[str, str]:
    name = key[-1]
    if not any(OUT.match(part) for part in key) or now in (None, False, "", [], 0) or name == "level":
        return "", ""
    fresh = [
        x
        for x in as_list(now)
        if not any(
            x == old or (isinstance(old, str) and isinstance(x, str) and _covers(name, old, x)) for old in as_list(was)
        )
    ]
    return ("source-excluded", f"; new: {shown(fresh)}") if fresh else ("", "")


def _narrowed(key: Key, was: Any, now: Any) -> tuple[str, str]:
    name = key[-1]
    if name in FILTER and now not in (None, False, "") and now != was:
        return "source-excluded", ""
    if not IN.match(name):
        return "", ""
    had, have = (
        as_list(was if was is not None else DEFAULTS.get(name)),
        as_list(now if now is not None else DEFAULTS.get(name)),
    )
    if was is None and name in EVERYTHING_AT_FIRST and now and "overrides" not in key and "linters" not in key:
        return "source-excluded", ""
    if now is None and name in EVERYTHING_AT_FIRST:
        return "", ""
    lost = [old for old in had if not any(_covers(name, str(new), str(old)) for new in have)]
    return ("source-excluded", f"; gone: {shown(lost)}") if lost else ("", "")


def _lowered(key: Key, was: Any, now: Any) -> tuple[str, str]:
    name = key[-1]
    before, after = number(was), number(now)
    if THRESHOLD.match(name) and before is not None and (after or 0.0) < before:
        return "threshold-lowered", ""
    if name == "issues-exit-code" and after == 0 and before != 0:
        return "check-loosened", ""
    return "", ""


def _level(key: Key, was: Any, now: Any) -> tuple[str, str]:
    """Rules with levels: eslint's, Cargo's lints, pyright's reports, and its mode."""
    name = key[-1]
    if not ({"rules", "lints"} & set(key) or re.match(r"report[A-Z]|typeCheckingMode$", name)):
        return "", ""
    before, after = _rank(was), _rank(now)
    if before is None:
        return ("rule-off", "") if after == 0 else ("", "")
    return ("rule-off", "") if (after if after is not None else 0) < before else ("", "")


def _switched(key: Key, was: Any, now: Any) -> tuple[str, str]:
    name = key[-1]
    if LOOSE.match(name) and _is_on(now) and not _is_on(was):
        return "check-loosened", ""
    if name == "follow_imports" and now in ("skip", "silent") and was != now:
        return "check-loosened", ""
    if name == "filterwarnings":
        gone = [x for x in as_list(was) if str(x).startswith("error") and x not in as_list(now)]
        return ("check-loosened", f"; gone: {shown(gone)}") if gone else ("", "")
    if STRICT.match(name) and not _is_on(now) and (_is_on(was) or (now is False and was is None)):
        return "check-loosened", ""
    return "", ""


def _command(key: Key, was: Any, now: Any) -> tuple[str, str]:
    """Options that a configuration gives to its tool, and commands of hooks."""
    name = key[-1]
    if name not in ("addopts", "args", "entry"):
        return "", ""
    before, after = _words(was), _words(now)
    if name == "entry":
        idle = after[:1] in (["true"], [":"], ["echo"], ["exit"], ["/bin/true"])
        return (
            ("check-loosened", "")
            if idle
            else ("step-narrowed", r)
            if (r := weakening("", before[1:], after[1:]))
            else ("", "")
        )
    reason = weakening("pytest" if name == "addopts" else "", before, after)
    return ("step-narrowed", f"; {reason}") if reason else ("", "")


def _words(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(word) for word in value]
    try:
        return shlex.split(str(value or ""))
    except ValueError:
        return str(value).split()


def _covers(name: str, wide: str, narrow: str) -> bool:
    if name in ("select", "extend-select", "enable"):
        return wide in ("ALL", "all") or narrow.startswith(wide)
    if name == "extends" and re.split(r"[/:]", wide)[:-1] == re.split(r"[/:]", narrow)[:-1]:
        return wide == narrow or wide.endswith(_UPGRADES)
    return covers(wide, narrow)


def _rank(value: Any) -> int | None:
    """Return a level's weight, None where the value is no level."""
    value = value[0] if isinstance(value, list) and value else value
    value = value.get("level") if isinstance(value, dict) else value
    return LEVELS.get(str(value).lower()) if isinstance(value, str | int | bool) else None


def _is_on(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.lower() in ("true", "error", "enable", "yes", "on", "1"))


def as_list(value: Any) -> list[Any]:
    """Return a value as a list: one thing, several, or none."""
    if isinstance(value, list):
        return value
    return [] if value is None or value is False or value == "" else [value]


def number(value: Any) -> float | None:
    """Return a number, also of "90%"."""
    try:
        return float(str(value).rstrip("%")) if not isinstance(value, bool) else None
    except ValueError:
        return None


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    return "not set" if value is None else repr(value)[:120]


def names(key: Sequence[str]) -> str:
    """Return a key as people write it."""
    return ".".join(key).replace(".[", "[")
