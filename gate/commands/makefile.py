"""make targets: the recipes of a target and of what it needs, with simple variables filled in."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gate.commands.part import Part, option_values
from gate.commands.scripts import read_inside
from gate.commands.shell import shell_options
from gate.patterns import later

_NAMES = ("GNUmakefile", "makefile", "Makefile")
_VALUES = frozenset({"-C", "--directory", "-f", "--file", "--makefile", "-j", "-l", "-o", "-W", "-I", "-O"})
_RUNS_NOTHING = {"-n", "--just-print", "--dry-run", "--recon", "-t", "--touch", "-q", "--question"}
_FORGIVES = {"-i", "--ignore-errors"}
_SHELLS = {"bash", "sh", "dash", "zsh", "ksh", "ash"}
_ASSIGN = later(r"^(?:export\s+|override\s+)*([\w.-]+)\s*(\?=|:{0,3}=|\+=)\s*(.*)$")
_RULE = later(r"^([^\s:=#][^:=#]*?)\s*::?(?!=)\s*([^;]*)(?:;(.*))?$")
_VARIABLE = later(r"\$(?:\((\w[\w.-]*)\)|\{(\w[\w.-]*)\}|(\w))")


class Rules:
    """What a makefile says: variables, and of each target what it needs and its recipe; `first` is made by default."""

    def __init__(self) -> None:
        self.variables: dict[str, str] = {}
        self.needs: dict[str, list[str]] = {}
        self.recipes: dict[str, list[str]] = {}
        self.first = ""
        self.is_whole = True  # no file that it includes is missing, no pattern may stand for any name


class Made(NamedTuple):
    """What a make command reads: the rules, the folder in which it works, and the targets that it is given."""

    rules: Rules
    folder: Path
    targets: tuple[str, ...]


def expand(argv: tuple[str, ...], cwd: Path, root: Path) -> Sequence[Part] | None:
    """Return the recipe lines that make would run, None when this is not make or there is no makefile."""
    made = load(argv, cwd, root)
    if made is None:
        return None
    flags = {word for word in argv[1:] if word.startswith("-")}
    if flags & _RUNS_NOTHING:
        return []
    rules, here, targets = made
    shell = (rules.variables.get("SHELL") or "sh").split()
    if shell[0].rsplit("/", 1)[-1] not in _SHELLS | {"env"}:
        return []  # whatever reads the recipes, it is no shell
    options = shell_options([*shell[1:], *rules.variables.get(".SHELLFLAGS", "").split()])
    lines = list[tuple[str, bool]]()
    for target in targets or [rules.first]:
        _collect(target, rules, lines, set())
    forgives = bool(flags & _FORGIVES)
    return [Part(line, here, options=options, binds=binds and not forgives) for line, binds in lines]


def load(argv: tuple[str, ...], cwd: Path, root: Path) -> Made | None:
    """Return what a command line of make reads, None when this is not make or there is no makefile."""
    if argv[0] not in {"make", "gmake"}:
        return None
    here = cwd
    for folder in option_values(argv, frozenset({"-C", "--directory"})):
        here = here / folder
    files = option_values(argv, frozenset({"-f", "--file", "--makefile"})) or list(_NAMES)
    data = next((d for name in files if (d := read_inside(here / name, root)) is not None), None)
    if data is None:
        return None
    rules = Rules()
    _read(data.decode("utf-8", "replace"), rules, here, root, depth=0)
    targets = list[str]()
    for word in _positional(argv[1:]):
        name, equals, value = word.partition("=")
        if equals:
            rules.variables[name] = value
        else:
            targets.append(word)
    return Made(rules, here, tuple(targets))


def _positional(words: Sequence[str]) -> list[str]:
    found, skip = list[str](), False
    for word in words:
        if skip:
            skip = False
        elif word in _VALUES:
            skip = word not in {"-j", "-l", "-O"}
        elif not word.startswith("-"):
            found.append(word)
    return [word for word in found if not word.isdigit()]


def _read(text: str, rules: Rules, here: Path, root: Path, *, depth: int) -> None:
    current: list[str] = []
    for line in re.sub(r"\\\n[ \t]*", " ", text).split("\n"):
        if line.startswith("\t"):
            for target in current:
                rules.recipes.setdefault(target, []).append(line.strip())
            continue
        line = line.split("#")[0].rstrip() if "#" in line else line.rstrip()
        stripped = line.strip()
        if not stripped:
            continue
        if stripped.startswith(("include ", "-include ", "sinclude ")) and depth < 3:
            for name in fill(stripped.split(None, 1)[1], rules.variables).split():
                data = read_inside(here / name, root)
                rules.is_whole &= data is not None
                if data is not None:
                    _read(data.decode("utf-8", "replace"), rules, here, root, depth=depth + 1)
            continue
        rules.is_whole &= "%" not in stripped and "$(eval" not in stripped and not stripped.startswith("define ")
        current = _statement(stripped, rules, current)


def _statement(line: str, rules: Rules, current: list[str]) -> list[str]:
    """Take one assignment or rule; return the targets that following recipe lines belong to."""
    assigned = _ASSIGN.match(line)
    if assigned:
        name, operator, value = assigned.groups()
        if operator == "+=":
            value = f"{rules.variables.get(name, '')} {value}".strip()
        if operator != "?=" or name not in rules.variables:
            rules.variables[name] = value
        return current
    rule = _RULE.match(line)
    if not rule:
        return current
    targets = fill(rule[1], rules.variables).split()
    for target in targets:
        rules.needs.setdefault(target, []).extend(fill(rule[2], rules.variables).replace("|", " ").split())
        if rule[3]:
            rules.recipes.setdefault(target, []).append(rule[3].strip())
        if not rules.first and not target.startswith(".") and "%" not in target:
            rules.first = target
    return targets


def _collect(target: str, rules: Rules, lines: list[tuple[str, bool]], seen: set[str]) -> None:
    if target in seen or len(seen) > 200:
        return
    seen.add(target)
    for need in rules.needs.get(target, ()):
        _collect(need, rules, lines, seen)
    forgiven = ".IGNORE" in rules.needs and (not rules.needs[".IGNORE"] or target in rules.needs[".IGNORE"])
    for recipe in rules.recipes.get(target, ()):
        prefix = recipe[: len(recipe) - len(recipe.lstrip("@-+ \t"))]
        text = fill(recipe.lstrip("@-+ \t"), rules.variables | {"@": target, "MAKE": "make"}).replace("$$", "$")
        lines.append((text.replace("$@", target), not forgiven and "-" not in prefix))


def fill(text: str, variables: dict[str, str], depth: int = 0) -> str:
    """Return text with the makefile's own variables filled in; functions and unknown names stay as they are."""
    if depth > 5 or "$" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        return fill(variables[name], variables, depth + 1) if name in variables else match[0]

    return re.sub(r"(?<!\$)" + _VARIABLE.pattern, value, text)
