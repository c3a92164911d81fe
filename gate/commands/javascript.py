"""npm, pnpm, yarn and bun scripts, their workspaces, and what runs several scripts: turbo, nx, lerna, run-s."""

import fnmatch
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gate.commands import nx
from gate.commands.packages import Package, load_package, nearest_package, select, workspace_packages
from gate.commands.part import Part, join, option_values, skip_options

_VALUES = frozenset(
    {"-w", "--workspace", "--prefix", "-C", "--dir", "--cwd", "--filter", "-F", "--filter-prod", "--loglevel"}
    | {"--reporter", "--workspace-concurrency", "--script-shell", "--include", "--from", "--since", "-j", "--jobs"}
    | {"--concurrency", "--output-logs", "--scope", "--cache-dir", "--log-order", "--stream-prefix"}
)
_MANAGERS = {"npm", "pnpm", "yarn", "bun"}
_RUN = {"run", "run-script", "rum", "urn"}
_OWN_COMMANDS = {
    "npm": {
        "ci",
        "i",
        "install",
        "audit",
        "pack",
        "publish",
        "version",
        "config",
        "cache",
        "ls",
        "view",
        "prune",
        "init",
    },
    "pnpm": {
        "i",
        "install",
        "add",
        "audit",
        "pack",
        "publish",
        "config",
        "store",
        "list",
        "ls",
        "why",
        "fetch",
        "deploy",
    },
    "yarn": {"install", "add", "audit", "pack", "publish", "config", "cache", "info", "why", "dedupe", "set", "up"},
    "bun": {"install", "i", "add", "build", "init", "create", "pm", "test", "link", "update"},
}
_ALIASES = {"t": "test", "tst": "test"}
_SEVERAL = {"run-s", "run-p", "npm-run-all", "npm-run-all2", "concurrently", "wireit"}


def expand(argv: tuple[str, ...], cwd: Path, root: Path) -> Sequence[Part] | None:
    """Return the texts of the scripts that this command runs, None when it runs none."""
    if argv[0] in _MANAGERS:
        return _manager(argv, cwd, root)
    if argv[0] in {"node", "nodejs"}:
        return _node(argv, cwd)
    if argv[0] == "next" and argv[1:2] == ("lint",):
        return [Part(join(["eslint", "app", "pages", "components", "lib", "src"]), cwd)]
    if argv[0] == "start-server-and-test":
        return [Part(_script_or_command(argv[-1]), cwd)]
    if argv[0] in _SEVERAL:
        return _several(argv, cwd, root)
    if argv[0] == "turbo":
        return _turbo(argv, cwd, root)
    if argv[0] == "lerna":
        return _lerna(argv, cwd, root)
    if argv[0] == "nx":
        return nx.expand(argv, cwd, root)
    return None


def _manager(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part] | None:
    manager = argv[0]
    before_extra = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    places = option_values(before_extra, frozenset({"--prefix", "-C", "--dir", "--cwd"}))
    here = cwd / places[-1] if places else cwd
    words = skip_options(argv[1:], _VALUES)
    if manager == "yarn" and words[:1] == ["workspace"] and len(words) > 2:
        named = select(workspace_packages(here, root), words[1], here)
        return _scripts(named, words[2:] if words[2] not in _RUN else words[3:], root)
    foreach = manager == "yarn" and words[:1] == ["workspaces"]
    if foreach:
        words = skip_options(words[1:], _VALUES)
        words = skip_options(words[1:], _VALUES) if words[:1] == ["foreach"] else words
    if words[:1] and words[0] in _RUN:
        words = skip_options(words[1:], _VALUES)
    elif words[:1] and words[0] in _OWN_COMMANDS[manager]:
        return None
    elif words[:1] == ["exec"]:
        return [
            Part(join(skip_options(words[1:], _VALUES)), p.path) for p in _chosen(argv, here, root, all_of_them=False)
        ]
    if not words:
        return None
    words[0] = _ALIASES.get(words[0], words[0]) if manager in {"npm", "pnpm"} else words[0]
    if manager == "npm":  # takes all options before `--` for itself, wherever they stand
        given = argv[argv.index("--") + 1 :] if "--" in argv else ()
        words = [*_positional(words[: words.index("--")] if "--" in words else words), *given]
    if words[0] not in {"test", "start"} and manager == "npm" and not set(argv) & _RUN:
        return None
    packages = _chosen(argv, here, root, all_of_them=foreach)
    found = _scripts(packages, words, root)
    if not found and packages and manager in {"yarn", "pnpm"} and not any(words[0] in p.scripts for p in packages):
        return [Part(join(words), p.path, launcher=(manager,)) for p in packages]  # `yarn jest` runs the program
    return found


