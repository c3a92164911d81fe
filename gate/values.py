"""Values out of TOML and JSON, each of the type that is expected; errors name file, key, expected and got."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gate.errors import PolicyError

MOST_BYTES = 1_000_000  # of a file that people write


def read_toml(data: bytes, source: str) -> Mapping[str, Any]:
    """Return what the bytes of a TOML file hold."""
    _check_size(data, source)
    try:
        return tomllib.loads(data.decode().removeprefix("\ufeff"))  # some editors put a byte-order mark first
    except RecursionError as error:
        raise PolicyError(f"{source}: expected TOML: it is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise PolicyError(f"{source}: expected UTF-8, got byte {data[error.start]:#04x} at {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{source}: {_what_is_wrong(str(error), data)}") from error


def _check_size(data: bytes, source: str) -> None:
    if len(data) > MOST_BYTES:
        raise PolicyError(f"{source}: expected at most {MOST_BYTES:,} bytes, got more")


def _what_is_wrong(said: str, data: bytes) -> str:
    """Return what a reader of TOML says in our words where a name stands twice, else its own."""
    where = re.search(r"\(at line (\d+), column \d+\)$", said)
    twice = re.match(r"Cannot declare \((.+?),?\) twice", said)
    if where and twice:
        key = twice[1].replace("', '", ".").strip("'")
        return f"{key}: expected each name once, got it again in line {where[1]}"
    if said.startswith("Cannot overwrite a value"):
        lines = data.decode("utf-8", "replace").rstrip().split("\n")
        at = int(where[1]) if where else len(lines)
        return f"{lines[at - 1].partition('=')[0].strip()}: expected each name once, got it again in line {at}"
    return f"expected TOML: {said}"


def read_json(data: bytes, source: str) -> Mapping[str, Any]:
    """Return what the bytes of a JSON file hold; a key that stands twice is an error."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                raise PolicyError(f"{source}: {key}: expected each key once, got it twice")
            seen[key] = value
        return seen

    import json  # noqa: PLC0415 only for operators' files

    _check_size(data, source)
    try:
        found = json.loads(data.decode(), object_pairs_hook=once)
    except UnicodeDecodeError as error:
        raise PolicyError(f"{source}: expected UTF-8, got byte {data[error.start]:#04x} at {error.start}") from error
    except RecursionError as error:
        raise PolicyError(f"{source}: expected JSON: it is nested too deeply") from error
    except ValueError as error:
        raise PolicyError(f"{source}: expected JSON: {error}") from error
    return table(found, source, "the file")


def check_keys(found: Mapping[str, Any], known: Sequence[str], source: str, prefix: str) -> None:
    """Raise PolicyError for a key that nobody knows, with the nearest that somebody does."""
    for key in found:
        if key not in known:
            raise PolicyError(
                f"{source}: {prefix}{key}: expected one of {', '.join(known)}, got an unknown key{nearest(key, known)}"
            )


def nearest(word: object, known: Iterable[str]) -> str:
    """Return the nearest known word, ready to stand behind a message; nothing where none is near."""
    import difflib  # noqa: PLC0415 only for errors

    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def table(found: object, source: str, key: str) -> Mapping[str, Any]:
    """Return a table."""
    if not isinstance(found, dict):
        raise PolicyError(f"{source}: {key}: expected a table, got {kind_of(found)}")
    return found


def string(found: object, source: str, key: str, *, empty: bool = False) -> str:
    """Return text, which must not be empty unless that is said."""
    if not isinstance(found, str):
        raise PolicyError(f"{source}: {key}: expected text, got {kind_of(found)}")
    if "\0" in found:
        raise PolicyError(f"{source}: {key}: expected text without NUL characters, got {found!r}")
    if not empty and not found.strip():
        raise PolicyError(f"{source}: {key}: expected text that is not empty, got {found!r}")
    return found


def strings(found: object, source: str, key: str) -> tuple[str, ...]:
    """Return a list of text that is not empty."""
    if not isinstance(found, list):
        raise PolicyError(f"{source}: {key}: expected a list, got {kind_of(found)}")
    return tuple(string(item, source, f"{key}[{number}]") for number, item in enumerate(found))


def kind_of(found: object) -> str:
    """Return what kind of value this is, in words."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "a table"}
    return names.get(type(found), type(found).__name__)
