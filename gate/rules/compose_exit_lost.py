"""Tests run inside `docker compose up`, which exits 0 whatever became of them."""

from collections.abc import Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checkers import is_check
from gate.repository.checks import Check
from gate.repository.compose import Up, read_up
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "compose-exit-lost"
SUMMARY = (
    "`docker compose up` exits 0 when its services have ended, also when the one that runs the tests failed. With only "
    "`--abort-on-container-exit` it exits as the service that ends first, which may be the one that prepares the database.\n"
    "Next: `docker compose run --rm tests`, or `--exit-code-from tests`."
)
_ASKED = later(r"ExitCode|\bdocker(?:-| )compose\b[^\n]*\b(?:wait|ps|exec|run)\b|\bdocker (?:wait|inspect|ps)\b")
_FAILS = {"--exit-code-from", "--abort-on-container-failure"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each command that starts tests and is told neither whose exit code counts nor asked later."""
    told = set[tuple[str, int | None]]()
    for at in repo.checks:
        for command in at.commands:
            up = read_up(repo.tree, command)
            why = _why(repo, at, up) if up and up.tests and not _FAILS & up.options else ""
            spot = place(repo.tree, at, command, "up") if why else ("", None)
            if up and why and spot not in told:
                told.add(spot)
                test = up.tests[0]
                yield Finding(
                    ID, Level.ERROR, f"{at.name}: {test.name} of {test.path} runs checks, and {why}", *spot,
                    fix=f"`docker compose run --rm {test.name}`, or `--exit-code-from {test.name}`",
                    reproduce=f"{' '.join(command.argv)}; echo $?",
                )  # fmt: skip


def _why(repo: Repository, at: Check, up: Up) -> str:
    """Return how the failure is lost, nothing where it is not or where something later asks for it."""
    text = at.text if at.is_policy else repo.tree.text(at.source) or ""
    if {"-d", "--detach", "--wait"} & up.options:
        others = any(is_check(c.argv) for check in repo.checks if check.source == at.source for c in check.commands)
        return "" if others or _ASKED.search(text) else "nothing asks how it ended"
    if _ASKED.search(at.text) or "ExitCode" in text:
        return ""
    if "--abort-on-container-exit" in up.options:
        first = up.ends_first
        return f"`up` exits as the service that ends first, {first}" if first else ""
    return "`up` exits 0 when it fails"
