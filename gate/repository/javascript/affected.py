"""Runs of tests and tasks that leave out what a change does not touch, and whole runs beside them."""

from collections.abc import Iterator
from typing import NamedTuple

from gate.commands.resolve import Command, resolve
from gate.repository.checks import Check
from gate.repository.javascript.workspace import asked
from gate.repository.opening import Repository

_TESTERS = {"jest": ("--changedSince", "--lastCommit"), "vitest": ("--changed",), "playwright": ("--only-changed",)}
_SINCE = ("--since", "--affected")
_EVERYTHING = {"pnpm", "npm", "yarn", "bun", "turbo", "nx", "lerna"}


class Affected(NamedTuple):
    """Such a run: `by` is the word that says so, `base` what it compares with, empty where it does not say."""

    command: Command
    tasks: tuple[str, ...]
    by: str
    base: str = ""


def affected(command: Command) -> Affected | None:
    """Return what a command runs of what changed; None where it runs all of it, or something else."""
    argv = command.argv
    if argv[0] in _TESTERS:
        for i, word in enumerate(argv[1:], 1):
            name, _, value = word.partition("=")
            following = argv[i + 1] if i + 1 < len(argv) and not argv[i + 1].startswith("-") else ""
            if name in _TESTERS[argv[0]] and (value or following or name == "--lastCommit"):
                return Affected(command, (argv[0],), name, value or following)
        return None
    if argv[:2] == ("nx", "affected") or (argv[0] == "nx" and argv[1:2] and argv[1].startswith("affected:")):
        plain = asked(command)
        tasks = plain.tasks if plain else (argv[1].partition(":")[2],)
        base = next((w.partition("=")[2] for w in argv if w.startswith("--base=")), "")
        return Affected(command, tuple(t for t in tasks if t), "affected", base)
    if argv[0] in ("lage", "moon", "rush"):
        return _of_rarer(command)
    found = asked(command)
    if found is None:
        return None
    option = next((w for w in argv if w.partition("=")[0] in _SINCE and found.everywhere), "")
    filter_ = next((f for f in found.filters if "[" in f), "")
    if option:
        return Affected(command, found.tasks, option.partition("=")[0], option.partition("=")[2])
    if filter_ and all("[" in f or f.startswith("!") for f in found.filters):
        return Affected(command, found.tasks, filter_, filter_.partition("[")[2].partition("]")[0])
    return None


def _of_rarer(command: Command) -> Affected | None:
    """Return what lage, moon and rush run of what changed: `--since`, `--affected`, `moon ci`, `--impacted-by git:main`."""
    argv = command.argv
    words = [w for w in argv[1:] if not w.startswith("-")]
    names = {w.partition("=")[0] for w in argv}
    by = next(
        (n for n in ("--since", "--affected", "--impacted-by") if n in names),
        "ci" if words[:1] == ["ci"] and argv[0] == "moon" else "",
    )
    tasks = tuple(w for w in words if w not in ("run", "ci") and ":" not in w[:1])[:1] or (argv[0],)
    return Affected(command, tasks, by) if by else None


def whole_tasks(repo: Repository) -> frozenset[str]:
    """Return the tasks and runners that some check or workflow runs in full, whatever starts it."""
    return repo.tree.once("tasks that run in full", lambda: frozenset(_whole(repo)))


def _whole(repo: Repository) -> Iterator[str]:
    commands = [c for at in repo.checks for c in at.commands]
    known = {at.text for at in repo.checks}
    for step in (s for w in repo.workflows for job in w.jobs for s in job.steps):
        if step.run.strip() and step.run not in known:
            commands += resolve(step.run, repo.tree.root, root=repo.tree.root)
    for command in commands:
        if command.argv[0] in _TESTERS and affected(command) is None:
            yield command.argv[0]
        if command.argv[0] in ("lage", "moon", "rush") and affected(command) is None:
            yield from (w for w in command.argv[1:] if not w.startswith("-"))
        found = asked(command) if command.argv[0] in _EVERYTHING else None
        if found is not None and affected(command) is None and not [f for f in found.filters if not f.startswith("!")]:
            yield from found.tasks


def runs_affected(repo: Repository) -> Iterator[tuple[Check, Affected]]:
    """Yield what the checks that decide run of what changed."""
    for at in repo.gate:
        for command in at.commands:
            found = affected(command)
            if found is not None:
                yield at, found
