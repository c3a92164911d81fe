"""A package of a Cargo workspace is left out by every command of the gate."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.rust.cargo import Crate, Workspace, sources_of, tests_in
from gate.repository.rust.runs import CargoRun, cargo_runs

ID = "workspace-member-not-gated"
SUMMARY = (
    "at the root of a Cargo workspace a plain `cargo test` takes `default-members`, or the root package alone: the tests of the "
    "other members never run.\nThe same for `cargo clippy` is a warning; a note where a workflow runs it beside the policy.\n"
    "Next: `cargo test --workspace`."
)
_WORDS = {"test": "tests of {} never run: `cargo {}` takes {}", "lint": "{} is not linted: `cargo {}` takes {}"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each workspace and kind of command, with the manifests of what is left out."""
    runs, every = cargo_runs(repo, gate=True), cargo_runs(repo, gate=False)
    spaces = {r.workspace.folder: r.workspace for r in runs if len(r.workspace.members) > 1}
    for folder, space in spaces.items():
        for kind, level in (("test", Level.ERROR), ("lint", Level.WARNING)):
            own = [r for r in runs if r.workspace.folder == folder and r.kind in (kind, "?")]
            missed = [c for c in _members(repo, space, kind) if not any(r.takes(c.folder) for r in own)]
            first = next((r for r in own if r.kind == kind), None)
            if missed and first:
                others = [r for r in every if r.workspace.folder == folder and r.kind in (kind, "?")]
                if all(any(r.takes(c.folder) for r in others) for c in missed):
                    level = Level.NOTE
                yield _finding(first, missed, level)


def _members(repo: Repository, space: Workspace, kind: str) -> list[Crate]:
    """Return the members that there is something to run for."""
    return [
        crate
        for _, crate in sorted(space.members.items())
        if (files := sources_of(repo.tree, crate)) and (kind != "test" or any(tests_in(repo.tree, f) for f in files))
    ]


def _finding(run: CargoRun, missed: list[Crate], level: Level) -> Finding:
    space = run.workspace
    taken = sorted(space.members[f].name for f in run.packages or () if f in space.members)
    takes = f"{', '.join(taken[:3])}{' …' if len(taken) > 3 else ''}" + (
        " (default-members)" if space.has_default else ""
    )
    names = [c.name for c in missed]
    shown = f"{', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"
    return Finding(
        ID, level, f"{run.at}: {_WORDS[run.kind].format(shown, run.words[1], takes)}", *run.where,
        files=tuple(sorted(c.path for c in missed)), count=len(missed),
        fix=f"cargo {run.words[1]} --workspace", reproduce=f"cargo {run.words[1]} -p {names[0]}",
    )  # fmt: skip