def _chosen(argv: tuple[str, ...], here: Path, root: Path, *, all_of_them: bool) -> tuple[Package, ...]:
    """Return the packages in which a package manager runs a script, by its workspace options."""
    options = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    filters = option_values(options, frozenset({"-w", "--workspace", "--filter", "-F", "--filter-prod"}))
    if argv[0] in {"pnpm", "bun"}:
        filters = option_values(options, frozenset({"--filter", "-F", "--filter-prod"}))
    if filters:
        members = workspace_packages(here, root)
        chosen = [p for f in filters if not f.startswith("!") for p in _named(members, f, here)]
        chosen = chosen or (list(members) if all(f.startswith("!") for f in filters) else [])
        for dropped in (f for f in filters if f.startswith("!")):
            chosen = [p for p in chosen if p not in select(members, dropped[1:], here)]
        return tuple({package.path: package for package in chosen}.values())
    several = {"--workspaces", "-ws", "-r", "--recursive"} & set(options)
    if all_of_them or several:
        return workspace_packages(here, root)
    if argv[0] == "pnpm" and {"-w", "--workspace-root"} & set(options):
        top = load_package(root, root)
        return (top,) if top else ()
    package = nearest_package(here, root)
    return (package,) if package else ()


def _named(members: tuple[Package, ...], pattern: str, here: Path) -> tuple[Package, ...]:
    by_name = select(members, pattern, here)
    return by_name or select(members, f"./{pattern}", here)


def _scripts(packages: Iterable[Package], words: Sequence[str], root: Path) -> list[Part]:
    """Return script `words[0]` of each package with its pre and post scripts; further words are its arguments."""
    del root
    if not words:
        return []
    name, extra = words[0], [word for i, word in enumerate(words[1:]) if not (word == "--" and i == 0)]
    parts = list[Part]()
    for package in packages:
        for script in (f"pre{name}", name, f"post{name}"):
            text = package.scripts.get(script)
            if text is not None and name in package.scripts:
                parts.append(
                    Part(f"{text} {join(extra)}" if extra and script == name else text, package.path, fresh=True)
                )
    return parts


def _node(argv: tuple[str, ...], cwd: Path) -> list[Part] | None:
    """`node node_modules/jest/bin/jest.js` is jest; other files are programs of the repository."""
    for i, word in enumerate(argv[1:], start=1):
        if word.startswith("-"):
            continue
        if "node_modules/" not in word:
            return None
        package, _, file = word.rpartition("node_modules/")[2].partition("/")
        name = file.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        if package.startswith("@"):
            package = file.split("/")[0]
        name = "playwright" if name == "cli" and "playwright" in word else name
        return [Part(join([name if name not in {"index", "cli", "main"} else package, *argv[i + 1 :]]), cwd)]
    return None


def _script_or_command(script: str) -> str:
    return f"npm run {script}" if re.fullmatch(r"[\w:.-]+", script) else script


def _several(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part] | None:
    package = nearest_package(cwd, root)
    scripts = package.scripts if package else {}
    parts = list[Part]()
    for word in skip_options(argv[1:], frozenset({"-n", "--names", "-c", "--prefix-colors", "-l", "--max-processes"})):
        if argv[0] == "concurrently" and not word.startswith(("npm:", "pnpm:", "yarn:", "bun:")):
            if not word.startswith("-"):
                parts.append(Part(word, cwd))
            continue
        name = word.split(":", 1)[1] if argv[0] == "concurrently" else word.split(" ")[0]
        if name.startswith("-"):
            continue
        pattern = name.replace("**", "*")
        parts += [Part(f"npm run {script}", cwd) for script in scripts if fnmatch.fnmatchcase(script, pattern)]
    return parts


def _turbo(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part]:
    before_extra = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    extra = list(argv[argv.index("--") + 1 :]) if "--" in argv else []
    words = [w for w in _positional(before_extra) if w != "run"]
    members = workspace_packages(cwd, root)
    for pattern in option_values(before_extra, frozenset({"--filter", "-F"})):
        members = _named(members, pattern, cwd)
    top = load_package(cwd, root)
    parts = list[Part]()
    for task in words:
        package_name, _, script = task.rpartition("#")
        chosen = tuple(p for p in members if not package_name or p.name == package_name)
        if package_name == "//" and top is not None:
            chosen = (top,)
        parts += _scripts(chosen, [script, *extra], root)
    return parts


def _lerna(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part] | None:
    words = _positional(argv[1:])
    members = workspace_packages(cwd, root)
    for pattern in option_values(argv[1:], frozenset({"--scope"})):
        members = select(members, pattern, cwd)
    if words[:1] == ["run"]:
        return [part for script in words[1:] for part in _scripts(members, [script], root)]
    return None


def _positional(words: Sequence[str]) -> list[str]:
    found, rest = list[str](), list(words)
    while rest:
        rest = skip_options(rest, _VALUES)
        if rest:
            found.append(rest.pop(0))
    return found
