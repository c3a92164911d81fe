"""A script of a package.json runs another that is not there."""

from collections.abc import Iterator
from pathlib import Path

from gate.commands.resolve import Command
from gate.commands.shell import split
from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.javascript.packages import Member, packages, script_line
from gate.repository.javascript.scripts import gated, named
from gate.repository.javascript.several import SEVERAL, asked_scripts, is_pattern
from gate.repository.opening import Repository

ID = "script-refers-missing-script"
SUMMARY = (
    "a script of package.json runs another by its name, and there is none of that name: it can only fail, or never runs.\n"
    "Next: mend the name, or write the script. A note where the gate does not run the script that refers."
)
_REFERS = later(r"\b(?:npm|pnpm)\s+(?:run|run-script|test)\b|\brun-[sp]\b|\bnpm-run-all2?\b|\bconcurrently\b")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each name that is missing, once for each package."""
    for member in packages(repo.tree).values():
        told = set[str]()
        for name, text in member.scripts.items():
            for wanted in _wanted(text) if _REFERS.search(text) else ():
                if wanted not in member.scripts and wanted not in told:
                    told.add(wanted)
                    yield _finding(repo, member, name, wanted)


def _wanted(text: str) -> Iterator[str]:
    """Yield the scripts of the same package that a text names."""
    for simple in split(text):
        argv = simple.words
        if argv[0] in ("cd", "pushd"):
            return  # another package's
        if any(sign in word for word in argv for sign in ("$", "`", "%")) or "--if-present" in argv:
            continue
        found = named(Command(argv, Path()))
        runs = {"run", "run-script"} & set(argv) or found == ("npm", "test", Command(argv, Path()))
        if found is not None and runs and found.manager in ("npm", "pnpm") and not found.name.startswith("/"):
            yield found.name
        elif argv[0] in SEVERAL:
            yield from (n for n in asked_scripts(argv) if n and not is_pattern(n))


def _finding(repo: Repository, member: Member, name: str, wanted: str) -> Finding:
    runs = (member.folder, name) in gated(repo).texts
    return Finding(
        ID, Level.WARNING if runs else Level.NOTE, f"the script {name!r} runs {wanted!r}, and {member.path} has no such script", member.path,
        script_line(repo.tree, member, name), fix=f"mend the name, or write the script {wanted!r}",
        reproduce=f"npm run {wanted}{'' if member.folder == '.' else f' --prefix {member.folder}'}; echo $?",
    )  # fmt: skip
