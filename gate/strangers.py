"""Data that a repository's files hold, read without trust: None where that cannot be said, never an error of ours."""

from typing import Any

MOST_VALUES = 200_000  # of one YAML file with its aliases written out; lists of ten aliases, ten deep, are 10^10


def json_of(text: str | bytes) -> Any:
    """Return what a JSON text holds."""
    import json  # noqa: PLC0415 only where such a file is met

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def toml_of(text: str) -> dict[str, Any] | None:
    """Return the table that a TOML text holds."""
    import tomllib  # noqa: PLC0415 only where such a file is met

    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


def yaml_of(text: str | bytes) -> Any:
    """Return what the first document of a YAML text holds, every mapping and list of it finite and small."""
    import yaml  # noqa: PLC0415 (18 ms)

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        found = loader.get_data() if loader.check_data() else None
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError):
        return None  # PyYAML's constructors raise all of these for `!!timestamp x`, `!!bool x`, `!!int ""`, `? {a: b}`
    finally:
        loader.dispose()
    return found if is_small(found) else None


def is_small(found: Any) -> bool:
    """Return whether aliases neither lead back into themselves nor write out to more than MOST_VALUES values."""
    try:
        return _values(found, {}) <= MOST_VALUES
    except RecursionError:
        return False


def _values(found: Any, known: dict[int, float]) -> float:
    inner = found.values() if isinstance(found, dict) else found if isinstance(found, list | tuple | set) else None
    if inner is None:
        return 1
    if id(found) not in known:
        known[id(found)] = float("inf")  # until it is known: whoever meets it meanwhile leads back into it
        known[id(found)] = 1 + sum(_values(value, known) for value in inner)
    return known[id(found)]
