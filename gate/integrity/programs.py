"""What the policy's steps run in the end: a script, a recipe or a shell file that was changed may run less than before.

Each command of the policy is followed twice, through the files of the base and through those of the worktree.
"""

import io
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gate import git, tools
from gate.commands.resolve import Command, resolve
from gate.commands.shell import shell_options
from gate.integrity.change import Change, File, error
from gate.integrity.options import ENVIRONMENT, covers, weakening
from gate.patterns import later
from gate.policy import Policy, Step
from gate.report import Finding
from gate.tools.tool import Invocation

# files by which a command is followed to what it runs
NAMES = {
    "package.json", "pnpm-workspace.yaml", "project.json", "GNUmakefile", "makefile", "Makefile", "justfile", "Justfile",
    ".justfile", "Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "mise.toml", ".mise.toml", "deno.json",
    "deno.jsonc", "composer.json", "tox.ini", "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py",
}  # fmt: skip
SUFFIXES = (".sh", ".bash", ".mk")
FOLDERS = ("scripts/", "script/", "bin/", ".ci/", "ci/", "tools/", "hack/")
MOST_FILES = 2000
SHOWN = 160
PLUMBING = frozenset({
    "echo", "printf", "set", "export", "exit", "return", "trap", "true", ":", "[", "test", "mkdir", "rm", "cp", "mv", "touch",
    "cat", "tee", "env", "bash", "sh", "source", ".", "npm", "pnpm", "yarn", "bun", "npx", "uv", "uvx", "poetry", "pipenv",
    "make", "gmake", "just", "task", "tox", "nox", "timeout", "time", "xargs", "python", "node", "git", "pip", "sleep", "wait",
    "command", "exec", "eval", "nice", "shopt", "local", "unset", "declare", "readonly", "rimraf", "shx", "cross-env",
})  # fmt: skip
# a program that the gate does not know and that looks like a check by its words
CHECKS = later(r"check|lint|test|verify|audit|cover|valid|spec|scan|secur|typecheck", re.IGNORECASE)


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield each step that runs less through the changed files than it ran through those of the base."""
    guides = [file for file in change.files if _guides(file.path)]
    if not guides or not change.base:
        return
    with tempfile.TemporaryDirectory(prefix="gate-base-") as folder:
        before_root = Path(folder).resolve()
        _lay_out(change, before_root)
        now = {step.name: _run_by(step, change.root) for step in policy.steps}
        # what another step runs has only moved; tests belong to their step, since each names its own
        moved = [i for ran in now.values() for i in ran.tools if i.sure and i.binds and i.tool.KIND != "test"]
        for step in policy.steps:
            for lost in _compared(_run_by(step, before_root), now[step.name], moved):
                file, line = _place(lost, guides)
                shown = f" ({(file.now or '').splitlines()[line - 1].strip()[:SHOWN]})" if line else ""
                yield error(lost.rule, f"step {step.name}: {lost.message}{shown}", file.path, line)
                break


class Ran(NamedTuple):
    """What a step runs: the tools that the gate knows, and every other program; paths are relative to the root."""

    root: Path
    tools: tuple[Invocation, ...]
    others: tuple[Command, ...]

    def place(self, cwd: Path) -> str:
        """Return a folder as seen from the root."""
        return os.path.relpath(cwd, self.root)


class Lost(NamedTuple):
    """One thing that a step does no longer, and the words by which its place in the changed files is found."""

    rule: str
    message: str
    words: tuple[str, ...]


def _compared(before: Ran, now: Ran, moved: Sequence[Invocation]) -> Iterator[Lost]:
    for was in before.tools:
        if was.sure and was.binds:
            yield from _tool(was, before, now, moved)
    for gone in before.others:
        if gone.sure and gone.binds and CHECKS.search(" ".join(gone.argv)):
            yield from _other(gone, before, now)


def _tool(was: Invocation, before: Ran, now: Ran, moved: Sequence[Invocation]) -> Iterator[Lost]:
    said = f"`{' '.join(was.argv)}`"
    same = [i for i in now.tools if i.tool is was.tool]
    held = [i for i in [*same, *(i for i in moved if i.tool is was.tool)] if i.sure and i.binds]
    if not held and same:
        became = " ".join(same[0].argv)
        rule, why = ("exit-swallowed", "its failure counts no longer")
        if not same[0].sure:
            rule, why = ("step-runs-less", "it runs in some cases only")
        yield Lost(rule, f"it ran {said}; now it is `{became}`, and {why}", same[0].argv)
    elif not held:
        if was.tool.KIND in {i.tool.KIND for i in now.tools if i.sure and i.binds}:
            return  # another runner
        became = ", ".join(f"`{' '.join(i.argv)}`" for i in now.tools) or "no tool that is known"
        yield Lost("step-runs-less", f"it ran {said}; through the changed files it surely runs {became}", was.argv)
    else:
        reasons = [(_weaker(was, i, before, now), i) for i in held]
        if all(reason for reason, _ in reasons):
            reason, became_ = reasons[0]
            message = f"it ran {said}; now it is `{' '.join(became_.argv)}`: {reason}"
            yield Lost("step-narrowed", message, became_.argv)


def _weaker(was: Invocation, now: Invocation, before: Ran, after: Ran) -> str:
    """Return by what one run of a tool checks less than another, nothing where it does not."""
    added = [f"{name}={value}" for name, value in now.env if name in ENVIRONMENT and (name, value) not in was.env]
    if added:
        return f"{added[0]} is new"
    reason = weakening(was.tool.NAME, was.words, now.words)
    if reason:
        return reason
    here, there = before.place(was.cwd), after.place(now.cwd)
    if here != there and not covers(there, here) and (after.root / here).is_dir():
        return f"it runs in {there}, before in {here}"
    return ""


def _other(gone: Command, before: Ran, now: Ran) -> Iterator[Lost]:
    """A program that the gate does not know may be replaced, not dropped."""
    said = f"`{' '.join(gone.argv)}`"
    same = [c for c in now.others if c.argv[0] == gone.argv[0] and c.argv[1:2] == gone.argv[1:2]]
    held = [c for c in same if c.sure and c.binds]
    if not held and same:
        yield Lost("exit-swallowed", f"it ran {said}; its failure counts no longer", same[0].argv)
    elif not held and _bound(now) < _bound(before):
        yield Lost("step-runs-less", f"it ran {said}, which it does no longer", gone.argv)
    elif held and all(weakening("", gone.argv[1:], c.argv[1:]) for c in held):
        reason = weakening("", gone.argv[1:], held[0].argv[1:])
        yield Lost("step-narrowed", f"it ran {said}; now it is `{' '.join(held[0].argv)}`: {reason}", held[0].argv)


def _bound(ran: Ran) -> int:
    return sum(c.sure and c.binds and CHECKS.search(" ".join(c.argv)) is not None for c in ran.others)


def _run_by(step: Step, root: Path) -> Ran:
    found = resolve(step.run, root / step.cwd, root=root, options=shell_options(step.shell.split()[1:]))
    known = [
        Invocation(tool, c.argv, c.cwd, c.launcher, c.program, c.sure, c.binds, c.env)
        for c in found
        for tool in tools.matching(c.argv)
    ]
    names = {i.argv for i in known}
    others = tuple(c for c in found if c.argv not in names and not _starts_others(c))
    return Ran(root, tuple(i for i in known if i.tool.KIND != "runner"), others)


def _starts_others(command: Command) -> bool:
    """Return whether a program only starts what stands behind it in the list, or says and moves things."""
    return command.argv[0] in PLUMBING


def _place(lost: Lost, guides: Sequence[File]) -> tuple[File, int | None]:
    """Return the changed file, and its line, that names most of what was lost: as it is now, or as it was."""

    def score(line: str) -> int:
        return sum(word in line for word in lost.words)

    best: tuple[int, File, int | None] = (0, guides[0], _line(guides[0]))
    for file in guides:
        old = set((file.now or "").splitlines())
        lines = [*file.added(), *((None, line) for line in (file.before or "").splitlines() if line not in old)]
        for number, line in lines:
            if score(line) > best[0]:
                best = (score(line), file, number or _line(file))
    return best[1], best[2]


def _line(file: File) -> int | None:
    return next((number for number, _ in file.added()), None)


def _guides(path: str) -> bool:
    return path.rsplit("/", 1)[-1] in NAMES or path.endswith(SUFFIXES) or path.startswith(FOLDERS)


def _lay_out(change: Change, folder: Path) -> None:
    """Write the base's files that commands are followed by; links and what leads out of the folder are left out."""
    listed = git.ask(change.root, "ls-tree", "-r", "--name-only", "-z", change.base).out.split(b"\0")
    names = [name.decode("utf-8", "surrogateescape") for name in listed if name]
    wanted = [name for name in names if _guides(name)][:MOST_FILES]
    if not wanted:
        return
    answer = git.ask(change.root, "archive", "--format=tar", change.base, "--", *[f":(literal){n}" for n in wanted])
    with tarfile.open(fileobj=io.BytesIO(answer.out)) as archive:
        for member in archive:
            path = (folder / member.name).resolve()
            file = archive.extractfile(member) if member.isreg() and path.is_relative_to(folder) else None
            if file is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.read())
