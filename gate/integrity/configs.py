"""Weakening in a tool's configuration: sources excluded, rules switched off, thresholds lowered, strictness gone.

Tools of Python take theirs from the first of several files, so there the tables that count are compared, whichever
file holds them: a new pytest.ini that hides pyproject.toml is a loss, a table that only moved is none.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gate import git
from gate.globs import matches
from gate.integrity.change import MOST_BYTES, Change, File, error
from gate.integrity.config_files import Key, flat, is_table, read, read_ini, read_toml
from gate.integrity.config_lines import look_at_lines
from gate.integrity.config_values import moved, names, shown
from gate.policy import Policy
from gate.report import Finding

LINES = ("**/eslint.config.*", "**/.eslintrc.[jcy]*", "**/.eslintrc.js", "**/.eslintrc.cjs", "**/jest.config.*", "**/vitest.config.*",
         "**/vitest.workspace.*", "**/vite.config.*", "**/playwright.config.*", "**/.mocharc.*", "**/phpunit.xml*", "**/pom.xml",
         "**/build.gradle*", "**/wtr.config.*", "**/web-test-runner.config.*", "**/karma.conf.*", "**/cypress.config.*")  # fmt: skip
IGNORES = (
    "**/.eslintignore",
    "**/.prettierignore",
    "**/.biomeignore",
    "**/.flake8ignore",
    "**/.ignore",
    "**/.mypyignore",
)
# files of one tool: where one goes and another comes, they are compared
FAMILIES = ("eslint", "jest", "vitest", "vite", "playwright", "mocharc", "karma", "cypress", "phpunit", "biome")
# which part of a file is about checks, where not all of it is
SECTIONS = {
    "package.json": {
        "jest",
        "eslintConfig",
        "nyc",
        "c8",
        "mocha",
        "ava",
        "vitest",
        "xo",
        "tap",
        "stylelint",
        "eslintIgnore",
    },
    "Cargo.toml": {"lints", "lib", "test", "workspace", "bench", "bin"},
}
# tool -> (file, names that lead to its table), those that count first
PYTHON: dict[str, tuple[tuple[str, Key], ...]] = {
    "pytest": (("pytest.toml", ("pytest",)), (".pytest.toml", ("pytest",)), ("pytest.ini", ("pytest",)), (".pytest.ini", ("pytest",)),
               ("pyproject.toml", ("tool", "pytest", "ini_options")), ("pyproject.toml", ("tool", "pytest")),
               ("tox.ini", ("pytest",)), ("setup.cfg", ("tool:pytest",))),
    "mypy": (("mypy.ini", ()), (".mypy.ini", ()), ("pyproject.toml", ("tool", "mypy")), ("setup.cfg", ("mypy",))),
    "ruff": ((".ruff.toml", ()), ("ruff.toml", ()), ("pyproject.toml", ("tool", "ruff"))),
    "coverage": ((".coveragerc", ()), ("setup.cfg", ("coverage:report",)), ("tox.ini", ("coverage:report",)),
                 ("pyproject.toml", ("tool", "coverage"))),
    "flake8": (("setup.cfg", ("flake8",)), ("tox.ini", ("flake8",)), (".flake8", ("flake8",))),
    "pyright": (("pyproject.toml", ("tool", "pyright")),), "pylint": (("pyproject.toml", ("tool", "pylint")),),
    "black": (("pyproject.toml", ("tool", "black")),), "bandit": (("pyproject.toml", ("tool", "bandit")),),
}  # fmt: skip
NEAREST = {"ruff"}  # takes the table of the nearest folder above
Reader = Callable[[str], str | None]


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield what each changed configuration loosens."""
    del policy
    yield from _python(change)
    for file in change.files:
        name = file.path.rpartition("/")[2]
        if any(matches(file.path, glob) for glob in IGNORES):
            for number, line in file.added():
                if not line.lstrip().startswith("#"):
                    yield error("source-excluded", f"no longer looked at: {line.strip()}", file.path, number)
        elif name == ".gitignore":
            yield from _ignored(change, file)
        elif is_table(file.path):
            yield from _table(change, file)
        elif any(matches(file.path, glob) for glob in LINES) and file.before is not None:
            other = _successor(change, file) if file.now is None else file
            if other is None:
                yield error("config-removed", "the configuration was there, now it is not", file.path)
            else:
                yield from look_at_lines(other, before=file.before, now=other.now or "")


