"""A project of .NET holds tests and no solution that the gate tests has it."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.dotnet_projects import dotnet_runs, projects_with_tests
from gate.repository.opening import Repository

ID = "workspace-member-not-gated"
SUMMARY = (
    "`dotnet test App.sln` tests the projects that the solution lists: a project of tests that was never added to it never runs.\n"
    "Next: `dotnet sln add`, or a step for the project."
)
_ASIDE = {
    "templates",
    "template",
    "samples",
    "sample",
    "examples",
    "example",
    "benchmarks",
    "content",
    "demo",
    "assets",
}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding, with the projects that no run of `dotnet test` takes."""
    runs, every = dotnet_runs(repo, repo.gate), dotnet_runs(repo, repo.checks)
    if not runs or every is None:
        return
    wanted = [p for p in projects_with_tests(repo.tree) if _ASIDE.isdisjoint(p.lower().split("/")[:-1])]
    missed = [p for p in wanted if not any(p in r.projects for r in runs)]
    if missed:
        names = [p.rpartition("/")[2].rpartition(".")[0] for p in missed]
        beside = all(any(p in r.projects for r in every) for p in missed)
        shown = f"{', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"
        yield Finding(
            ID, Level.NOTE if beside else Level.ERROR, f"{runs[0].at.name}: tests of {shown} never run: {runs[0].target} does not hold the project", *runs[0].where,
            files=tuple(sorted(missed)), count=len(missed), fix=f"dotnet sln {runs[0].target} add {missed[0]}" if runs[0].target.endswith(".sln") else "add a step for the project",
            reproduce=f"dotnet test {missed[0]}",
        )  # fmt: skip
