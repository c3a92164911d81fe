"""A step runs a script only where there is one, and there is none."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.javascript.workspace import Asked, chosen, own_package, scripts_everywhere, workspace_of
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "if-present-missing-script"
SUMMARY = (
    "`--if-present` lets a package manager succeed where a script is missing, and the script is missing.\n"
    "Next: write the script, or delete the step; without `--if-present` a script that goes is told."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such run; a note where the script would neither test, check nor build."""
    told = set[tuple[str, int | None, tuple[str, ...]]]()
    for at, asked in scripts_everywhere(repo):
        if not asked.if_present or asked.everywhere:
            continue
        space = workspace_of(repo.tree, asked.command)
        own = own_package(repo.tree, asked.command)
        packages = chosen(space, asked.filters, asked.command) if asked.filters else (own,) if own else ()
        where = place(repo.tree, at, asked.command, asked.tasks[0])
        if not packages or any(asked.tasks[0] in p.scripts for p in packages) or (*where, asked.tasks) in told:
            continue
        told.add((*where, asked.tasks))
        paths = sorted(repo.tree.relative(p.path / "package.json") for p in packages)
        yield _finding(f"{at.name}: ", asked, where, paths)


def _finding(who: str, asked: Asked, where: tuple[str, int | None], paths: list[str]) -> Finding:
    task = asked.tasks[0]
    level = Level.ERROR if asked.is_weighty and task != "build" else Level.NOTE
    named = paths[0] if len(paths) == 1 else f"any of {len(paths)} packages"
    return Finding(
        ID, level, f"{who}`{asked.words}` runs nothing: there is no script {task!r} in {named}", *where, tuple(paths), len(paths),
        fix=f"write the script {task!r}, or delete the step", reproduce=f"{asked.words}; echo $?",
    )  # fmt: skip