def _table(change: Change, file: File) -> Iterator[Finding]:
    before, now = read(file.path, file.before), read(file.path, file.now)
    if before is None:
        nested = "/" in file.path and now is not None and file.path.rpartition("/")[2].startswith(".eslintrc")
        yield from _compared(file, {}, now or {}) if nested else []
        return
    other = _successor(change, file) if file.now is None else None
    wanted = SECTIONS.get(file.path.rpartition("/")[2])
    if other is not None:
        yield from look_at_lines(other, before=file.before or "", now=other.now or "")
    elif file.now is None:
        if wanted is None or wanted & before.keys():
            yield error("config-removed", "the configuration was there, now it is not", file.path)
    elif now is None or len(file.now) >= MOST_BYTES:
        yield error("config-unreadable", "it could be read, now it cannot: nothing is known of what it says", file.path)
    else:
        if wanted is not None:
            before, now = ({k: v for k, v in table.items() if k in wanted} for table in (before, now))
        yield from _compared(file, before, now)


def _compared(file: File, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what each moved value loosens."""
    was, is_ = dict(flat(before)), dict(flat(now))
    listed = _hooks(was) - _hooks(is_)
    for hook in sorted(listed):
        yield error("step-removed", f"the hook {hook} was there, now it is not", file.path)
    for key in sorted(was.keys() | is_.keys()):
        if was.get(key) == is_.get(key) or any(part == f"[{hook}]" for hook in listed for part in key):
            continue
        if (
            any(part.startswith("[") for part in key)
            and key[-1] == "files"
            and was.get(key) is None
            and "overrides" in key
        ):
            continue
        rule, more = moved(key, was.get(key), is_.get(key))
        if rule:
            message = f"{names(key)} was {shown(was.get(key))}, now it is {shown(is_.get(key))}{more}"
            yield error(rule, message, file.path, _line(file.now or "", key))


def _hooks(table: Mapping[Key, Any]) -> set[str]:
    return {str(value) for key, value in table.items() if key[-1:] == ("id",) and "hooks" in key}


def _line(text: str, key: Key) -> int | None:
    lines = text.splitlines()
    for part in reversed(key):
        found = next((n for n, line in enumerate(lines, 1) if part.strip("[]") in line), None)
        if found:
            return found
    return None


def _successor(change: Change, file: File) -> File | None:
    """Return the new file of the same tool in the same folder."""
    folder, _, name = file.path.rpartition("/")
    family = next((f for f in FAMILIES if f in name), None)
    for other in change.files:
        place, _, title = other.path.rpartition("/")
        if family and place == folder and other.before is None and other.now is not None and family in title:
            return other
    return None


def _python(change: Change) -> Iterator[Finding]:
    """Compare the tables that count for Python's tools, in every folder where one of their files changed."""
    known = {name for sources in PYTHON.values() for name, _ in sources}
    changed = {file.path: file for file in change.files if file.path.rpartition("/")[2] in known}
    for path, file in changed.items():
        if (
            file.path.endswith((".toml", ".ini", ".cfg", ".coveragerc"))
            and file.before is not None
            and file.now is not None
        ):
            reader = read_toml if path.endswith(".toml") else read_ini
            if len(file.now) >= MOST_BYTES or (reader(file.before) is not None and reader(file.now) is None):
                yield error(
                    "config-unreadable", "it could be read, now it cannot: nothing is known of what it says", path
                )

    def before(path: str) -> str | None:
        return changed[path].before if path in changed else now(path)

    def now(path: str) -> str | None:
        return changed[path].now if path in changed else _unchanged(change.root, path)

    for folder in sorted({path.rpartition("/")[0] for path in changed}):
        for tool, sources in PYTHON.items():
            if not any(_join(folder, name) in changed for name, _ in sources):
                continue
            is_ = _counting(tool, folder, sources, now)
            was = _counting(tool, folder, sources, before) or _silence(tool, is_)
            if was is not None and was != is_:
                yield from _tables(changed, tool, was, is_)


def _silence(tool: str, now: tuple[str, Mapping[str, Any]] | None) -> tuple[str, Mapping[str, Any]] | None:
    """Return what stood before pytest's first configuration: it ran everything; others had not checked at all."""
    return (now[0], {}) if now is not None and tool == "pytest" else None


def _tables(
    changed: Mapping[str, File],
    tool: str,
    was: tuple[str, Mapping[str, Any]],
    now: tuple[str, Mapping[str, Any]] | None,
) -> Iterator[Finding]:
    if now is None:
        if was[1]:
            yield error("config-removed", f"the configuration of {tool} was there, now it is not", was[0])
        return
    path = now[0] if now[0] in changed else was[0]
    if was[0] != now[0] and tool in NEAREST and isinstance(now[1].get("extend"), str):
        yield from _compared(changed.get(path) or File(path, None, ""), {}, now[1])
        return
    yield from _compared(changed.get(path) or File(path, None, ""), _normal(was[1]), _normal(now[1]))


def _normal(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a table in which sections of an INI and tables of a TOML have the same names."""
    renamed = {key.removeprefix("coverage:"): value for key, value in table.items()}
    own = renamed.pop("mypy", None)
    return {**renamed, **own} if isinstance(own, dict) else renamed


def _counting(
    tool: str, folder: str, sources: tuple[tuple[str, Key], ...], text: Reader
) -> tuple[str, Mapping[str, Any]] | None:
    """Return the file and the table that count for a tool in a folder."""
    for name, key in sources:
        path = _join(folder, name)
        found = text(path)
        table: Any = None if found is None else (read_toml(found) if name.endswith(".toml") else read_ini(found))
        for part in key:
            table = table.get(part) if isinstance(table, dict) else None
        if isinstance(table, dict) and (table or not key):
            return path, table
        if (
            tool == "pytest"
            and name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
            and found is not None
        ):
            return path, {}  # counts even where it is empty
    if tool in NEAREST and folder:
        return _counting(tool, folder.rpartition("/")[0], sources, text)
    return None


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _unchanged(root: Path, path: str) -> str | None:
    file = root / path
    try:
        is_safe = file.is_file() and not file.is_symlink() and file.stat().st_size < MOST_BYTES
        return file.read_text("utf-8", "surrogateescape") if is_safe else None
    except OSError:
        return None


def _ignored(change: Change, file: File) -> Iterator[Finding]:
    """What git ignores ruff, eslint, biome and others leave out, also where git itself has the file."""
    added = dict(file.added())
    if not added or file.now is None:
        return
    tracked = git.ask(change.root, "ls-files", "-ci", "--exclude-standard", "-z").out
    if not tracked:
        return
    said = git.ask(change.root, "check-ignore", "-v", "-z", "--no-index", "--stdin", stdin=tracked).out.split(b"\0")
    seen = set[int]()
    for source, number, _, path in zip(said[::4], said[1::4], said[2::4], said[3::4], strict=False):
        line = int(number) if number.isdigit() else 0
        if source.decode("utf-8", "replace") == file.path and line in added and line not in seen:
            seen.add(line)
            shown_path = path.decode("utf-8", "replace")
            yield error("source-excluded", f"{added[line].strip()} hides {shown_path} from the tools", file.path, line)
