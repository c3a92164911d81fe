"""What a repository wants of the bot: `.github/bot.toml` on its default branch; the last good one is kept."""

import difflib
import functools
import json
import math
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any, get_type_hints

import sqlalchemy as sa

from bot.errors import ConfigError
from bot.tickets.schema import repositories

PATH = ".github/bot.toml"
MOST_BYTES = 64 * 1024
MOST_NUMBER = 1e12  # no limit is meant beyond it
LABEL_LENGTH = 50  # https://docs.github.com/rest/issues/labels
_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
TELLING = 100  # characters of a wrong value that are shown


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels; an empty trigger is the operator's."""

    trigger: str = ""
    priority: tuple[str, ...] = ()  # a ticket with one of these goes first


@dataclass(frozen=True, slots=True)
class AgentWish:
    """Who writes the change."""

    kind: str = "anthropic"  # anthropic, command, replay
    model: str = ""
    command: tuple[str, ...] = ()
    rounds: int = 3  # how often it is asked while the gate is red, the first time included
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class BudgetWish:
    """The most that one ticket may use; None is no limit."""

    turns: int | None = 100
    wall_s: float | None = 3600.0
    tokens: int | None = None
    dollars: float | None = 5.0


@dataclass(frozen=True, slots=True)
class DayWish:
    """The most that all tickets of the repository may use in a day."""

    tokens: int | None = None
    dollars: float | None = 50.0


@dataclass(frozen=True, slots=True)
class Install:
    """How dependencies are installed; empty: as the lockfiles say."""

    run: str = ""
    enabled: bool = True
    limit_s: float = 900.0
    scripts: bool = False  # whether packages may run their own install scripts


@dataclass(frozen=True, slots=True)
class Caches:
    """Folders kept from job to job, besides the well-known ones."""

    keep: tuple[str, ...] = ()
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class SandboxWish:
    """What boxed commands may use."""

    network: str = "none"  # none, registries, open
    hosts: tuple[str, ...] = ()  # besides the registries, with network = "registries"
    memory_mb: int = 8192
    processes: int = 4096
    file_mb: int = 4096


@dataclass(frozen=True, slots=True)
class Merge:
    """Whether green merges, and how."""

    auto: bool = False
    method: str = "merge"  # merge, squash, rebase


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """All of it; every key has a default."""

    labels: Labels = field(default_factory=Labels)
    agent: AgentWish = field(default_factory=AgentWish)
    budget: BudgetWish = field(default_factory=BudgetWish)
    day: DayWish = field(default_factory=DayWish)
    install: Install = field(default_factory=Install)
    caches: Caches = field(default_factory=Caches)
    sandbox: SandboxWish = field(default_factory=SandboxWish)
    merge: Merge = field(default_factory=Merge)
    checks: bool = False  # whether people's pull requests get the gate's check too
    shared: tuple[str, ...] = ()  # paths that every claim touches
    floor: str = ""  # who may start work: triage, write, maintain, admin; empty: the operator's
    tickets: int = 0  # at the same time; 0: as many as there are slots


CHOICES: Mapping[str, Sequence[str]] = {
    "agent.kind": ("anthropic", "command", "replay"),
    "sandbox.network": ("none", "registries", "open"),
    "merge.method": ("merge", "squash", "rebase"),
    "floor": ("", "triage", "write", "maintain", "admin"),
}
LEAST: Mapping[str, float] = {
    "agent.rounds": 1, "budget.turns": 1, "budget.wall_s": 1, "budget.tokens": 1, "budget.dollars": 0.01,
    "day.tokens": 1, "day.dollars": 0.01, "sandbox.memory_mb": 64, "sandbox.processes": 16, "sandbox.file_mb": 1,
    "install.limit_s": 1, "tickets": 0,
}  # fmt: skip


