"""Services of Compose files, and which of them run checks."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from gate.commands.part import option_values, skip_options
from gate.commands.resolve import Command, resolve
from gate.patterns import later
from gate.repository.checkers import is_check
from gate.repository.tree import Tree

_FILES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
_OVERRIDES = (
    "compose.override.yaml",
    "compose.override.yml",
    "docker-compose.override.yaml",
    "docker-compose.override.yml",
)
_GLOBAL = frozenset({
    "-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory", "--parallel", "--progress", "--ansi",
})  # fmt: skip
_UP = frozenset({
    "--exit-code-from", "--scale", "-t", "--timeout", "--attach", "--no-attach", "--pull", "--wait-timeout",
})  # fmt: skip
_NAMED = later(r"^(?:.*[-_])?(?:tests?|tester|specs?|e2e|cypress|playwright|pytest|test[-_]runner)$")
_CMD = later(r"^(?:CMD|ENTRYPOINT)\s+(.*)$")


class Service(NamedTuple):
    """One service: what it starts as a list of words, and those that have to end well before others start."""

    name: str
    path: str
    line: int
    found: Mapping[str, Any]
    is_test: bool


class Up(NamedTuple):
    """One `docker compose up`: its options, and the services that it starts."""

    options: frozenset[str]
    services: tuple[Service, ...]

    @property
    def tests(self) -> tuple[Service, ...]:
        """Return the services that run checks."""
        return tuple(s for s in self.services if s.is_test)

    @property
    def ends_first(self) -> str:
        """Return a service without tests which others wait for until it has ended, nothing where there is none."""
        ended = {n for s in self.services for n, how in _needs(s.found) if how == "service_completed_successfully"}
        return next((s.name for s in self.services if s.name in ended and not s.is_test), "")


def read_up(tree: Tree, command: Command) -> Up | None:
    """Return what a command starts, None where it is no `docker compose up` of a file of this repository."""
    words = list(command.argv[1:])
    if command.argv[0] in ("docker", "podman", "nerdctl") and words[:1] == ["compose"]:
        words = words[1:]
    elif command.argv[0] not in ("docker-compose", "podman-compose"):
        return None
    rest = skip_options(words, _GLOBAL)
    if rest[:1] != ["up"]:
        return None
    options, names = _split(rest[1:])
    given = option_values(words, frozenset({"-f", "--file"}))
    folder = tree.relative(command.cwd)
    services = dict[str, Service]()
    for name in given or [*_FILES, *_OVERRIDES]:
        path = PurePosixPath("" if folder == "." else folder, name).as_posix()
        services |= {s.name: s for s in _services(tree, path)}
    profiles = set(option_values(words, frozenset({"--profile"})))
    wanted = _with_needs(services, names) if names else {n for n, s in services.items() if _is_on(s.found, profiles)}
    return Up(frozenset(options), tuple(s for n, s in services.items() if n in wanted))


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    options, names, skip = list[str](), list[str](), False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            options.append(word.partition("=")[0])
            skip = word in _UP
        else:
            names.append(word)
    return options, names


def _services(tree: Tree, path: str) -> Iterator[Service]:
    found = tree.yaml(path) if path in tree.known else None
    listed = found.get("services") if isinstance(found, Mapping) else None
    for name, service in listed.items() if isinstance(listed, Mapping) else ():
        if isinstance(service, Mapping):
            line = getattr(service, "line", 2) - 1
            yield Service(str(name), path, line, service, _is_test(tree, path, str(name), service))


def _is_test(tree: Tree, path: str, name: str, service: Mapping[str, Any]) -> bool:
    """Return whether a service runs a check; one that only its name tells has to be built here and to serve nothing."""
    context, file = _context(path, service)
    texts = [t for key in ("entrypoint", "command") if (t := _text(service.get(key)))]
    if not texts and context is not None:
        texts = _of_dockerfile(tree.text(file) or "")
    for text in texts:
        if any(is_check(c.argv) for c in resolve(text, tree.root / (context or "."), root=tree.root)):
            return True
    return _NAMED.match(name) is not None and context is not None and not service.get("ports") and not texts


def _context(path: str, service: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the folder that a service is built from, and its Dockerfile; no folder where it is not built here."""
    build = service.get("build")
    context = build.get("context", ".") if isinstance(build, Mapping) else build
    if not isinstance(context, str) or "$" in context or "://" in context:
        return None, ""
    name = build.get("dockerfile") if isinstance(build, Mapping) else None
    folder = _plain(PurePosixPath(path).parent / context)
    return folder, _plain(PurePosixPath(folder) / (name if isinstance(name, str) else "Dockerfile"))


def _plain(path: PurePosixPath) -> str:
    parts = list[str]()
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", "..", "/"):
            parts.append(part)
    return "/".join(parts) or "."


def _text(value: Any) -> str:
    """Return a command as shell text, whichever way it is written."""
    if isinstance(value, list):
        return shlex.join(str(v) for v in value)
    return value if isinstance(value, str) else ""


def _of_dockerfile(text: str) -> list[str]:
    """Return the last ENTRYPOINT or CMD of a Dockerfile as shell text."""
    found = [m[1] for line in text.splitlines() if (m := _CMD.match(line.strip()))]
    last = found[-1:]
    return [
        " ".join(part.strip(" \"'") for part in t.strip("[] ").split(",")) if t.startswith("[") else t for t in last
    ]


def _needs(service: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    found = service.get("depends_on")
    if isinstance(found, Mapping):
        for name, how in found.items():
            yield str(name), str(how.get("condition", "")) if isinstance(how, Mapping) else ""
    elif isinstance(found, list):
        yield from ((str(name), "") for name in found)


def _with_needs(services: Mapping[str, Service], names: list[str]) -> set[str]:
    todo, met = list(names), set[str]()
    while todo:
        name = todo.pop()
        if name not in met:
            met.add(name)
            todo += [n for n, _ in _needs(services[name].found)] if name in services else []
    return met


def _is_on(service: Mapping[str, Any], profiles: set[str]) -> bool:
    own = service.get("profiles")
    return not isinstance(own, list) or bool(profiles & set(map(str, own))) or not own
