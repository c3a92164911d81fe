"""Lists of tests that somebody keeps by hand: words of a command, values of a matrix, words of a shell loop."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gate.commands.resolve import Command, resolve
from gate.patterns import later
from gate.repository.checkers import is_check, verifies
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.python.config import below
from gate.repository.shell_files import place, shell_texts
from gate.repository.test_names import holds_tests, kind_of
from gate.repository.tree import Tree
from gate.repository.workflows import Job, Workflow
from gate.repository.yaml_lines import Mapped
from gate.tools import matching

_LOOP = later(r"\bfor[ \t]+(\w+)[ \t]+in[ \t]+([\w./ \t-]{3,2000}+)(?:;|\n)\s*do\b")
_DONE = later(r"\bdone\b")
_LONGEST = 3000  # characters of a loop's body
_AROUND = r"([\w./-]*){0}([\w./-]*)"
_OPEN = "$*{`?["
_MANIFESTS = (
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
)


class Listing(NamedTuple):
    """Paths of one folder that a check names one by one, and where it does."""

    at: str
    path: str
    line: int | None
    folder: str
    paths: frozenset[str]
    end: str = ""  # what stands behind each path: `tests` of `packages/a/tests`


class Listings(NamedTuple):
    """All of them, and the paths below which other runs of tests look; `""` is everything."""

    found: tuple[Listing, ...]
    covered: frozenset[str]


def listings(repo: Repository) -> Listings:
    """Return the lists of all checks."""
    return repo.tree.once("listings", lambda: _listings(repo))


def siblings(tree: Tree, one: Listing) -> list[str]:
    """Return what stands beside the listed paths and is of their kind: files of the same naming, folders of the same make."""
    before = f"{one.folder}/" if one.folder else ""
    first = next(iter(one.paths))
    if first in tree.known:
        kinds = {kind_of(p) for p in one.paths}
        beside = [p for p in tree.files if p.startswith(before) and "/" not in p[len(before) :] and p not in one.paths]
        return [p for p in beside if kind_of(p) in kinds and holds_tests(tree, p)]
    folders = [f for f in tree.folders if f.startswith(before) and "/" not in f[len(before) :] and f not in one.paths]
    makes = [_make(tree, p) for p in one.paths]
    wanted = frozenset.intersection(*makes) if makes else frozenset[str]()
    return sorted(
        f for f in folders if wanted and wanted <= _make(tree, f) and (not one.end or f"{f}/{one.end}" in tree.folders)
    )


def _listings(repo: Repository) -> Listings:
    found, handled = list[Listing](), set[str]()
    for workflow in repo.workflows:
        for job in workflow.jobs:
            for one, texts in _of_matrix(repo, workflow, job):
                found.append(one)
                handled |= texts
    for at in repo.checks:
        for one in _of_loops(repo, at):
            found.append(one)
            handled.add(at.text)
    covered = {p for one in found for p in one.paths}
    for at in repo.checks:
        for command in at.commands if at.text not in handled else ():
            paths = _paths(repo.tree, command)
            covered |= paths if paths is not None else set()
            found += _grouped(repo.tree, at.name, place(repo.tree, at, command), paths or ())
    return Listings(tuple(found), frozenset(covered))


def _paths(tree: Tree, command: Command) -> set[str] | None:
    """Return the paths that a run of tests is given, its folder where none or one that is not known, None for others."""
    if not any(tool.KIND == "test" for tool in matching(command.argv)):
        return None
    folder = tree.relative(command.cwd)
    folder = "" if folder == "." or folder.startswith("..") else folder
    found = set[str]()
    for word in command.argv[1:]:
        if any(sign in word for sign in _OPEN) or word.endswith("..."):
            found.add(below(folder, re.split(r"[$*{`?\[]|\.\.\.", word)[0].rpartition("/")[0]))
        elif not word.startswith("-"):
            path = below(folder, word.partition("::")[0])
            found |= {path} if path in tree.known or path in tree.folders else set()
    return found or {folder}


def _grouped(
    tree: Tree, at: str, spot: tuple[str, int | None], paths: Iterable[str], end: str = ""
) -> Iterator[Listing]:
    """Yield one listing for each folder of which at least two files, or two folders, with tests are named."""
    groups = dict[tuple[str, bool], set[str]]()
    for path in paths:
        groups.setdefault((path.rpartition("/")[0], path in tree.known), set()).add(path)
    for (folder, are_files), named in groups.items():
        if len(named) > 1 and (not are_files or all(kind_of(p) for p in named)) and "" not in named:
            yield Listing(at, *spot, folder, frozenset(named), end)


def _of_matrix(repo: Repository, workflow: Workflow, job: Job) -> Iterator[tuple[Listing, set[str]]]:
    strategy = job.found.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, dict) else None
    steps = [s for s in job.steps if s.run and verifies(repo.checks, workflow, job, s)]
    for key, values in _values(matrix).items() if steps else ():
        asked = rf"\$\{{\{{\s*matrix\.{re.escape(key)}\s*\}}\}}"
        using = [s for s in steps if re.search(asked, f"{s.run}\n{s.cwd}")]
        if not using:
            continue
        line = matrix.lines.get(key, job.line) if isinstance(matrix, Mapped) else job.line
        spot, texts = (workflow.path, line), {s.run for s in using}
        for step in using:
            folder = "" if "$" in step.cwd else step.cwd
            for around in re.findall(_AROUND.format(asked), f"{step.cwd}\n{step.run}"):
                for one in _named(repo.tree, f"{job.label}", spot, (folder, *around), values):
                    yield one, texts


def _values(matrix: Any) -> Mapping[str, list[str]]:
    found = dict[str, list[str]]()
    for key, values in matrix.items() if isinstance(matrix, dict) else ():
        for value in values if isinstance(values, list) else ():
            if isinstance(value, str) and key not in ("include", "exclude"):
                found.setdefault(str(key), []).append(value)
            elif isinstance(value, dict) and key == "include":
                for inner, text in value.items():
                    if isinstance(text, str):
                        found.setdefault(str(inner), []).append(text)
    return found


def _loops(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, values and body of each loop over words that are written out."""
    ends = [done.start() for done in _DONE.finditer(text)]
    last = 0
    for head in _LOOP.finditer(text):
        at = bisect_left(ends, head.end())
        if head.start() >= last and at < len(ends) and ends[at] - head.end() <= _LONGEST:
            last = ends[at]
            yield head[1], head[2], text[head.end() : last]