def read_settings(data: bytes) -> RepositorySettings:
    """Return the settings that the bytes of a bot.toml hold. Raises ConfigError: `file: key: expected X, got Y`."""
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{PATH}: expected at most {MOST_BYTES:,} bytes, got {len(data):,}")
    try:
        found = tomllib.loads(data.decode())
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ConfigError(f"{PATH}: expected TOML in UTF-8: {_short(str(error))}") from error
    except RecursionError as error:
        raise ConfigError(f"{PATH}: expected TOML in UTF-8, got lists or tables nested without end") from error
    settings: RepositorySettings = _read(RepositorySettings, found, "")
    if settings.agent.kind == "command" and not settings.agent.command:
        raise ConfigError(f"{PATH}: agent.command: expected the program that `agent.kind` asks for, got nothing")
    for path in (*settings.shared, *settings.caches.keep):
        if path.startswith(("/", "~")) or ".." in path.split("/"):
            raise ConfigError(
                f"{PATH}: shared, caches.keep: expected paths inside the repository, got {_short(repr(path))}"
            )
    for host in settings.sandbox.hosts:
        if _HOST.fullmatch(host) is None:
            raise ConfigError(
                f"{PATH}: sandbox.hosts: expected names such as packages.example.com, got {_short(repr(host))}"
            )
    return settings


def _short(text: str) -> str:
    """Return text for an error's one line: what is wrong is told in a comment, whose length is bounded."""
    return text if len(text) <= TELLING else f"{text[:TELLING]}..."


def settings_of(c: sa.Connection, repository: str) -> RepositorySettings:
    """Return the last good settings of a repository, or the defaults."""
    return _stored(c.execute(sa.select(repositories.c.settings).where(repositories.c.name == repository)).scalar())


def settings_of_all(c: sa.Connection, names: Collection[str]) -> dict[str, RepositorySettings]:
    """Return the last good settings of several repositories, or the defaults."""
    rows = c.execute(sa.select(repositories.c.name, repositories.c.settings))
    known = {row.name: row.settings for row in rows if row.name in names}
    return {name: _stored(known.get(name)) for name in names}


@functools.lru_cache(maxsize=1024)
def _stored(text: str | None) -> RepositorySettings:
    settings: RepositorySettings = _read(RepositorySettings, json.loads(text), "") if text else RepositorySettings()
    return settings


def settings_sha(c: sa.Connection, repository: str) -> str | None:
    """Return the commit at which the settings were last looked at."""
    return c.execute(sa.select(repositories.c.settings_sha).where(repositories.c.name == repository)).scalar()


def settings_error(c: sa.Connection, repository: str) -> str:
    """Return what is wrong with the settings as they are now; empty where nothing is."""
    found = c.execute(sa.select(repositories.c.settings_error).where(repositories.c.name == repository)).scalar()
    return found or ""


def keep_settings(
    c: sa.Connection, repository: str, settings: RepositorySettings | None, *, sha: str, error: str = ""
) -> None:
    """Keep settings as the last good ones; None keeps those there were, with the error that the new ones have."""
    values: dict[str, Any] = {"settings_sha": sha, "settings_error": error}
    if settings is not None:
        values["settings"] = json.dumps(asdict(settings))
    if c.execute(repositories.update().where(repositories.c.name == repository).values(**values)).rowcount == 0:
        c.execute(repositories.insert().values(name=repository, **values))


def links_sha(c: sa.Connection, repository: str) -> str | None:
    """Return the commit at which the tree's symlinks were last read."""
    text = c.execute(sa.select(repositories.c.links).where(repositories.c.name == repository)).scalar()
    return json.loads(text)["sha"] if text else None


def keep_links(c: sa.Connection, repository: str, links: Sequence[tuple[str, str]], *, sha: str) -> None:
    """Keep the symlinks, (link, target) each, that the tree of a commit holds."""
    values = {"links": json.dumps({"sha": sha, "links": links})}
    if c.execute(repositories.update().where(repositories.c.name == repository).values(**values)).rowcount == 0:
        c.execute(repositories.insert().values(name=repository, **values))


