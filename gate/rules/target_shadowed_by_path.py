"""A make target of the gate has the name of a file or folder, so make finds it up to date and runs nothing."""

from collections.abc import Iterator

from gate.commands.resolve import resolve
from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checkers import is_check
from gate.repository.makefiles import Shadowed, shadowed
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "target-shadowed-by-path"
SUMMARY = (
    "`make test` runs nothing where there is a file or folder `test` and the target is not phony: make says that it is up to "
    "date and exits 0. The same holds where the makefile has no such target at all.\n"
    "Next: `.PHONY: test`."
)
_NAMED = later(r"^(?:unit[-_]?|integration[-_]?)?(?:tests?|check|lint|spec|verify|ci|e2e|typecheck)(?:[-_:.].*)?$")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each target that verifies something, reached by a check, which make would not make."""
    told = set[str]()
    for at in repo.checks:
        for command in at.commands:
            for found in shadowed(repo.tree, command) if command.argv[0] in ("make", "gmake") else ():
                if found.path in told or not _verifies(repo, found):
                    continue
                told.add(found.path)
                path, line = place(repo.tree, at, command, found.target)
                for name in ("GNUmakefile", "makefile", "Makefile"):
                    file = found.path.removesuffix(found.target) + name
                    defined = repo.tree.line_of(file, f"{found.target}:") if file in repo.tree.known else None
                    path, line = (file, defined) if defined else (path, line)
                what = "folder" if found.is_folder else "file"
                yield Finding(
                    ID, Level.ERROR, f"{at.name}: `make {found.target}` runs nothing, for there is a {what} {found.path}, and the target is not phony",
                    path, line, fix=f".PHONY: {found.target}", reproduce=f"make {found.target}",
                )  # fmt: skip


def _verifies(repo: Repository, found: Shadowed) -> bool:
    if _NAMED.match(found.target) or (found.is_folder and found.is_asked):
        return True
    return any(is_check(c.argv) for c in resolve(found.recipe, repo.tree.root, root=repo.tree.root))
