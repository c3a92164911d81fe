"""How strict a run of a JavaScript linter can be by its configuration: whether it has rules, and whether one can fail."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from gate.commands.resolve import Command
from gate.repository.checks import Check
from gate.repository.javascript.configs import join, line_of, load, table
from gate.repository.javascript.eslint import config_of, load_eslint
from gate.repository.javascript.values import Unknown
from gate.repository.opening import Repository
from gate.repository.tree import Tree

_OFF = ("off", "allow", 0, False, None, 0.0)
_WARN = ("warn", 1, 1.0, "info", "warning")
_STYLELINT = (".json", ".yaml", ".yml", ".js", ".cjs", ".mjs", "")


class Strictness(NamedTuple):
    """What a run can find: `rules` are on, `fails` are those whose findings fail it. `path` and `line` is where that is said."""

    linter: str
    rules: int
    fails: int
    path: str
    line: int | None
    why: str = ""


def strictness(repo: Repository) -> Iterator[tuple[Check, Command, Strictness]]:
    """Yield each run of the gate whose configuration is known as a whole."""
    for at in repo.gate:
        for command in at.commands:
            read = _READERS.get(command.argv[0])
            found = (
                read(repo.tree, command)
                if read and not {"--version", "--help", "--init", "--print-config"} & set(command.argv)
                else None
            )
            if found is not None:
                yield at, command, found


def _eslint(tree: Tree, command: Command) -> Strictness | None:
    config = load_eslint(tree, command)
    if config is None or "--rule" in command.argv:
        return None
    limits = _limits(command)
    if "only-warn" in (tree.text(config.path) or ""):
        return Strictness(
            "eslint",
            1,
            int(limits),
            config.path,
            tree.line_of(config.path, "only-warn"),
            "eslint-plugin-only-warn makes warnings of all errors",
        )
    if config.hides_rules:
        return None
    levels = list(config.severities())
    if any(isinstance(level, Unknown) for level in levels):
        return None
    on = [level for level in levels if level not in _OFF]
    fails = [level for level in on if level not in _WARN]
    return Strictness("eslint", len(on), len(fails) + int(limits), config.path, tree.line_of(config.path, "rules") or 1)


def _biome(tree: Tree, command: Command) -> Strictness | None:
    kind = next((w for w in command.argv[1:] if not w.startswith("-")), "")
    path = config_of(tree, tree.relative(command.cwd), "biome", (".json", ".jsonc"))
    if (
        kind not in ("lint", "check", "ci")
        or path is None
        or any(w.startswith(("--config-path", "--only", "--linter-enabled")) for w in command.argv)
    ):
        return None
    config = tree.json(path) or {}
    rules, linter = table(config, "linter", "rules"), table(config, "linter")
    domains, overrides = table(linter, "domains"), config.get("overrides")
    if (
        not isinstance(rules, dict)
        or rules.get("recommended") is not False
        or config.get("extends")
        or domains
        or overrides
        or linter.get("enabled") is False
    ):
        return None
    levels = [_level(v) for group in rules.values() if isinstance(group, dict) for v in group.values()]
    groups = [v for k, v in rules.items() if not isinstance(v, dict) and k != "recommended" and v not in _OFF]
    if groups or any(isinstance(g, dict) and g.get("recommended") is True for g in rules.values()):
        return None
    on = [level for level in levels if level not in _OFF]
    strict = "--error-on-warnings" in command.argv
    return Strictness(
        "biome", len(on), sum(v not in _WARN for v in on) + int(strict), path, tree.line_of(path, '"recommended"')
    )


def _oxlint(tree: Tree, command: Command) -> Strictness | None:
    argv, folder = command.argv, tree.relative(command.cwd)
    given = [argv[i + 1] for i, w in enumerate(argv[:-1]) if w in ("-c", "--config")]
    path = join(folder, given[-1]) if given else config_of(tree, folder, ".oxlintrc", (".json", ".jsonc"))
    if any(w.startswith(("-D", "--deny", "--max-warnings", "-W", "--warn")) for w in argv):
        return None
    if config_of(tree, folder, "oxlint.config", (".ts", ".mts", ".js")) or (
        path and not path.endswith((".json", ".jsonc"))
    ):
        return None
    config: Mapping[str, Any] = (tree.json(path) if path and path in tree.known else None) or {}
    if (
        config.get("extends")
        or table(config, "options", "denyWarnings")
        or table(config, "options", "maxWarnings") is not None
    ):
        return None
    categories, rules, overrides = (config.get(k) for k in ("categories", "rules", "overrides"))
    levels = [_level(v) for t in (categories, rules) if isinstance(t, dict) for v in t.values()]
    for part in overrides if isinstance(overrides, list) else ():
        own = table(part, "rules")
        levels += [_level(v) for v in own.values()] if isinstance(own, dict) else []
    everything = "all" in [argv[i + 1] for i, w in enumerate(argv[:-1]) if w in ("-A", "--allow")]
    on = [v for v in levels if v not in _OFF]
    if not isinstance(categories, dict) or "correctness" not in categories:
        on.append("warn")  # the category that is on by itself
    on = [] if everything else on
    where = (path, 1) if path and path in tree.known else ("", None)
    why = "" if any(v in _WARN for v in levels) else "what it finds by itself are warnings"
    return Strictness("oxlint", len(on), sum(v not in _WARN for v in on), where[0], where[1], why)


def _stylelint(tree: Tree, command: Command) -> Strictness | None:
    folder = tree.relative(command.cwd)
    if any(w.startswith(("--config", "-c")) for w in command.argv):
        return None
    path = config_of(tree, folder, ".stylelintrc", _STYLELINT) or config_of(
        tree, folder, "stylelint.config", (".js", ".mjs", ".cjs")
    )
    config = load(tree, path) if path else None
    if not path or not isinstance(config, dict) or not getattr(config, "whole", True):
        return None
    rules = config.get("rules")
    levels = list(rules.values()) if isinstance(rules, dict) else []
    strict = _limits(command)
    if config.get("defaultSeverity") == "warning" and not any(
        table(v[1], "severity") == "error" for v in levels if isinstance(v, list) and len(v) > 1
    ):
        return Strictness("stylelint", 1, int(strict), path, line_of(tree, path, config, "defaultSeverity"))
    if config.get("extends") or config.get("overrides") or config.get("plugins") or not isinstance(rules, dict):
        return None
    on = [v for v in levels if v is not None and v is not False]
    return Strictness("stylelint", len(on), len(on), path, line_of(tree, path, config, "rules"))


def _limits(command: Command) -> bool:
    return any(w.partition("=")[0] == "--max-warnings" for w in command.argv)


def _level(value: Any) -> Any:
    if isinstance(value, dict):
        return value.get("level", "error")
    return value[0] if isinstance(value, list) and value else value


_READERS: dict[str, Callable[[Tree, Command], Strictness | None]] = {
    "eslint": _eslint, "eslint_d": _eslint, "biome": _biome, "oxlint": _oxlint, "stylelint": _stylelint,
}  # fmt: skip
