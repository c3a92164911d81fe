"""A Go module within the repository holds tests, and no run of the gate starts in it."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.go_files import constraint, go_runs, has_tests, own_tags
from gate.repository.opening import Repository
from gate.repository.places import is_led
from gate.repository.shell_files import place, shell_texts

ID = "workspace-member-not-gated"
SUMMARY = (
    "`go test ./...` stops where another go.mod stands, with go.work too: tests of a module in a folder never run unless a command "
    "starts there.\nA warning for examples and tools.\nNext: a step for each module, or a loop over all go.mod files."
)
_ASIDE = {"example", "examples", "_examples", "tools", "tool", "hack", "docs", "documentation", "contrib", "scripts", "samples", "benchmark", "benchmarks", "bench", "_tools", "build"}  # fmt: skip
# what goes through modules, or builds them in ways of its own
_WALKS = re.compile(
    r"go\.mod|go list -m|go work\b|\bmage\b|\bbazel\b|\bgo run\b|\bnix\b|MODULES|\bmods?\b|multimod|submodule",
    re.IGNORECASE,
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each level, with the go.mod files of the modules in which nothing starts."""
    modules = {p.rpartition("/")[0] for p in repo.tree.sources("go.mod") if p.rpartition("/")[2] == "go.mod"}
    runs = go_runs(repo.tree, repo.gate) if len(modules) > 1 else []
    if (
        not runs
        or any(is_led(repo, r.at) for r in runs)
        or any(_WALKS.search(t.text) for at in repo.gate for t in shell_texts(repo.tree, at))
    ):
        return
    started = {_module(repo.tree.relative(r.command.cwd), modules) for r in runs}
    beside = {_module(repo.tree.relative(r.command.cwd), modules) for r in go_runs(repo.tree, repo.checks)}
    walked = any(
        is_led(repo, at) or any(_WALKS.search(t.text) for t in shell_texts(repo.tree, at)) for at in repo.checks
    )
    tested: dict[str, list[str]] = {}
    for path in repo.tree.sources("_test.go"):
        home = _module(path.rpartition("/")[0], modules)
        if (
            home not in started
            and home is not None
            and has_tests(repo.tree, path)
            and not own_tags(constraint(repo.tree, path))
        ):
            tested.setdefault(home, []).append(path)
    groups: dict[Level, list[str]] = {}
    for home in sorted(tested):
        aside = not _ASIDE.isdisjoint(home.lower().split("/"))
        level = Level.NOTE if home in beside or walked else Level.WARNING if aside else Level.ERROR
        groups.setdefault(level, []).append(home)
    for level, homes in groups.items():
        shown = f"{', '.join(homes[:5])}{f' and {len(homes) - 5} more' if len(homes) > 5 else ''}"
        yield Finding(
            ID, level, f"{runs[0].at.name}: tests of the Go module{'s' if len(homes) > 1 else ''} in {shown} never run: no `go test` starts there",
            *place(repo.tree, runs[0].at, runs[0].command, "test"), files=tuple(f"{h}/go.mod" for h in homes), count=len(homes),
            fix=f"add a step: go test ./... in {homes[0]}", reproduce=f"cd {homes[0]} && go test ./...",
        )  # fmt: skip


def _module(folder: str, modules: set[str]) -> str | None:
    """Return the folder of the module to which a folder belongs, empty for one at the root."""
    folder = "" if folder == "." else folder
    while folder and folder not in modules:
        folder = folder.rpartition("/")[0]
    return folder if folder in modules else None
