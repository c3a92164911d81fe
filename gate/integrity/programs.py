"""What the policy's steps run in the end: a script, a recipe or a shell file that was changed may run less than before.

Each command of the policy is followed twice, through the files of the base and through those of the worktree.
"""

import io
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from gate import git, tools
from gate.integrity.change import Change, File, error
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
# options by which a tool looks at less
NARROWING = {
    "-k", "-m", "--deselect", "--ignore", "--ignore-glob", "--lf", "--last-failed", "-t", "--testNamePattern",
    "--testPathPattern", "--testPathPatterns", "--testPathIgnorePatterns", "--onlyChanged", "--changed", "--changedSince",
    "--findRelatedTests", "-g", "--grep", "--fgrep", "--invert", "--test-name-pattern", "--test-skip-pattern", "-run",
    "-skip", "-short", "--skip", "--exclude", "--extend-exclude", "--filter", "--exclude-group", "--shard", "--only",
    "--follow-imports=skip", "--no-verify", "--ignore-pattern", "--exclude-task",
}  # fmt: skip


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield each step that runs less through the changed files than it ran through those of the base."""
    guides = [file for file in change.files if _guides(file.path)]
    if not guides or not change.base:
        return
    with tempfile.TemporaryDirectory(prefix="gate-base-") as folder:
        before_root = Path(folder).resolve()
        _lay_out(change, before_root)
        now = {step.name: _run_by(step, change.root) for step in policy.steps}
        for step in policy.steps:
            # a linter that another step runs has only moved; tests belong to their step, since each names its own
            moved = [i for found in now.values() for i in found if i.sure and i.tool.KIND != "test"]
            yield from _compared(step, _run_by(step, before_root), now[step.name], moved, guides)


def _compared(
    step: Step,
    before: Sequence[Invocation],
    now: Sequence[Invocation],
    moved: Sequence[Invocation],
    guides: Sequence[File],
) -> Iterator[Finding]:
    kinds = {i.tool.KIND for i in now if i.sure}
    for lost in before:
        if lost.sure and lost.tool.KIND not in kinds and all(i.tool is not lost.tool for i in moved):
            became = ", ".join(f"`{' '.join(i.argv)}`" for i in now) or "no tool that is known"
            message = f"step {step.name} ran `{' '.join(lost.argv)}`; through the changed files it surely runs {became}"
            yield error("step-runs-less", message, guides[0].path, _line(guides[0]))
            return
    had = {word.split("=")[0] for i in before for word in i.argv}
    for invocation in now:
        added = [w for w in invocation.argv[1:] if w.split("=")[0] in NARROWING and w.split("=")[0] not in had]
        if added and any(i.tool is invocation.tool for i in before):
            message = f"step {step.name} looks at less: {added[0]} is new in `{' '.join(invocation.argv)}`"
            yield error("step-narrowed", message, guides[0].path, _line(guides[0]))
            return


def _run_by(step: Step, root: Path) -> list[Invocation]:
    found = tools.recognise(step.run, root / step.cwd, root=root)
    return [invocation for invocation in found if invocation.tool.KIND != "runner"]


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