def _of_loops(repo: Repository, at: Check) -> Iterator[Listing]:
    for text in shell_texts(repo.tree, at):
        for name, values, body in _loops(text.text) if "for " in text.text else ():
            if any(is_check(c.argv) for c in resolve(body, at.cwd, root=repo.tree.root)):
                line = repo.tree.line_of(text.path, f"for {name} in", text.line)
                folder = repo.tree.relative(at.cwd)
                for around in set(re.findall(_AROUND.format(rf"\$\{{?{name}\b\}}?"), body)):
                    where = ("" if folder == "." else folder, *around)
                    yield from _named(repo.tree, at.name, (text.path, line), where, values.split())


def _named(
    tree: Tree, at: str, spot: tuple[str, int | None], around: tuple[str, str, str], values: list[str]
) -> Iterator[Listing]:
    """Yield the paths that values stand for: most of them are there, as they are or below one folder that has them all."""
    folder, before, after = around
    after = after.strip("/")
    is_part = after.startswith(".") or (before and not before.endswith("/"))
    for base in [f"{folder}/{before}", *_bases(tree, values)]:
        whole = [below("", f"{base}{v}{after}" if is_part else f"{base}{v}") for v in values]
        there = [p for p in whole if p in tree.known or p in tree.folders]
        if len(there) > 1 and len(there) * 5 >= len(values) * 4:
            yield from _grouped(tree, at, spot, there, "" if is_part else after)
            return


def _bases(tree: Tree, values: list[str]) -> list[str]:
    """Return the one folder that has a folder of each name, as a list; nothing where there are several or none."""

    def index() -> dict[str, set[str]]:
        found = dict[str, set[str]]()
        for folder in tree.folders:
            parent, _, name = folder.rpartition("/")
            found.setdefault(name, set()).add(parent)
        return found

    parents = tree.once("parents of folders", index)
    common = set.intersection(*(parents.get(v, set()) for v in values)) if values else set[str]()
    return [f"{p}/" for p in common] if len(common) == 1 and len(values) > 1 else []


def _make(tree: Tree, folder: str) -> frozenset[str]:
    """Return what a folder is like: the manifests in it, and whether it holds tests."""

    def tested() -> frozenset[str]:
        found = set[str]()
        for path in tree.files:
            if kind_of(path):
                above = path.rpartition("/")[0]
                while above and above not in found:
                    found.add(above)
                    above = above.rpartition("/")[0]
        return frozenset(found)

    made = {name for name in _MANIFESTS if f"{folder}/{name}" in tree.known}
    return frozenset(made | ({"tests"} if folder in tree.once("folders with tests", tested) else set()))
