"""nx targets: `nx run-many -t test`, `nx affected -t lint`, `nx test app`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gate.commands.packages import folders, load_json, workspace_packages
from gate.commands.part import Part, option_values, skip_options

_VALUES = frozenset(
    {"-t", "--target", "--targets", "-p", "--projects", "--base", "--head", "--files", "--parallel", "-c"}
    | {"--configuration", "--exclude", "--output-style", "--runner"}
)
_EXECUTORS = {"jest": "jest", "vite:test": "vitest run", "vitest": "vitest run", "vite:build": "vite build"}
_EXECUTORS |= {"eslint": "eslint .", "playwright": "playwright test", "js:tsc": "tsc", "next:build": "next build"}


def expand(argv: tuple[str, ...], cwd: Path, root: Path) -> Sequence[Part] | None:
    """Return what the targets of the projects run, as far as files of the repository say."""
    words = skip_options(argv[1:], _VALUES)
    if not words:
        return None
    targets = [t for v in option_values(argv, frozenset({"-t", "--target", "--targets"})) for t in v.split(",")]
    affected = words[0] in {"affected"}
    projects: list[str] | None = None
    if words[0] in {"run-many", "affected"}:
        listed = option_values(argv, frozenset({"-p", "--projects"}))
        projects = [p for v in listed for p in v.split(",")] or None
    elif words[0] == "run" and len(words) > 1:
        name, _, target = words[1].partition(":")
        projects, targets = [name], [target.split(":")[0]]
    else:
        targets, projects = [words[0]], words[1:2] or None
    return [
        Part(text, folder, sure=not affected, fresh=True)
        for folder, name, known in _projects(cwd, root)
        if projects is None or name in projects
        for target in targets
        if (text := known.get(target))
    ]


def _projects(cwd: Path, root: Path) -> list[tuple[Path, str, dict[str, str]]]:
    found = list[tuple[Path, str, dict[str, str]]]()
    for package in workspace_packages(cwd, root):
        known = dict(package.scripts) | _targets(load_json(package.path / "project.json", root) or {})
        found.append((package.path, package.name, known))
    seen = {folder for folder, _, _ in found}
    for folder in (cwd, *(f for pattern in ("*", "*/*", "*/*/*") for f in folders(cwd, pattern))):
        if folder not in seen and (folder / "project.json").is_file():
            project = load_json(folder / "project.json", root) or {}
            found.append((folder, str(project.get("name") or folder.name), _targets(project)))
    return found


def _targets(project: dict[str, Any]) -> dict[str, str]:
    targets = project.get("targets")
    known = dict[str, str]()
    for name, target in (targets if isinstance(targets, dict) else {}).items():
        if not isinstance(target, dict):
            continue
        options = target.get("options")
        command = target.get("command") or (options.get("command") if isinstance(options, dict) else None)
        executor = str(target.get("executor") or "")
        if isinstance(command, str):
            known[name] = command
            continue
        for part, text in _EXECUTORS.items():
            if part in executor:
                known[name] = text
                break
    return known
