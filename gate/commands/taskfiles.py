"""Task files beside package.json and make: just, task, mise, deno and composer."""

import re
from collections.abc import Sequence
from pathlib import Path

from gate.commands.part import Part, join, skip_options
from gate.commands.scripts import read_inside
from gate.patterns import later
from gate.strangers import json_of, toml_of, yaml_of

_VALUES = frozenset({"-f", "--justfile", "-d", "--working-directory", "-t", "--taskfile", "-C", "--cd", "--dir"})
_JUST_RECIPE = later(r"^@?([A-Za-z_][\w-]*)((?:\s+[^:=\s]+(?:=\S+)?)*)\s*:(?!=)\s*(.*)$")


def expand(argv: tuple[str, ...], cwd: Path, root: Path) -> Sequence[Part] | None:
    """Return the commands of the tasks that are named, None when this runs no task file."""
    if argv[0] == "composer":
        return _composer(argv, cwd, root)
    words = skip_options(argv[1:], _VALUES)
    match argv[0]:
        case "just":
            recipes = _just(_first(cwd, root, ("justfile", "Justfile", ".justfile")))
            names = words[:1] or list(recipes)[:1]
        case "task" | "go-task":
            recipes = _task(_first(cwd, root, ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml")))
            names = [w for w in words if w in recipes] or ["default"]
        case "mise" if words[:1] in (["run"], ["r"]):
            recipes = _mise(_first(cwd, root, ("mise.toml", ".mise.toml")))
            names = words[1:2]
        case "deno" if words[:1] == ["task"]:
            recipes = _deno(_first(cwd, root, ("deno.json", "deno.jsonc")))
            names = words[1:2]
        case _:
            return None
    lines = list[str]()
    for name in names:
        _collect(name, recipes, lines, set())
    return [Part(line, cwd) for line in lines] or None


def _collect(name: str, recipes: dict[str, tuple[list[str], list[str]]], lines: list[str], seen: set[str]) -> None:
    if name in seen or name not in recipes:
        return
    seen.add(name)
    needs, commands = recipes[name]
    for need in needs:
        _collect(need, recipes, lines, seen)
    lines += commands


def _first(cwd: Path, root: Path, names: Sequence[str]) -> str:
    for name in names:
        data = read_inside(cwd / name, root)
        if data is not None:
            return data.decode("utf-8", "replace")
    return ""


def _just(text: str) -> dict[str, tuple[list[str], list[str]]]:
    found: dict[str, tuple[list[str], list[str]]] = {}
    commands: list[str] = []
    for line in re.sub(r"\\\n[ \t]*", " ", text).split("\n"):
        recipe = _JUST_RECIPE.match(line)
        if recipe:
            commands = []
            found[recipe[1]] = (re.findall(r"[A-Za-z_][\w-]*", recipe[3].split("#")[0]), commands)
        elif line[:1] in {" ", "\t"} and line.strip():
            commands.append(line.strip().lstrip("@-"))
        elif line.strip() and not line.startswith(("#", "[")):
            commands = []
    return found


def _task(text: str) -> dict[str, tuple[list[str], list[str]]]:
    loaded = yaml_of(text)
    tasks = loaded.get("tasks") if isinstance(loaded, dict) else None
    found: dict[str, tuple[list[str], list[str]]] = {}
    for name, task in (tasks if isinstance(tasks, dict) else {}).items():
        table = task if isinstance(task, dict) else {"cmds": task if isinstance(task, list) else [task]}
        commands = [_task_command(c) for c in [*_listed(table.get("cmds")), *_listed(table.get("cmd"))]]
        needs = [str(d.get("task") if isinstance(d, dict) else d) for d in _listed(table.get("deps"))]
        found[str(name)] = (needs, commands)
    return found


def _task_command(command: object) -> str:
    if isinstance(command, dict):
        return str(command.get("cmd") or join(["task", str(command.get("task"))]))
    return str(command)


def _mise(text: str) -> dict[str, tuple[list[str], list[str]]]:
    tasks = (toml_of(text) or {}).get("tasks")
    found: dict[str, tuple[list[str], list[str]]] = {}
    for name, task in (tasks if isinstance(tasks, dict) else {}).items():
        table = task if isinstance(task, dict) else {"run": task}
        found[name] = (
            [str(d) for d in _listed(table.get("depends"))],
            [str(c) for c in _listed(table.get("run")) if isinstance(c, str)],
        )
    return found


def _deno(text: str) -> dict[str, tuple[list[str], list[str]]]:
    loaded = json_of(re.sub(r"^[ \t]*//.*$", "", text, flags=re.MULTILINE))
    tasks = loaded.get("tasks") if isinstance(loaded, dict) else None
    found: dict[str, tuple[list[str], list[str]]] = {}
    for name, task in (tasks if isinstance(tasks, dict) else {}).items():
        table = task if isinstance(task, dict) else {"command": task}
        commands = [table["command"]] if isinstance(table.get("command"), str) else []
        found[name] = ([str(d) for d in _listed(table.get("dependencies"))], commands)
    return found


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _composer(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part] | None:
    from_file = _composer_scripts(cwd, root)
    words = [w for w in argv[1:] if not w.startswith("-")]
    if words[:1] and words[0] in {"run", "run-script"}:
        words = words[1:]
    if words[:1] == ["exec"]:
        return [Part(join(words[1:]), cwd)]
    texts = from_file.get(words[0], []) if words else []
    return [
        Part(f"composer {t[1:]}" if t.startswith("@") and not t.startswith("@php") else t, cwd) for t in texts
    ] or None


def _composer_scripts(cwd: Path, root: Path) -> dict[str, list[str]]:
    """Return the scripts of composer.json."""
    data = read_inside(cwd / "composer.json", root)
    found = json_of(data or b"{}")
    scripts = found.get("scripts") if isinstance(found, dict) else None
    if not isinstance(scripts, dict):
        return {}
    return {
        k: [v] if isinstance(v, str) else [str(t) for t in v] for k, v in scripts.items() if isinstance(v, str | list)
    }
