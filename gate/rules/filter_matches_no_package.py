"""A command chooses packages of a workspace by a name or a folder that none of them has."""

from collections.abc import Iterator
from difflib import get_close_matches

from gate.report import Finding, Level
from gate.repository.javascript.packages import packages
from gate.repository.javascript.workspace import Asked, Workspace, names, scripts_everywhere, workspace_of
from gate.repository.opening import Repository
from gate.repository.shell_files import place
from gate.repository.tree import Tree

ID = "filter-matches-no-package"
SUMMARY = (
    "a filter (`pnpm --filter`, `turbo --filter`, `nx -p`, `yarn workspaces foreach --include`) fits no package of the workspace,\n"
    "and most of these tools then succeed without doing anything. A warning for those that fail by themselves.\n"
    "Next: mend the name; `pnpm --fail-if-no-match` tells of the next one."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each filter that chooses nothing."""
    told = set[tuple[str, int | None, str]]()
    for at, asked in scripts_everywhere(repo):
        if "--fail-if-no-match" in asked.command.argv:
            continue
        space = workspace_of(repo.tree, asked.command)
        for filter_ in asked.filters:
            if filter_.startswith("!") or _fits(repo.tree, space, asked, filter_):
                continue
            where = place(repo.tree, at, asked.command, filter_)
            if (*where, filter_) not in told:
                told.add((*where, filter_))
                yield _finding(f"{at.name}: ", asked, where, filter_, _names(repo.tree, space, asked))


def _fits(tree: Tree, space: Workspace, asked: Asked, filter_: str) -> bool:
    """Return whether a filter chooses something, true where that cannot be said."""
    if asked.program != "nx":
        return not space.whole or any(names(space, filter_, p, asked.command) for p in space.packages)
    if any(sign in filter_ for sign in "*:!/{") or _is_open(tree):
        return True
    known = _names(tree, space, asked)
    return not known or any(filter_ == n or n.endswith(f"/{filter_}") for n in known)


def _is_open(tree: Tree) -> bool:
    """Return whether projects of nx may stand in files that are not read."""
    config = tree.json("nx.json") if "nx.json" in tree.known else None
    return config is None or bool(config.get("plugins")) or bool({"workspace.json", "angular.json"} & tree.known)


def _names(tree: Tree, space: Workspace, asked: Asked) -> list[str]:
    if asked.program != "nx":
        return sorted(p.name for p in space.packages if p.name)
    found = {m.name for m in packages(tree).values() if m.name}
    for path in tree.named("**/project.json"):
        found.add(str((tree.json(path) or {}).get("name") or path.rpartition("/")[0].rpartition("/")[2]))
    return sorted(found)


def _finding(who: str, asked: Asked, where: tuple[str, int | None], filter_: str, known: list[str]) -> Finding:
    level = Level.ERROR if asked.is_weighty and not _fails(asked, filter_) else Level.WARNING
    near = get_close_matches(filter_, known, 1) or get_close_matches(filter_.rpartition("/")[2], known, 1)
    there = f"; there are {', '.join(known[:5])}{', …' if len(known) > 5 else ''}" if known else ""
    return Finding(
        ID, level, f"{who}`{asked.words}` chooses no package: nothing is called {filter_}{there}", *where,
        fix=f"write {near[0]}" if near else "mend the name, or delete the step", reproduce=f"{asked.words}; echo $?",
    )  # fmt: skip


def _fails(asked: Asked, filter_: str) -> bool:
    """Return whether the tool itself refuses the filter."""
    if asked.program == "turbo":
        return not ("*" in filter_ and not filter_.startswith((".", "{")))
    return asked.program in ("npm", "bun", "lerna") or asked.command.argv[1:2] == ("workspace",)
