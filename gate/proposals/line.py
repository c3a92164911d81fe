"""One proposed step, and how files are read to find it. Nothing of a repository is run."""

import configparser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.strangers import json_of, toml_of

_MOST_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One proposed step, with the reason for it."""

    name: str
    run: str
    kind: str
    why: str
    cwd: str = "."
    evidence: str = ""  # as TOML


def read(path: Path) -> str:
    """Return a file's text, nothing where there is none or it is too large."""
    try:
        return path.read_text("utf-8", "replace") if path.is_file() and path.stat().st_size < _MOST_BYTES else ""
    except OSError:
        return ""


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, an empty one where there is none."""
    found = json_of(read(path))
    return found if isinstance(found, dict) else {}


def read_toml(path: Path) -> dict[str, Any]:
    """Return the table in a TOML file, an empty one where there is none."""
    return toml_of(read(path)) or {}


def read_sections(path: Path) -> list[str]:
    """Return the names of the sections of an INI file."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read(path))
    except configparser.Error:
        return []
    return parser.sections()


def short(text: str) -> str:
    """Return text in one line of at most 80 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
