"""Propose a gate.toml from what a repository holds, with the reason for each line."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gate import tools
from gate.proposals import javascript, others, python, vault, workflows
from gate.proposals.line import Line, read_json

MOST_FOLDERS = 2000
SKIPPED = frozenset({
    "node_modules", ".git", ".venv", "venv", "vendor", "target", "dist", "build", "__pycache__", ".tox", ".next",
    "fixtures", "testdata",
})  # fmt: skip
ORDER = ("lint", "typecheck", "build", "test", "check")
LOOKS = (javascript.look, python.look, others.look)
WHOLE = (vault.look,)  # look at the repository, not at each folder
_MARKS = {
    "package.json",
    "pyproject.toml",
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "deno.json",
}
NOTHING = (
    "# Nothing was found here that a gate could run: no package.json scripts, no Python, Go, Rust, JVM\n"
    "# or .NET project, no Makefile, no workflow with a check that can fail.\n# Name what checks this repository:\n#\n"
    '# [steps.test]\n# run = "your test command"\n'
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The steps, in the order in which they are written."""

    lines: tuple[Line, ...]

    def render(self) -> str:
        """Return the text of a gate.toml."""
        return "\n".join(_step(line) for line in self.lines) if self.lines else NOTHING


def propose(repo: Path) -> Proposal:
    """Return the steps that fit the repository; nothing of it is run."""
    found: list[Line] = []
    for folder in _folders(repo):
        where = os.fspath(folder.relative_to(repo))
        found += [replace(line, cwd=where) for look in LOOKS for line in look(folder)]
    found += [line for look in WHOLE for line in look(repo)]
    found += _not_yet(repo, found, workflows.look(repo))
    found = [_with_evidence(repo, line) for line in found]
    return Proposal(tuple(_named(sorted(found, key=lambda line: (line.cwd, ORDER.index(line.kind))))))


def _not_yet(repo: Path, found: list[Line], more: Iterator[Line]) -> Iterator[Line]:
    """Yield the lines whose tools no line before them runs in that folder."""
    runs = {(line.cwd, name) for line in found for name in _tools(repo, line)}
    texts = {line.run for line in found}
    for line in more:
        names = [(line.cwd, name) for name in _tools(repo, line)]
        if line.run not in texts and not (names and all(name in runs for name in names)):
            runs |= set(names)
            yield line


def _with_evidence(repo: Path, line: Line) -> Line:
    """A command that the gate cannot look into counts by its exit code, or it would prove nothing."""
    if line.evidence or _tools(repo, line):
        return line
    return replace(line, evidence='"exit"', why=f"{line.why}; what it did cannot be seen, so its exit code counts")


def _tools(repo: Path, line: Line) -> list[str]:
    invocations = tools.recognise(line.run, repo / line.cwd, root=repo)
    return [i.tool.NAME for i in invocations if i.tool.KIND != "runner"]


def _named(lines: list[Line]) -> Iterator[Line]:
    taken: set[str] = set()
    for line in lines:
        folder = "" if line.cwd == "." else re.sub(r"[^A-Za-z0-9]+", "-", line.cwd).strip("-")
        base = (f"{line.name}-{folder}" if folder else line.name)[:60]
        name = next(n for n in (base, *(f"{base}-{i}" for i in range(2, 1000))) if n not in taken)
        taken.add(name)
        yield replace(line, name=name)


def _step(line: Line) -> str:
    parts = [f"# {line.why}", f"[steps.{line.name}]", f"run = {_toml(line.run)}", f'kind = "{line.kind}"']
    if line.cwd != ".":
        parts.append(f"cwd = {_toml(line.cwd)}")
    if line.evidence:
        parts.append(f"evidence = {line.evidence}")
    return "\n".join(parts) + "\n"


def _folders(repo: Path) -> Iterator[Path]:
    """Yield the root, and below it each folder that is a project of its own; not what a root workspace covers."""
    yield repo
    if _covers_all(repo):
        return
    for seen, (where, folders, files) in enumerate(os.walk(repo)):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        if seen > MOST_FOLDERS or len(Path(where).relative_to(repo).parts) > 3:
            folders[:] = []
        if _MARKS & set(files) and Path(where) != repo:
            yield Path(where)


def _covers_all(repo: Path) -> bool:
    package = read_json(repo / "package.json")
    scripts = package.get("scripts") or {}
    return ("workspaces" in package or (repo / "pnpm-workspace.yaml").is_file()) and "test" in scripts


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
