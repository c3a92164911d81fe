"""Which scripts of package.json files the gate runs, also through turbo's and nx's dependencies and through installing."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gate import tools
from gate.commands.resolve import Command, resolve
from gate.repository.checks import Check
from gate.repository.javascript.configs import table
from gate.repository.javascript.globs import matches
from gate.repository.javascript.packages import Member, packages
from gate.repository.opening import Repository
from gate.repository.tree import Tree

_RUN = {"run", "run-script"}
_SEVERAL = ("turbo", "nx", "lerna", "lage", "moon", "rush", "wireit", "pnpm", "yarn", "npm", "bun")
_SELF = {"test", "t", "tst", "start"}
_INSTALLS = {"install", "i", "ci", "add"}
_NO_SCRIPTS = {"install", "i", "add", "remove", "exec", "dlx", "node", "workspace", "workspaces", "audit", "pack", "publish", "config", "cache", "info", "why", "dedupe",
               "set", "up", "update", "upgrade", "list", "ls", "link", "version", "init", "create", "import", "deploy", "store", "fetch", "constraints", "plugin"}  # fmt: skip
_SAYS = {"echo", "cd", "rm", "rimraf", "shx", "mkdir", "cross-env", "env", "true", "cp", "sleep"}
_TSC, _PROJECTS = ("tsc", "vue-tsc", "tsgo"), ("vitest", "playwright")
_OWN_PROJECT = {"-p", "--project", "-c", "--config", "-b", "--build", "--root", "--rootDir", "--tsconfig"}
_OTHER_CI = (
    ".gitlab-ci.yml", ".circleci/*", "azure-pipelines.yml", ".travis.yml", "Jenkinsfile", ".buildkite/*", "appveyor.yml",
    ".drone.yml", ".woodpecker*", "bitbucket-pipelines.yml", ".github/actions/**", "**/action.yml", "**/action.yaml", ".github/workflows/*", "cloudbuild.yaml",
)  # fmt: skip


class Named(NamedTuple):
    """A script that a command names: `npm run lint`, in which package."""

    manager: str
    name: str
    command: Command


def named(command: Command) -> Named | None:
    """Return the script that a plain command of a package manager runs; None with options that choose packages."""
    argv = command.argv
    if argv[0] == "run" and len(argv) > 1:  # in the shell of yarn
        return Named("yarn", argv[1], command)
    if argv[0] not in ("npm", "pnpm", "yarn", "bun") or len(argv) < 2:
        return None
    before = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    words = [w for w in before if not w.startswith("-") or w == "-"]
    if any(w.split("=")[0] in _CHOOSING for w in before) or not words:
        return None
    if words[0] in _RUN and len(words) > 1:
        return Named(argv[0], words[1], command)
    if words[0] in _SELF and argv[0] in ("npm", "pnpm", "yarn"):
        return Named(argv[0], "start" if words[0] == "start" else "test", command)
    if argv[0] in ("pnpm", "yarn") and words[0] not in _NO_SCRIPTS:
        return Named(argv[0], words[0], command)  # or a program of this name
    return None


_CHOOSING = {"-w", "--workspace", "--workspaces", "-ws", "--prefix", "-C", "--dir", "--cwd", "--filter", "-F", "-r", "--recursive",
             "--filter-prod", "--workspace-root", "--include-workspace-root"}  # fmt: skip


def key(command: Command) -> tuple[str, str, tuple[str, ...]]:
    """Return what tells one check from another: the tool, its folder, and the project that it is given."""
    argv = command.argv
    project = list[str]()
    for i, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if (
            name in _OWN_PROJECT
            and not (name == "-b" and argv[0] not in _TSC)
            and not (name == "--project" and argv[0] in _PROJECTS)
        ):
            following = argv[i + 1] if i + 1 < len(argv) and not argv[i + 1].startswith("-") else ""
            project.append((value if equals else following).removeprefix("./"))
    return argv[0], str(command.cwd), tuple(p for p in project if p not in ("", ".", "tsconfig.json"))


def checks_of(commands: Iterable[Command], *kinds: str) -> Iterator[Command]:
    """Yield the commands that run a tool of one of the kinds: test, typecheck, build."""
    for command in commands:
        if any(tool.KIND in kinds for tool in tools.matching(command.argv)):
            yield command


def resolved(tree: Tree, member: Member, name: str) -> tuple[Command, ...]:
    """Return all programs that a script of a package runs."""
    return tree.once(
        f"script {member.path} {name}", lambda: resolve(member.scripts[name], tree.root / member.folder, root=tree.root)
    )


class Gated(NamedTuple):
    """What the gate runs: texts of scripts by the folder that they run in, checks by their keys, names of tasks."""

    texts: frozenset[tuple[str, str]]
    keys: Mapping[tuple[str, str, tuple[str, ...]], Sequence[Command]]
    tasks: frozenset[str]
    folders: frozenset[str]
    lines: frozenset[tuple[str, tuple[str, ...]]]  # all command lines, with the folders that they run in
    files: frozenset[tuple[str, str, str]]  # programs of the repository that are started: `node Makefile.js`


def gated(repo: Repository, *, all_checks: bool = False) -> Gated:
    """Return what the checks that decide run, or what any check runs."""
    return repo.tree.once(
        f"scripts of the gate {all_checks}", lambda: _gated(repo, repo.checks if all_checks else repo.gate)
    )


def _gated(repo: Repository, checks: Iterable[Check]) -> Gated:
    texts, keys = set[tuple[str, str]](), dict[tuple[str, str, tuple[str, ...]], list[Command]]()
    tasks, folders = set[str](), set[str]()
    commands = [command for check in checks for command in check.commands]
    if any(_installs(command) for command in commands):
        commands += _hooks(repo.tree)
    for command in commands:
        folder = repo.tree.relative(command.cwd)
        folders.add(folder)
        keys.setdefault(key(command), []).append(command)
        found = named(command)
        if found is not None:
            texts |= {(folder, f"{pre}{found.name}") for pre in ("", "pre", "post")}
        if command.argv[0] in _SEVERAL:
            tasks |= {w for word in command.argv[1:] for w in word.split("=")[-1].split(",") if not w.startswith("-")}
    lines = {(repo.tree.relative(c.cwd), c.argv) for c in commands}
    files = {started for c in commands if (started := _started(repo.tree, c))}
    return Gated(
        frozenset(texts), keys, frozenset(_with_dependencies(repo.tree, tasks)), frozenset(folders), frozenset(lines), frozenset(files)
    )  # fmt: skip


def _started(tree: Tree, command: Command) -> tuple[str, str, str] | None:
    """Return the file of the repository that a command starts, by node or by itself: what it does is for it to say."""
    words = [w for w in command.argv[1:] if not w.startswith("-")]
    by_node = command.argv[0] in ("node", "nodejs", "tsx", "ts-node", "zx")
    word = words[0] if by_node and words else command.program
    if "node_modules/" in word or not (by_node or "/" in word):
        return None
    return tree.relative(command.cwd), command.argv[0], re.sub(r"\.[cm]?[jt]s$", "", word.removeprefix("./"))


def _installs(command: Command) -> bool:
    argv = command.argv
    return argv[0] in ("npm", "pnpm", "yarn", "bun") and (len(argv) == 1 or not _INSTALLS.isdisjoint(argv[1:3]))


def _hooks(tree: Tree) -> list[Command]:
    """Return what installing runs: https://docs.npmjs.com/cli/using-npm/scripts#life-cycle-scripts."""
    hooks = ("preinstall", "install", "postinstall", "prepare")
    return [c for m in packages(tree).values() for hook in hooks if hook in m.scripts for c in resolved(tree, m, hook)]


