"""Shell text that a check runs: its own, and that of the files which it reaches; where a command stands in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gate.commands.resolve import Command
from gate.commands.shell import Options, shell_options
from gate.repository.checks import Check
from gate.repository.tree import Tree

_SHELLS = {"bash", "sh", "dash", "zsh", "ksh", "ash", "source", "."}
_SCRIPTS = (
    "package.json", "Makefile", "makefile", "GNUmakefile", "tox.ini", "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py",
    "justfile", "Taskfile.yml", "composer.json", "deno.json",
)  # fmt: skip


class ShellText(NamedTuple):
    """Text that a shell reads; `line` is the line of the file in which it begins."""

    path: str
    line: int
    text: str
    options: Options


def shell_texts(tree: Tree, check: Check) -> tuple[ShellText, ...]:
    """Return the check's own text, then each shell file of the repository that it starts, once."""
    key = f"texts of {check.source} {check.line} {check.name} {len(check.commands)} {check.text}"
    return tree.once(key, lambda: tuple(_texts(tree, check)))


def _texts(tree: Tree, check: Check) -> Iterator[ShellText]:
    yield ShellText(check.source, check.line or 1, check.text, check.options)
    seen = set[str]()
    for command in check.commands:
        path = _file(tree, command)
        if path and path not in seen:
            seen.add(path)
            text = tree.text(path) or ""
            first = text.partition("\n")[0]
            words = first.split()[1:] if first.startswith("#!") else []
            given = [] if command.argv[0] not in _SHELLS else [w for w in command.argv[1:] if w.startswith("-")]
            yield ShellText(path, 1, text, shell_options([*words, *given]))


def place(tree: Tree, check: Check, command: Command, word: str = "") -> tuple[str, int | None]:
    """Return the file and line in which a command stands, with a word of what stands beside it where there is one."""
    name = (command.program or command.argv[0]).rsplit("/", 1)[-1]
    wanted = [[name, command.argv[1], word] if len(command.argv) > 1 else [name, word], [name, word], [word]]
    for needles in (*wanted, [name]) if word else (wanted[0], [name]):
        for path, start, end in _places(tree, check, command):
            text = tree.text(path) or ""
            if not all(needle in text for needle in needles):
                continue
            lines = text.splitlines()
            for number in range(start, min(end, len(lines)) + 1):
                if all(needle in lines[number - 1] for needle in needles if needle):
                    return path, number
    return check.source, check.line


def _places(tree: Tree, check: Check, command: Command) -> Iterator[tuple[str, int, int]]:
    start = check.line or 1
    yield check.source, start, start + check.text.count("\n") + 1
    for text in shell_texts(tree, check)[1:]:
        yield text.path, 1, 1 << 30
    folder = tree.relative(command.cwd)
    for name in _SCRIPTS:
        path = name if folder == "." else f"{folder}/{name}"
        if path in tree.known:
            yield path, 1, 1 << 30


def _file(tree: Tree, command: Command) -> str:
    """Return the shell file that a command starts, nothing where it starts none."""
    if command.argv[0] in _SHELLS:
        word = next((w for w in command.argv[1:] if not w.startswith(("-", "+"))), "")
    else:
        word = command.program if "/" in command.program else ""
    if not word or "$" in word or "\0" in word:
        return ""
    path = tree.relative(command.cwd / Path(word))
    if path not in tree.known:
        return ""
    text = tree.text(path) or ""
    first = text.partition("\n")[0]
    return path if path.endswith((".sh", ".bash")) or (first.startswith("#!") and "sh" in first) else ""
