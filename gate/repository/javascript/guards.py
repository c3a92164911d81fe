"""Whether a run of a test runner fails, by an option or a setting, when a test is singled out."""

from typing import Any

from gate.commands.resolve import Command
from gate.repository.javascript.collecting.collection import Collection
from gate.repository.javascript.configs import config_in, join, load, table
from gate.repository.tree import Tree

_PLAYWRIGHT = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs")
_MOCHA = (".js", ".cjs", ".mjs", ".yaml", ".yml", ".jsonc", ".json", "")


def is_guarded(tree: Tree, run: Collection, command: Command) -> bool | None:
    """Return whether it fails then; None where that cannot be known."""
    match run.runner:
        case "playwright":
            return "--forbid-only" in command.argv or _set(
                _config(tree, command, "playwright.config", _PLAYWRIGHT), "forbidOnly"
            )
        case "mocha":
            if "--forbid-only" in command.argv:
                return True
            config = _config(tree, command, ".mocharc", _MOCHA)
            package = join(tree.relative(command.cwd), "package.json")
            own = table(tree.json(package) if package in tree.known else None, "mocha") if config is None else config
            given = [_set(own, key) for key in ("forbidOnly", "forbid-only")]
            return True if True in given else None if None in given else False
        case "vitest":
            return not any(w in ("--allowOnly", "--allowOnly=true", "--allow-only") for w in command.argv)
        case "bun":
            return True
        case _:
            return False


def _config(tree: Tree, command: Command, stem: str, endings: tuple[str, ...]) -> Any:
    """Return the settings of a run, None where there is no such file."""
    argv, folder = command.argv, tree.relative(command.cwd)
    given = [argv[i + 1] for i, w in enumerate(argv[:-1]) if w in ("-c", "--config")]
    given += [w.partition("=")[2] for w in argv if w.startswith("--config=")]
    path = join(folder, given[-1]) if given else config_in(tree, folder, stem, endings)
    return load(tree, path) if path and path in tree.known else None


def _set(config: Any, key: str) -> bool | None:
    """Return whether a setting is on, be it in CI alone; None where it may be."""
    if config is None:
        return False
    if not isinstance(config, dict):
        return None
    if key in config:
        return config[key] is not False
    return False if getattr(config, "whole", True) else None