def links_of_all(c: sa.Connection) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the symlinks of each repository that has any."""
    rows = c.execute(sa.select(repositories.c.name, repositories.c.links).where(repositories.c.links != ""))
    return {row.name: links for row in rows if (links := _read_links(row.links))}


@functools.lru_cache(maxsize=1024)
def _read_links(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(link), str(target)) for link, target in json.loads(text)["links"])


def pause(c: sa.Connection, repository: str, *, paused: bool, reason: str = "") -> None:
    """Admit nothing new in a repository, or admit again."""
    values = {"paused": paused, "paused_reason": reason}
    if c.execute(repositories.update().where(repositories.c.name == repository).values(**values)).rowcount == 0:
        c.execute(repositories.insert().values(name=repository, **values))


def paused(c: sa.Connection) -> dict[str, str]:
    """Return the paused repositories with the reason of each; `*` stands for all."""
    rows = c.execute(sa.select(repositories.c.name, repositories.c.paused_reason).where(repositories.c.paused))
    return {row.name: row.paused_reason for row in rows}


def _read(kind: type, found: object, prefix: str) -> Any:
    where = prefix.rstrip(".") or "the file"
    if not isinstance(found, dict):
        raise ConfigError(f"{PATH}: {where}: expected a table, got {_name(found)}")
    types = get_type_hints(kind)
    known = [f.name for f in fields(kind)]
    values = {}
    for key, value in found.items():
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(
                f"{PATH}: {prefix}{_short(key)}: expected one of {', '.join(known)}, got an unknown key{hint}"
            )
        inner = types[key]
        whole = f"{prefix}{key}"
        values[key] = (
            _read(inner, value, f"{whole}.")
            if isinstance(inner, type) and is_dataclass(inner)
            else _value(inner, value, whole)
        )
    return kind(**values)


def _value(kind: object, value: object, key: str) -> object:
    for fits, take in _TAKES:
        if fits(kind):
            taken = take(value)
            if taken is _BAD:
                raise ConfigError(f"{PATH}: {key}: expected {_wanted(kind)}, got {_short(repr(value))}")
            break
    else:
        raise TypeError(f"{key} has a type that is not read: {kind}")
    if key in CHOICES and taken not in CHOICES[key]:
        choices = ", ".join(c for c in CHOICES[key] if c)
        raise ConfigError(f"{PATH}: {key}: expected one of {choices}, got {_short(repr(value))}")
    if key in LEAST and isinstance(taken, int | float) and not LEAST[key] <= taken <= MOST_NUMBER:
        bound = f"at least {LEAST[key]:g}" if taken < LEAST[key] else f"at most {MOST_NUMBER:g}"
        raise ConfigError(f"{PATH}: {key}: expected {bound}, got {_short(repr(value))}")
    if key.startswith("labels."):
        for label in (taken,) if isinstance(taken, str) else taken if isinstance(taken, tuple) else ():
            if len(label) > LABEL_LENGTH:
                raise ConfigError(f"{PATH}: {key}: expected at most {LABEL_LENGTH} characters, got {len(label)}")
    return taken


_BAD = object()


def _texts(value: object) -> object:
    if isinstance(value, list | tuple) and all(isinstance(item, str) and item for item in value):
        return tuple(value)
    return _BAD


def _number(value: object) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return _BAD
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _whole(value: object) -> object:
    return value if isinstance(value, int) and not isinstance(value, bool) else _BAD


_TAKES: Sequence[tuple[Callable[[object], bool], Callable[[object], object]]] = (
    (lambda kind: kind is bool, lambda value: value if isinstance(value, bool) else _BAD),
    (lambda kind: kind is str, lambda value: value if isinstance(value, str) else _BAD),
    (lambda kind: kind is int, _whole),
    (lambda kind: kind is float, _number),
    (lambda kind: kind == int | None, lambda value: None if value is None else _whole(value)),
    (lambda kind: kind == float | None, lambda value: None if value is None else _number(value)),
    (lambda kind: kind == tuple[str, ...], _texts),
)


def _wanted(kind: object) -> str:
    names = {bool: "true or false", str: "text", int: "a whole number", float: "a number"}
    if kind in names:
        return names[kind]
    return "a list of texts" if kind == tuple[str, ...] else "a number"


def _name(found: object) -> str:
    return {list: "a list", str: "text", bool: "true or false"}.get(type(found), "a number")