def _with_dependencies(tree: Tree, tasks: set[str]) -> set[str]:
    """Return tasks with those that turbo.json or nx.json makes them depend on."""
    graph = dict[str, list[str]]()
    for path, keys in (("turbo.json", ("tasks", "pipeline")), ("nx.json", ("targetDefaults",))):
        config = tree.json(path) if path in tree.known else None
        for name in keys:
            found = table(config, name)
            for task, settings in found.items() if isinstance(found, dict) else ():
                needs = table(settings, "dependsOn")
                listed = needs if isinstance(needs, list) else []
                graph.setdefault(task.rpartition("#")[2], []).extend(
                    str(n).lstrip("^").rpartition("#")[2] for n in listed if isinstance(n, str)
                )
    open_, done = list(tasks), set[str]()
    while open_:
        task = open_.pop()
        if task not in done:
            done.add(task)
            open_ += graph.get(task, [])
    return done


def is_run(repo: Repository, member: Member, name: str, *kinds: str, all_checks: bool = False) -> bool:
    """Return whether the gate runs a script, by its name or by running what it runs."""
    run = gated(repo, all_checks=all_checks)
    computed = (text.partition("$")[0] for folder, text in run.texts if "$" in text and folder == member.folder)
    if any(name.startswith(prefix) for prefix in computed):
        return True  # `npm run ${{ inputs.task }}` may be any
    if (member.folder, name) in run.texts or (name in run.tasks and member.folder != "."):
        return True
    commands = [c for c in resolved(repo.tree, member, name) if c.argv[0] not in _SAYS]
    if any(
        c.argv[0] == "run" and any(c.argv[1:2] == (n,) for m in packages(repo.tree).values() for n in m.scripts)
        for c in commands
    ):
        return True  # yarn's word for a script of another package, which is told by itself
    if commands and all((repo.tree.relative(c.cwd), c.argv) in run.lines for c in commands):
        return True
    inner = list(checks_of(commands, *kinds))
    opaque = [c for c in commands if c.argv[0] not in _SEVERAL]
    if not inner and opaque and all(_started(repo.tree, c) in run.files for c in opaque):
        return True
    return bool(inner) and all(any(_covers(other, c) for other in run.keys.get(key(c), ())) for c in inner)


