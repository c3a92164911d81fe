"""The texts that a check reads: its own, its shell files, recipes of make, and scripts of package.json that it runs by name."""

from collections.abc import Iterator

from gate.commands import makefile
from gate.commands.resolve import Command
from gate.repository.checks import Check
from gate.repository.javascript.configs import join
from gate.repository.javascript.packages import packages, script_line
from gate.repository.javascript.scripts import named
from gate.repository.shell_files import ShellText, shell_texts
from gate.repository.tree import Tree


def script_texts(tree: Tree, at: Check) -> Iterator[ShellText]:
    """Yield each text once, with the place where it begins."""
    yield from shell_texts(tree, at)
    seen = set[tuple[str, str]]()
    for command in at.commands:
        yield from _recipes(tree, command)
        found = named(command)
        member = packages(tree).get(tree.relative(command.cwd)) if found else None
        if found is None or member is None or found.name not in member.scripts or (member.path, found.name) in seen:
            continue
        seen.add((member.path, found.name))
        yield ShellText(member.path, script_line(tree, member, found.name) or 1, member.scripts[found.name], at.options)


def _recipes(tree: Tree, command: Command) -> Iterator[ShellText]:
    """Yield the lines that make runs, each where it begins."""
    made = makefile.load(command.argv, command.cwd, tree.root)
    parts = makefile.expand(command.argv, command.cwd, tree.root) if made else None
    if made is None or not parts:
        return
    folder = tree.relative(made.folder)
    path = next((p for name in ("GNUmakefile", "makefile", "Makefile") if (p := join(folder, name)) in tree.known), "")
    for part in parts if path else ():
        line = tree.line_of(path, part.text.partition("$")[0].strip()[:40])
        yield ShellText(path, line or 1, part.text, part.options)
