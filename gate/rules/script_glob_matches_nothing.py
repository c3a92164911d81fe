"""A pattern of scripts fits no script."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.javascript.several import SEVERAL, asked_scripts, fitting, is_pattern
from gate.repository.javascript.workspace import is_here, own_package
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "script-glob-matches-nothing"
SUMMARY = (
    "run-s, run-p, npm-run-all or concurrently is given a pattern (`lint:*`) that no script of the package fits: concurrently succeeds\n"
    "without doing anything, and so do some versions of the others.\n"
    "Next: name the scripts, or mend the pattern."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such pattern."""
    told = set[tuple[str, int | None, str]]()
    for at in repo.gate:
        for command in at.commands:
            if command.argv[0] not in SEVERAL or not is_here(repo, at, command):
                continue
            own = own_package(repo.tree, command)
            for pattern in asked_scripts(command.argv) if own else ():
                if "$" in pattern or not is_pattern(pattern) or not own or fitting(pattern, own.scripts):
                    continue
                where = place(repo.tree, at, command, pattern)
                if (*where, pattern) not in told:
                    told.add((*where, pattern))
                    path = repo.tree.relative(own.path / "package.json")
                    yield Finding(
                        ID, Level.ERROR, f"{at.name}: `{command.argv[0]}` is given {pattern}, and no script of {path} fits", *where,
                        fix="name the scripts, or mend the pattern", reproduce=f"npx {command.argv[0]} '{pattern}'; echo $?",
                    )  # fmt: skip
