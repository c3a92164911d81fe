"""Projects of .NET with tests, and which of them a solution or a run of `dotnet test` holds."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.places import folder_of, inside, is_led
from gate.repository.rust.cargo import strings
from gate.repository.shell_files import place
from gate.repository.tree import Tree

PROJECTS = (".csproj", ".fsproj", ".vbproj")
_SOLUTIONS = (".sln", ".slnx", ".slnf")
_TESTS = re.compile(r"Microsoft\.NET\.Test\.Sdk|<IsTestProject>\s*true|MSTest\.Sdk", re.IGNORECASE)
_NO_TESTS = re.compile(r"<IsTestProject>\s*false", re.IGNORECASE)
_IN_SLN = re.compile(r'^Project\("[^"\n]*"\)\s*=\s*"[^"\n]*",\s*"([^"\n]+)"', re.M)
_IN_SLNX = re.compile(r"<Project\s[^>]{0,300}?\bPath=\"([^\"\n]+)\"")
_VALUES = {"--filter", "--logger", "-l", "--settings", "-s", "-c", "--configuration", "-f", "--framework", "-r", "--runtime", "-o", "--output",
           "-v", "--verbosity", "--results-directory", "--collect", "-a", "--arch", "--os", "-d", "--diag", "--blame-hang-timeout", "-e",
           "--environment", "--test-adapter-path", "--artifacts-path"}  # fmt: skip


class DotnetRun(NamedTuple):
    """A run of `dotnet test`: what it was given or found (a solution, a project), and the projects that this holds."""

    at: Check
    argv: tuple[str, ...]
    where: tuple[str, int | None]
    target: str
    projects: frozenset[str]


def projects_with_tests(tree: Tree) -> list[str]:
    """Return the projects that say of themselves that they hold tests."""
    return [
        p for p in tree.sources(*PROJECTS) if _TESTS.search(text := tree.text(p) or "") and not _NO_TESTS.search(text)
    ]


def dotnet_runs(repo: Repository, checks: Sequence[Check]) -> list[DotnetRun] | None:
    """Return the runs of `dotnet test` in checks; None where what one of them tests cannot be told."""
    found = list[DotnetRun]()
    for at in checks:
        for command in at.commands:
            argv = command.argv
            if argv[0] in ("nuke", "cake", "dotnet-cake", "fake", "msbuild", "vstest.console") or argv[:2] in (
                ("dotnet", "run"),
                ("dotnet", "cake"),
                ("dotnet", "vstest"),
                ("dotnet", "msbuild"),
                ("dotnet", "nuke"),
            ):
                return None
            if argv[:2] != ("dotnet", "test"):
                continue
            folder = folder_of(repo, command.cwd)
            target = (
                None
                if folder is None or "$" in " ".join(argv) or is_led(repo, at)
                else _target(repo.tree, argv, folder)
            )
            projects = None if target is None else _projects(repo.tree, target)
            if target is None or projects is None:
                return None
            found.append(DotnetRun(at, argv, place(repo.tree, at, command, "test"), target, frozenset(projects)))
    return found


def _target(tree: Tree, argv: Sequence[str], folder: str) -> str | None:
    words = list(argv[2 : argv.index("--")] if "--" in argv else argv[2:])
    named = [
        w for i, w in enumerate(words) if not w.startswith(("-", "/p:")) and (i == 0 or words[i - 1] not in _VALUES)
    ]
    path = inside(folder, named[0]) if named else folder
    if path is None or path in tree.known:
        return path if path and path.endswith((*_SOLUTIONS, *PROJECTS)) else None
    start = f"{path}/" if path else ""
    here = [p for p in tree.files if p.startswith(start) and "/" not in p[len(start) :]]
    for endings in (_SOLUTIONS, PROJECTS):
        fitting = [p for p in here if p.endswith(endings)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def _projects(tree: Tree, target: str) -> list[str] | None:
    """Return the projects of a solution, or a project alone; None where it cannot be told."""
    if target.endswith(PROJECTS):
        return [target]
    folder = target.rpartition("/")[0]
    if target.endswith(".slnf"):
        found = (tree.json(target) or {}).get("solution")
        listed = strings(found.get("projects")) if isinstance(found, dict) else []
        home = inside(folder, str(found.get("path", ""))) if isinstance(found, dict) else None
        folder = home.rpartition("/")[0] if home is not None else folder
    else:
        listed = (_IN_SLN if target.endswith(".sln") else _IN_SLNX).findall(tree.text(target) or "")
    return [p for name in listed if (p := inside(folder, name)) is not None] or None


def settings_texts(tree: Tree) -> Iterator[str]:
    """Yield the texts of files that may say how tests run: settings, properties, and projects."""
    for path in tree.files:
        if path.endswith((".runsettings", ".props", ".targets", *PROJECTS)) or path.rpartition("/")[2] in (
            "global.json",
            "testconfig.json",
            "dotnet.config",
        ):
            yield tree.text(path) or ""
