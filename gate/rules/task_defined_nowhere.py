"""A runner of tasks is given one that no package has."""

from collections.abc import Iterator, Mapping
from typing import Any

from gate.report import Finding, Level
from gate.repository.javascript.configs import table
from gate.repository.javascript.packages import packages
from gate.repository.javascript.workspace import Asked, chosen, scripts_everywhere, workspace_of
from gate.repository.opening import Repository
from gate.repository.shell_files import place
from gate.repository.tree import Tree

ID = "task-defined-nowhere"
SUMMARY = (
    "turbo, nx, lerna, `pnpm -r test`, `npm run x --workspaces --if-present` and `yarn workspaces foreach` succeed when no package has\n"
    "the script that they are asked for: `0 total`, exit 0.\n"
    "Next: write the script in the packages, or take the task out of the command."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each task of such a command that no package has, nor one that it depends on."""
    told = set[tuple[str, int | None, str]]()
    for at, asked in scripts_everywhere(repo):
        if not asked.everywhere and not (asked.program == "pnpm" and asked.filters):
            continue
        for task in asked.tasks:
            if _is_defined(repo.tree, asked, task):
                continue
            where = place(repo.tree, at, asked.command, task)
            if (*where, task) not in told:
                told.add((*where, task))
                level = Level.ERROR if asked.is_weighty else Level.WARNING
                level = Level.NOTE if asked.if_present and task == "build" else level
                yield Finding(
                    ID, level, f"{at.name}: `{asked.words}` runs nothing for {task}: no package has such a script", *where,
                    fix=f"write the script {task!r}, or take the task away", reproduce=f"{asked.words}; echo $?",
                )  # fmt: skip


def _is_defined(tree: Tree, asked: Asked, task: str) -> bool:
    """Return whether something runs for a task, true where that cannot be said or the tool itself fails."""
    space = workspace_of(tree, asked.command)
    members = chosen(space, asked.filters, asked.command)
    if asked.program == "turbo":
        return not space.whole or not members or _in_turbo(tree, task, [p.scripts for p in space.packages])
    if asked.program in ("nx", "lerna"):
        return (asked.program == "lerna" and not space.whole) or _in_nx(tree, task, must_be_nx=asked.program == "nx")
    fails = asked.program in ("npm", "bun", "pnpm") and not asked.if_present
    if not space.whole or not members or (fails and not (asked.program == "pnpm" and task == "test")):
        return True
    return any(task in p.scripts for p in members)


def _in_turbo(tree: Tree, task: str, scripts: list[Mapping[str, str]]) -> bool:
    graph = dict[str, list[str]]()
    for path in tree.named("**/turbo.json", "**/turbo.jsonc"):
        config = tree.json(path)
        tasks = table(config, "tasks") or table(config, "pipeline")
        for name, settings in tasks.items() if isinstance(tasks, dict) else ():
            needs = table(settings, "dependsOn")
            graph.setdefault(str(name).rpartition("#")[2], []).extend(
                str(n).lstrip("^").rpartition("#")[2] for n in (needs if isinstance(needs, list) else [])
            )
    open_, done = [task.rpartition("#")[2]], set[str]()
    if open_[0] not in graph:
        return True  # turbo refuses it
    while open_:
        name = open_.pop()
        if any(name in texts for texts in scripts):
            return True
        if name not in done:
            done.add(name)
            open_ += graph.get(name, [])
    return False


def _in_nx(tree: Tree, task: str, *, must_be_nx: bool) -> bool:
    config: Any = tree.json("nx.json") if "nx.json" in tree.known else None
    plain = any(sign in task for sign in "*:!") or {"workspace.json", "angular.json"} & tree.known
    if plain or table(config, "plugins") or (config is None and must_be_nx):
        return True
    if any(task in m.scripts or task in (table(m.found, "nx", "targets") or ()) for m in packages(tree).values()):
        return True
    return any(task in (table(tree.json(p), "targets") or ()) for p in tree.named("**/project.json"))