def _covers(run: Command, wanted: Command) -> bool:
    """Return whether a run looks at all that another would: it names no paths, or the same."""
    mine, theirs = _paths(run), _paths(wanted)
    if run.argv[0] in _PROJECTS and any(w.startswith("--project") for w in run.argv) and run.argv != wanted.argv:
        return False
    return not mine or (bool(theirs) and all(any(_is_within(t, m) for m in mine) for t in theirs))


def _is_within(path: str, other: str) -> bool:
    """Return whether a path or glob is among those that another stands for."""
    path, other = path.removeprefix("./"), other.removeprefix("./").rstrip("/")
    return path == other or path.startswith(f"{other}/") or matches(path, other)


def _paths(command: Command) -> set[str]:
    return {w for w in command.argv[1:] if not w.startswith("-") and ("/" in w or "." in w or "*" in w)}


def is_told_elsewhere(repo: Repository, name: str) -> bool:
    """Return whether a file of some other service or action names a script, so that it may run there."""

    def words() -> str:
        return "\n".join(repo.tree.text(p) or "" for p in repo.tree.named(*_OTHER_CI))

    text = repo.tree.once("texts of CI", words)
    if any(sign in name for sign in ":-") and re.search(rf"(?<![\w:.-]){re.escape(name)}(?![\w:.-])", text):
        return True
    return any(f"{m}{name}" in text for m in ("run ", "yarn ", "pnpm ", "bun ", "npm ", "turbo ", "-t ", "target="))


def leaves_to_others(repo: Repository) -> bool:
    """Return whether a workflow hands its work to one of another repository, so that nobody can say what runs."""
    return not any(c.is_policy for c in repo.gate) and any(
        str(job.found.get("uses", "")).strip() for w in repo.workflows for job in w.jobs
    )
