"""Write what a set-up found into bot.toml and a key file, readable by their owner alone, and lose nothing there is."""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bot.errors import ConfigError

_LINE = r"^\s*{}\s*=.*$"


def keep_settings(path: Path, values: Mapping[str, str | int]) -> None:
    """Set keys of a bot.toml; other lines stay as they are. The file is only its owner's to read."""
    try:
        text = path.read_text() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: expected a text file that can be read: {error}") from error
    for key, value in values.items():
        line = f"{key} = {_toml(value)}"
        pattern = re.compile(_LINE.format(re.escape(key)), re.MULTILINE)
        found = pattern.search(text)
        # a new key goes to the top: below a table it would belong to that
        text = text[: found.start()] + line + text[found.end() :] if found else f"{line}\n{text}"
    write_private(path, text)


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody else may read, whole or not at all. Raises ConfigError."""
    path = path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp: 0600 from its first moment
    except OSError as error:
        raise ConfigError(f"{path}: expected a folder that can be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _toml(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
