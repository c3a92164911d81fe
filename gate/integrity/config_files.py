"""Read what configurations say: JSON with comments, TOML, INI and YAML as one kind of table. Never fails."""

import re
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as IniError
from typing import Any

from gate.globs import matches
from gate.patterns import sub_closed
from gate.strangers import json_of, toml_of, yaml_of

Key = tuple[str, ...]
JSON = ("**/tsconfig*.json", "**/jsconfig*.json", "**/.eslintrc", "**/.eslintrc.json", "**/biome.json*", "**/package.json",
        "**/.nycrc*", "**/.mocharc.json*", "**/jest.config.json", "**/pyrightconfig.json", "**/.oxlintrc.json")  # fmt: skip
TOML = ("**/Cargo.toml", "**/clippy.toml", "**/bunfig.toml", "**/.taplo.toml")
INI = ("**/.flake8", "**/.pylintrc", "**/pylintrc")
YAML = ("**/.golangci.y*ml", "**/.rubocop.yml", "**/.rubocop_todo.yml", "**/.pre-commit-config.yaml", "**/codecov.yml", "**/.codecov.yml",
        "**/.mocharc.y*ml", "**/.eslintrc.y*ml", "**/.swiftlint.yml", "**/detekt.yml")  # fmt: skip
_QUOTED = r'("(?:\\.|[^"\\])*+"|\\["\\])'  # a quote behind a backslash opens nothing
# what a list of tables is told apart by
_IDENTITY = ("id", "module", "name", "repo", "files", "path", "test", "linters")


def read(path: str, text: str | None) -> Mapping[str, Any] | None:
    """Return the table in a configuration; None where there is no text, or none that can be read."""
    if text is None:
        return None
    for globs, reader in ((JSON, read_json), (TOML, read_toml), (INI, read_ini), (YAML, _read_yaml)):
        if any(matches(path, glob) for glob in globs):
            return reader(text)
    return None


def is_table(path: str) -> bool:
    """Return whether a file is one of those that `read` knows."""
    return any(matches(path, glob) for globs in (JSON, TOML, INI, YAML) for glob in globs)


def flat(value: Any, prefix: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Yield every value with the names that lead to it; tables in a list are named by what tells them apart."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, (*prefix, str(key)))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            name = next((str(item[key]) for key in _IDENTITY if key in item), str(number))
            yield from flat(item, (*prefix, f"[{name}]"))
    else:
        yield prefix, value


def read_json(text: str) -> Mapping[str, Any] | None:
    """Read JSON as tools do: with comments and trailing commas."""
    bare = sub_closed(rf"{_QUOTED}|//[^\n]*|/\*[\s\S]*?\*/", lambda m: m[1] or "", text)
    bare = re.sub(rf"{_QUOTED}|,(?=\s*[}}\]])", lambda m: m[1] or "", bare)
    found = json_of(bare)
    return found if isinstance(found, dict) else None


def read_toml(text: str) -> Mapping[str, Any] | None:
    """Read TOML."""
    return toml_of(text)


def read_ini(text: str) -> Mapping[str, Any] | None:
    """Read INI: lists are values of several lines or with commas."""
    parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except (IniError, ValueError):
        return None
    return {section: {key: _lists(value) for key, value in parser[section].items()} for section in parser.sections()}


def _read_yaml(text: str) -> Mapping[str, Any] | None:
    found = yaml_of(text)
    return found if isinstance(found, dict) else None


def _lists(value: str | None) -> Any:
    text = (value or "").strip()
    if text.lower() in ("true", "yes", "on"):
        return True
    if text.lower() in ("false", "no", "off"):
        return False
    parts = [part.strip() for part in re.split(r"[\n,]", text) if part.strip()]
    return parts if len(parts) > 1 or "\n" in (value or "") else text
