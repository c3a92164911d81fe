"""Targets of makefiles that make would not make, since a file or folder of the tree has their name."""

from collections.abc import Iterator
from typing import NamedTuple

from gate.commands.makefile import Made, load
from gate.commands.resolve import Command
from gate.repository.tree import Tree

_MOST = 200  # targets of one command
_ALWAYS = {"-B", "--always-make"}


class Shadowed(NamedTuple):
    """A target whose name `path` has; `recipe` is the shell text that is passed over, empty where there is no rule."""

    target: str
    path: str
    is_folder: bool
    recipe: str
    is_asked: bool  # by the command itself, not as what another target needs


def shadowed(tree: Tree, command: Command) -> Iterator[Shadowed]:
    """Yield the targets of a make command that surely are up to date in a clean checkout.

    Quiet where make may remake them: a prerequisite that is phony, missing or a file (which of two files is older, a
    checkout does not say), or phony targets that are computed. https://www.gnu.org/software/make/manual/make.html#Phony-Targets
    """
    made = load(command.argv, command.cwd, tree.root)
    if made is None or _ALWAYS.intersection((*command.argv, *made.rules.variables.get("MAKEFLAGS", "").split())):
        return
    phony = made.rules.needs.get(".PHONY", [])
    if any("$" in name for name in phony):
        return
    folder = tree.relative(made.folder)
    for target in _reached(made):
        path = target.removeprefix("./") if folder == "." else f"{folder}/{target}"
        needs = made.rules.needs.get(target)
        if target in phony or needs or (path not in tree.known and path not in tree.folders):
            continue
        recipe = "\n".join(line.lstrip("@-+ \t") for line in made.rules.recipes.get(target, ()))
        if recipe or (needs is None and target in made.targets and made.rules.is_whole):
            yield Shadowed(target, path, path in tree.folders, recipe, target in made.targets)


def _reached(made: Made) -> list[str]:
    """Return the targets that are asked for, and what they need."""
    todo, met = list(made.targets or [made.rules.first]), dict[str, None]()
    while todo and len(met) < _MOST:
        target = todo.pop()
        if target not in met:
            met[target] = None
            todo += made.rules.needs.get(target, [])
    return list(met)
