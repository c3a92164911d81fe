"""Tests that are still there and no longer selected, by a setting of their runner that was not there before.

What only moved is compared by `configs`; a first `testpaths` or a first jest.config.js narrows or not, depending on
which tests there are. Those of the base that still exist are laid beside it.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch

from gate import git
from gate.integrity.cases import IS_TEST
from gate.integrity.change import Change, File, error
from gate.integrity.config_files import read_ini, read_toml
from gate.integrity.options import covers
from gate.integrity.settings import JAVASCRIPT, read_javascript
from gate.patterns import later
from gate.policy import Policy
from gate.report import Finding

PYTEST = {
    "pytest.toml": ("pytest",), ".pytest.toml": ("pytest",), "pytest.ini": ("pytest",), ".pytest.ini": ("pytest",),
    "pyproject.toml": ("tool", "pytest", "ini_options"), "tox.ini": ("pytest",), "setup.cfg": ("tool:pytest",),
}  # fmt: skip
_NAMES = ("testNamePattern", "grep", "fgrep", "grepInvert", "shard", "related", "changed", "onlyChanged")
_INSIDE = ("include", "testMatch", "spec", "testRegex")  # patterns of files
_FOLDERS = ("dir", "testDir", "roots", "rootDir")
_OUTSIDE = ("exclude", "ignore", "testIgnore", "testPathIgnorePatterns", "modulePathIgnorePatterns")
_SCRIPT = later(r"\.[cm]?[jt]sx?$")
_START = later(r"^(?:<rootDir>)?(?:\.?/)?")
_SHOWN = 5


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield each new setting by which a runner leaves out tests that it ran before."""
    del policy
    configs = [f for f in change.files if f.now is not None and (_name(f) in PYTEST or JAVASCRIPT.search(_name(f)))]
    if not configs:
        return
    listed = git.ask(change.root, "ls-tree", "-r", "-z", "--name-only", change.base).out.decode("utf-8", "replace")
    tests = [p for p in listed.split("\0") if IS_TEST.search(p) and (change.root / p).is_file()]
    came = [f.path for f in change.files if f.now is not None and IS_TEST.search(f.path)]
    before = [_setting(f, f.before, "testpaths") for f in configs if _name(f) in PYTEST]
    barred = {word for f in configs if _name(f) in PYTEST for word in _setting(f, f.before, "norecursedirs")}
    for file in configs:
        folder = file.path.rpartition("/")[0]
        below = [p.removeprefix(f"{folder}/") for p in tests if p.startswith(f"{folder}/" if folder else "")]
        if _name(file) in PYTEST:
            fresh = [word for word in _setting(file, file.now, "norecursedirs") if word not in barred]
            kept = sorted({*below, *(p.removeprefix(f"{folder}/") for p in came)})
            yield from _finding(
                file, "norecursedirs", fresh, [p for p in kept if p.endswith(".py") and _barred(p, fresh)]
            )
            now = _setting(file, file.now, "testpaths")
            if now and not any(before):
                yield from _finding(file, "testpaths", now, [p for p in below if p.endswith(".py") and not _in(p, now)])
        else:
            yield from _javascript(file, [p for p in below if _SCRIPT.search(p)])


def _javascript(file: File, tests: Sequence[str]) -> Iterator[Finding]:
    before, after = (read_javascript(file.path, text or "") for text in (file.before, file.now))
    for key, now in sorted((after or {}).items()):
        if before is None or before.get(key) or not now or now == ["false"]:
            continue
        match key:
            case name if name in _NAMES:
                lost = list(tests)
            case name if name in _OUTSIDE:
                lost = [p for p in tests if any(_fits(p, pattern) for pattern in now)]
            case name if name in _FOLDERS:
                lost = [p for p in tests if not _in(p, now)]
            case name if name in _INSIDE:
                lost = [p for p in tests if not _selected(p, now)]
            case _:
                continue
        yield from _finding(file, key, now, lost)


def _finding(file: File, key: str, now: Sequence[str], lost: Sequence[str]) -> Iterator[Finding]:
    if not lost:
        return
    lines = enumerate((file.now or "").splitlines(), 1)
    line = next((number for number, text in lines if re.search(rf"\b{key}\b", text)), 1)
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    what = "not all of" if key in _NAMES else "nothing of"
    was = "names new folders:" if key == "norecursedirs" else "was not set, now it is"
    message = f"{key} {was} {shlex.join(now)[:160]}: {what} {', '.join(lost[:_SHOWN])}{more} runs"
    yield error("source-excluded", message, file.path, line)


def _barred(path: str, patterns: Sequence[str]) -> bool:
    """Return whether pytest does not look into a folder of a path; a pattern with a slash is laid on the whole path."""
    folders = path.split("/")[:-1]
    whole = ["/".join(folders[:end]) for end in range(1, len(folders) + 1)]
    return any(fnmatch(f if "/" in p else f.rpartition("/")[2], p) for f in whole for p in patterns)


def _setting(file: File, text: str | None, key: str) -> Sequence[str]:
    name = _name(file)
    table: object = None if text is None else read_toml(text) if name.endswith(".toml") else read_ini(text)
    for part in (*PYTEST[name], key):
        table = table.get(part) if isinstance(table, dict) else None
    return [str(path) for path in table] if isinstance(table, list) else str(table or "").split()


def _name(file: File) -> str:
    return file.path.rpartition("/")[2]


def _in(path: str, folders: Sequence[str]) -> bool:
    clean = [_START.sub("", folder).rstrip("/") for folder in folders]
    return any(c in ("", ".") or c.startswith("..") or f"{path}/".startswith(f"{c}/") or covers(c, path) for c in clean)


def _selected(path: str, patterns: Sequence[str]) -> bool:
    out = [p[1:] for p in patterns if p.startswith("!")]
    kept = [p for p in patterns if not p.startswith("!")]
    return any(_fits(path, p) for p in kept) and not any(_fits(path, p) for p in out)


def _fits(path: str, pattern: str) -> bool:
    """Return whether a pattern, glob or regular expression, fits a path below the configuration's folder."""
    if covers(_START.sub("", pattern), path):
        return True
    try:
        return re.search(pattern.strip("/").replace("<rootDir>", ""), f"/{path}") is not None
    except re.error:
        return False
