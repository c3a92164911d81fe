"""What commands ask of the packages of a workspace: which tasks, in which packages, by npm, pnpm, yarn, turbo, nx or lerna."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gate.commands.packages import Package, load_package, nearest_package, select, workspace_packages
from gate.commands.part import option_values, skip_options
from gate.commands.resolve import Command
from gate.patterns import later
from gate.repository.checks import Check
from gate.repository.javascript.configs import table
from gate.repository.opening import Repository
from gate.repository.tree import Tree

_MANAGERS = {"npm", "pnpm", "yarn", "bun"}
_RUNNERS = {"turbo", "nx", "lerna"}
_RUN = {"run", "run-script", "rum", "urn"}
_ALIASES = {"t": "test", "tst": "test"}
_FILTERS: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"-w", "--workspace"}), "pnpm": frozenset({"--filter", "-F", "--filter-prod"}), "bun": frozenset({"--filter", "-F"}),
    "yarn": frozenset({"--include", "--from"}), "turbo": frozenset({"--filter", "-F"}), "lerna": frozenset({"--scope"}),
    "nx": frozenset({"-p", "--projects", "--project"}),
}  # fmt: skip
_VALUES: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"--prefix", "-C", "--loglevel", "--script-shell"}),
    "pnpm": frozenset({"-C", "--dir", "--loglevel", "--reporter", "--workspace-concurrency", "--resume-from", "--test-pattern", "--changed-files-ignore-pattern"}),
    "bun": frozenset({"--cwd"}), "yarn": frozenset({"--cwd", "--exclude", "-j", "--jobs", "--since"}),
    "turbo": frozenset({"--concurrency", "--output-logs", "--log-order", "--log-prefix", "--cache-dir", "--cache", "--cwd", "--env-mode", "--token", "--team", "--api",
                        "--profile", "--ui", "--continue", "--cache-workers", "--global-deps", "--ignore", "--scope", "--since"}),
    "lerna": frozenset({"--ignore", "--since", "--concurrency", "--loglevel", "--npm-client"}),
    "nx": frozenset({"-t", "--target", "--targets", "-c", "--configuration", "--exclude", "--base", "--head", "--files", "--output-style", "--outputStyle", "--runner",
                     "--nxBail"}),
}  # fmt: skip
_TURBO_OWN = {"prune", "daemon", "login", "logout", "link", "unlink", "ls", "gen", "generate", "query", "boundaries", "bin", "config", "info", "scan", "telemetry",
              "completion", "docs", "watch", "clone", "devtools"}  # fmt: skip
_PNPM_OWN = {"install", "i", "add", "remove", "rm", "update", "up", "publish", "pack", "exec", "dlx", "deploy", "list", "ls", "why", "outdated", "audit", "licenses",
             "rebuild", "rb", "link", "unlink", "import", "prune", "fetch", "store", "patch", "config", "create", "start", "version"}  # fmt: skip
_WEIGHTY = later(r"test|check|lint|types?\b|verif|valid|\bci\b|e2e|spec|unit|smoke|integration|accept|build|tsc")
_MOST = 300  # packages that `workspace_packages` reads


class Asked(NamedTuple):
    """Tasks that a command runs in packages which it chooses: by `filters`, or `everywhere`."""

    program: str
    tasks: tuple[str, ...]
    filters: tuple[str, ...]
    everywhere: bool
    if_present: bool
    by_run: bool  # says `run`, so that no program of this name is tried
    command: Command

    @property
    def words(self) -> str:
        """Return the command line, short enough for a message."""
        text = " ".join(self.command.argv)
        return text if len(text) <= 70 else f"{text[:69]}…"

    @property
    def is_weighty(self) -> bool:
        """Return whether one of the tasks verifies something, or builds."""
        return any(_WEIGHTY.search(task) for task in self.tasks)


class Workspace(NamedTuple):
    """The packages of a workspace, and the one at its root; not `whole` when there may be more."""

    members: tuple[Package, ...]
    root: Package | None
    whole: bool

    @property
    def packages(self) -> tuple[Package, ...]:
        """Return all of them."""
        return (*((self.root,) if self.root else ()), *self.members)


def asked(command: Command) -> Asked | None:
    """Return what a command asks of packages; None for other commands, and where words of it are put in later."""
    program = command.argv[0]
    if program not in _MANAGERS | _RUNNERS or any(s in w for w in command.argv for s in ("$", "}}", "`")):
        return None
    argv = command.argv[1:]
    before = argv[: argv.index("--")] if "--" in argv else argv
    filters = tuple(option_values(before, _FILTERS[program]))
    flags = {w.partition("=")[0] for w in before if w.startswith("-") and not w.endswith(("=false", "=0"))}
    words = _alone(before, program)
    if program in _MANAGERS:
        return _of_manager(command, words, filters, flags)
    if program == "nx":
        return _of_nx(command, words, tuple(p for f in filters for p in f.split(",")), before)
    by_run = words[:1] == ["run"]
    if program == "lerna" and not by_run:
        return None
    tasks = tuple(words[1:] if by_run else words)
    if program == "turbo" and (not tasks or words[0] in _TURBO_OWN):
        return None
    return Asked(program, tasks[:1] if program == "lerna" else tasks, filters, True, False, True, command)


def workspace_of(tree: Tree, command: Command) -> Workspace:
    """Return the workspace around the folder in which a command runs."""

    def make() -> Workspace:
        members = workspace_packages(command.cwd, tree.root)
        top = next((p for f in (command.cwd, *command.cwd.parents) if f == tree.root and (p := load_package(f, tree.root))), None)  # fmt: skip
        return Workspace(members, top, 0 < len(members) < _MOST)

    return tree.once(f"workspace of {command.cwd}", make)


def own_package(tree: Tree, command: Command) -> Package | None:
    """Return the package whose scripts a package manager runs in the folder of a command."""
    return tree.once(f"package of {command.cwd}", lambda: nearest_package(command.cwd, tree.root))


def chosen(space: Workspace, filters: tuple[str, ...], command: Command) -> tuple[Package, ...]:
    """Return the packages that filters choose, all of them without any; those that only take away count for nothing."""
    wanted = [f for f in filters if not f.startswith("!")]
    if not wanted:
        return space.packages
    return tuple(p for p in space.packages if any(names(space, f, p, command) for f in wanted))


def names(space: Workspace, filter_: str, package: Package, command: Command) -> bool:
    """Return whether a filter of a package manager or of turbo names a package; true where that cannot be said."""
    core = re.sub(r"\[.*?\]", "", filter_).replace("...", "").strip("^")
    if not core or core == "//" or "(" in core.replace("!(", "") or "{" in core[1:]:
        return True
    base = command.cwd if core.startswith((".", "{")) else space.root.path if space.root else command.cwd
    if package in select(space.packages, core, base):
        return True
    return command.argv[0] in ("npm", "turbo") and package in select(space.packages, f"./{core}", command.cwd)


def is_here(repo: Repository, at: Check, command: Command) -> bool:
    """Return whether a command runs in a folder of this repository, with the files of this repository in it."""
    folder = repo.tree.relative(command.cwd)
    return (folder == "." or folder in repo.tree.folders) and not _is_foreign(repo, at)


def scripts_everywhere(repo: Repository) -> Iterator[tuple[Check, Asked]]:
    """Yield what the checks that decide ask of the packages of this repository."""
    for at in repo.gate:
        for command in at.commands:
            found = asked(command)
            if found is not None and is_here(repo, at, command):
                yield at, found


def _of_manager(command: Command, words: list[str], filters: tuple[str, ...], flags: set[str]) -> Asked | None:
    program = command.argv[0]
    everywhere = bool({"-r", "--recursive", "--workspaces", "-ws"} & flags)
    if program == "yarn" and words[:1] == ["workspace"] and len(words) > 2:
        filters, words = (words[1],), words[2:]
    elif program == "yarn" and words[:2] == ["workspaces", "foreach"]:
        everywhere, words = True, words[2:]
    elif program == "yarn" and words[:1] == ["workspaces"]:  # yarn 1: `yarn workspaces run x`
        everywhere, words = True, words[1:]
    elif program == "yarn":
        filters = ()
    by_run = bool(words) and words[0] in _RUN
    words = words[1:] if by_run else words
    name = _ALIASES.get(words[0], words[0]) if words else ""
    if not name or not (by_run or name == "test" or (filters and program in ("pnpm", "yarn"))):
        return None
    if not by_run and name in _PNPM_OWN:
        return None
    return Asked(program, (name,), filters, everywhere, "--if-present" in flags, by_run, command)


def _of_nx(command: Command, words: list[str], filters: tuple[str, ...], before: tuple[str, ...]) -> Asked | None:
    if words[:1] not in (["run-many"], ["affected"]):
        return None
    listed, taking = list[str](), False
    for word in before:
        name, equals, value = word.partition("=")
        taking = name in ("-t", "--target", "--targets") if word.startswith("-") else taking
        listed += (
            (value if equals else word).split(",")
            if taking and (equals or word != name or not word.startswith("-"))
            else []
        )
    return Asked("nx", tuple(listed), filters, True, False, True, command) if listed else None


def _alone(before: tuple[str, ...], program: str) -> list[str]:
    """Return the words that are no options and no values of options; npm takes options wherever they stand."""
    values = _VALUES[program] | _FILTERS[program]
    found, rest = list[str](), list(before)
    while rest:
        rest = skip_options(rest, values)
        if rest:
            found.append(rest.pop(0))
            if (
                program in ("pnpm", "bun", "yarn")
                and found[-1] not in _RUN | {"workspace", "workspaces", "foreach"}
                and found[-2:-1] != ["workspace"]
            ):
                return [*found, *rest]  # the rest is the script's
    return found


def _is_foreign(repo: Repository, at: Check) -> bool:
    """Return whether a job of a workflow checks out another repository than its own."""

    def make() -> frozenset[tuple[str, str]]:
        return frozenset(
            (w.path, job.label)
            for w in repo.workflows
            for job in w.jobs
            for step in job.steps
            if step.uses.startswith("actions/checkout") and _takes_another(step.found.get("with"))
        )

    foreign = repo.tree.once("jobs that check out others", make)
    return not at.is_policy and (at.source, at.name.partition(" / ")[0]) in foreign


def _takes_another(given: Any) -> bool:
    repository = str(table(given, "repository") or "")
    return bool(repository) and "github.repository" not in repository and "head.repo" not in repository
