"""The texts that a check reads: its own, its shell files, and the scripts of package.json files that it runs by name."""

from collections.abc import Iterator

from gate.repository.checks import Check
from gate.repository.js_packages import packages, script_line
from gate.repository.js_scripts import named
from gate.repository.shell_files import ShellText, shell_texts
from gate.repository.tree import Tree


def script_texts(tree: Tree, at: Check) -> Iterator[ShellText]:
    """Yield each text once, with the place where it begins."""
    yield from shell_texts(tree, at)
    seen = set[tuple[str, str]]()
    for command in at.commands:
        found = named(command)
        member = packages(tree).get(tree.relative(command.cwd)) if found else None
        if found is None or member is None or found.name not in member.scripts or (member.path, found.name) in seen:
            continue
        seen.add((member.path, found.name))
        yield ShellText(member.path, script_line(tree, member, found.name) or 1, member.scripts[found.name], at.options)
