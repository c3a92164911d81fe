"""tsc is given a root file that only refers to other projects, and follows none of them."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.alike import together
from gate.repository.javascript.tsconfig import projects_of
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "tsc-solution-file-checks-nothing"
SUMMARY = (
    'a tsconfig.json with `"files": []` and references names no file: `tsc --noEmit` exits 0 and checked nothing.\n'
    "Next: `tsc -b`, which follows references, or `tsc -p` with a project that names files."
)
_TSC = ("tsc", "vue-tsc", "tsgo")
_ELSE = {"-b", "--build", "--version", "--init"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each run of tsc whose project is empty; one for all packages where a line stands in many."""
    found: dict[str, list[Finding]] = {}
    seen = set[tuple[str, int | None]]()
    for at in repo.gate:
        for command in at.commands:
            if command.argv[0] not in _TSC or _ELSE & set(command.argv):
                continue
            projects = projects_of(repo.tree, command)
            if not projects or not projects[0].is_empty or not projects[0].references:
                continue
            where = place(repo.tree, at, command)
            if where not in seen:
                seen.add(where)
                line = " ".join(command.argv)
                finding = Finding(
                    ID, Level.ERROR, f"{at.name}: `{line}` checks nothing: {projects[0].path} only refers to other projects", *where,
                    tuple(sorted(projects[0].references)), len(projects[0].references),
                    fix=f"{command.argv[0]} -b", reproduce=f"{line} --listFilesOnly",
                )  # fmt: skip
                found.setdefault(line, []).append(finding)
    for line, findings in found.items():
        message = (
            f"`{line}` checks nothing in {len(findings)} packages: their tsconfig.json only refers to other projects"
        )
        yield from together(findings, message)
