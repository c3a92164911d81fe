"""What each run of cargo in the checks does: test, lint or compile, which packages, with which features."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from gate.commands.part import option_values
from gate.commands.resolve import Command
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.places import folder_of, inside, is_led
from gate.repository.rust.cargo import Workspace, strings, workspace_at
from gate.repository.shell_files import place
from gate.repository.workflows import WorkflowStep

# options before or behind the subcommand whose next word is their value
_VALUES = frozenset(
    {"--color", "--config", "-C", "-Z", "--profile", "--target", "--target-dir", "-j", "--jobs", "--message-format"}
)
_KINDS = {
    **dict.fromkeys(("test", "t", "nextest", "llvm-cov", "tarpaulin", "kcov"), "test"), "clippy": "lint",
    **dict.fromkeys(("check", "c", "build", "b", "rustc", "doc", "d", "rustdoc", "bench", "minimal-versions", "build-sbf"), "compile"),
}  # fmt: skip
_WRAPPERS = {
    "miri",
    "careful",
    "hack",
    "xwin",
    "ndk",
    "zigbuild",
    "valgrind",
    "minimal-versions",
    "auditable",
    "+nightly",
}
# subcommands of which it is known that they test nothing of the workspace's packages
_OTHERS = frozenset((
    "fmt", "install", "binstall", "deny", "audit", "fetch", "metadata", "update", "add", "remove", "publish",
    "package", "login", "logout", "tree", "clean", "generate-lockfile", "version", "vendor", "outdated", "machete",
    "udeps", "msrv", "semver-checks", "sort", "spellcheck", "about", "cache", "geiger", "readme", "release",
    "set-version", "workspaces", "bloat", "expand", "asm", "public-api", "shear", "hakari", "deadlinks", "rdme",
    "fix", "init", "new", "search", "owner", "yank", "uninstall", "help", "locate-project", "vet", "cyclonedx",
    "sweep", "criterion", "codspeed", "llvm-lines", "watch", "export", "dist", "cargo-deny", "sbom", "edit",
    "upgrade", "info", "report", "pkgid", "license",
))  # fmt: skip
_OPAQUE = {
    "nix",
    "bazel",
    "bazelisk",
    "buck2",
    "earthly",
    "x.py",
    "dagger",
    "nix-build",
    "nix-shell",
    "rake",
    "wasm-pack",
}
_ACTIONS = ("actions-rs/cargo", "clechasseur/rs-cargo", "houseabsolute/actions-rust-cross")


class CargoRun(NamedTuple):
    """One run: `kind` is test, lint, compile, or `?` where it may do anything; `packages` None for all of them."""

    at: str
    where: tuple[str, int | None]
    kind: str
    workspace: Workspace
    packages: frozenset[str] | None
    words: tuple[str, ...]
    is_told: bool = True  # no variable decides what it does

    def takes(self, folder: str) -> bool:
        """Return whether it looks at a member, or may."""
        return not self.is_told or self.kind == "?" or self.packages is None or folder in self.packages

    @property
    def all_features(self) -> bool:
        """Return whether it has every feature on, one after the other or at once."""
        several = {"--all-features", "--each-feature", "--feature-powerset"} & set(self.words)
        return bool(several) or not self.is_told or self.kind == "?"


def cargo_runs(repo: Repository, *, gate: bool) -> tuple[CargoRun, ...]:
    """Return the runs of cargo in the checks that decide, or in all."""
    return repo.tree.once(
        f"cargo runs {gate}", lambda: tuple(_runs(repo, repo.gate if gate else repo.checks, actions=not gate))
    )


def _runs(repo: Repository, checks: Sequence[Check], *, actions: bool) -> Iterator[CargoRun]:
    for at in checks:
        for command in at.commands:
            if command.argv[0] in ("cargo", "cross", "cargo-nextest") or command.argv[0] in _OPAQUE:
                found = _run(repo, at, command)
                if found:
                    yield found
    if actions or not any(c.is_policy for c in checks):
        for workflow in repo.workflows:
            for job in workflow.jobs:
                for step in job.steps:
                    if step.uses.startswith(_ACTIONS) and (
                        found := _of_action(repo, f"{job.label} / {step.name}", workflow.path, step)
                    ):
                        yield found  # fmt: skip


def _run(repo: Repository, at: Check, command: Command) -> CargoRun | None:
    folder = folder_of(repo, command.cwd)
    if folder is None:
        return None
    given = option_values(command.argv, frozenset({"--manifest-path"}))
    home = inside(folder, given[-1].removesuffix("Cargo.toml")) if given and "$" not in given[-1] else folder
    space = workspace_at(repo.tree, home) if home is not None else None
    if space is None or home is None:
        return None
    argv = _plain(repo, command.argv, space)
    kind = "?" if command.argv[0] in _OPAQUE else _kind(argv)
    if not kind:
        return None
    told = not any("$" in word for word in argv[1:]) and not is_led(repo, at)
    where = place(repo.tree, at, command, argv[1] if len(argv) > 1 else "")
    return CargoRun(at.name, where, kind, space, _packages(argv, space, home), tuple(argv), told)


def _of_action(repo: Repository, name: str, path: str, step: WorkflowStep) -> CargoRun | None:
    inputs = step.found.get("with")
    if not isinstance(inputs, Mapping):
        return None
    try:
        words = shlex.split(str(inputs.get("args", "")))
    except ValueError:
        words = ["$"]
    argv = ["cargo", str(inputs.get("command", "")), *words]
    given = option_values(argv, frozenset({"--manifest-path"}))
    home = inside("", given[-1].removesuffix("Cargo.toml")) if given and "$" not in given[-1] else ""
    space = workspace_at(repo.tree, home) if home is not None else None
    kind = _kind(argv)
    if not kind or space is None or home is None:
        return None
    told = not any("$" in word for word in argv)
    return CargoRun(name, (path, step.line), kind, space, _packages(argv, space, home), tuple(argv), told)


def _plain(repo: Repository, argv: Sequence[str], space: Workspace) -> list[str]:
    """Return a command line without toolchain and options before the subcommand, an alias written out."""
    words, skip = list[str](), False
    for i, word in enumerate(argv[1:], 1):
        if skip:
            skip = False
        elif word.startswith("+") and not words:
            continue
        elif word.startswith("-") and not words:
            skip = word in _VALUES
        else:
            words = list(argv[i:])
            break
    alias = _aliases(repo, space).get(words[0]) if words else None
    return [argv[0], *(alias + words[1:] if alias else words)]


def _aliases(repo: Repository, space: Workspace) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in (".cargo/config.toml", ".cargo/config"):
        path = inside(space.folder, name)
        table = (repo.tree.toml(path) or {}).get("alias") if path and path in repo.tree.known else None
        for key, value in table.items() if isinstance(table, Mapping) else ():
            words = value.split() if isinstance(value, str) else strings(value)
            if words:
                found.setdefault(str(key), words)
    return found


def _kind(argv: Sequence[str]) -> str:
    """Return what a command line does; `?` for a subcommand that is the repository's own, nothing for no check."""
    words = [w for w in argv[1:] if not w.startswith(("-", "+"))]
    if argv[0] == "cargo-nextest":
        words = ["nextest", *words]
    if {"--no-run", "--list", "--version", "--help"} & set(argv):
        return "compile" if "--no-run" in argv else ""
    if words[:1] and words[0] in _WRAPPERS:
        return next((_KINDS[w] for w in words[1:] if w in _KINDS), "")
    if words[:1] in (["llvm-cov"], ["nextest"]):
        return "" if {"report", "clean", "show-env", "list", "archive"} & set(words[1:2]) else "test"
    if not words or words[0] in _OTHERS:
        return ""
    return _KINDS.get(words[0], "?")


def _packages(argv: Sequence[str], space: Workspace, home: str) -> frozenset[str] | None:
    """Return the folders of the members that a command line takes, None for all but those that it excludes."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    named = option_values(words, frozenset({"-p", "--package", "--packages"}))
    if {"--workspace", "--all"} & set(words):
        return None  # what it excludes, it excludes by name
    if named:
        specs = [n.rpartition("#")[2].split("@")[0].split(":")[0] for n in named]
        return frozenset(f for f, c in space.members.items() if any(fnmatchcase(c.name, s) for s in specs))
    if home != space.folder and home in space.members:
        return frozenset({home})
    return space.default
