"""pytest's "no test was collected" is turned into success."""

import re
from collections.abc import Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.shell_files import shell_texts
from gate.repository.swallowed import turns_five

ID = "exit5-swallowed"
SUMMARY = (
    "pytest exits 5 when it collected no test, so that an empty run is not green; here that is made a success.\n"
    "Next: let 5 fail. Where a part of the tests may be empty, say `-m` or paths that select something."
)
_PYTHON = later(r"exit_?(?:status|code)\s*==\s*(?:5\b|[\w.]*NO_TESTS_COLLECTED)|(?:5|NO_TESTS_COLLECTED)\s*:\s*0\b")
_PLUGIN = "--suppress-no-test-exit-code"
_MAKEFILES = ("**/Makefile", "**/makefile", "**/GNUmakefile", "**/*.mk")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each text beside a pytest that compares an exit code with 5, and each conftest.py that mends it."""
    told = set[tuple[str, int]]()
    running = [at for at in repo.checks if any(r.tool.NAME in ("pytest", "unittest") for r in at.runs)]
    for at in running:
        for path, line, text in _lines(repo, at):
            if (path, line) not in told and (turns_five(text) or _PLUGIN in text):
                told.add((path, line))
                yield _told(f"{at.name}: a run that collected no test is made a success", path, line)
    if running:
        yield from _hooks(repo)


def _lines(repo: Repository, at: Check) -> Iterator[tuple[str, int, str]]:
    """Yield the lines that decide: of the check, of the shell files that it starts, of makefiles and tox.ini."""
    for text in shell_texts(repo.tree, at):
        for number, line in enumerate(text.text.splitlines()):
            yield text.path, text.line + number, line
    if any(c.argv[0] in ("make", "gmake", "tox") for c in at.commands):
        for path in repo.tree.named(*_MAKEFILES, "**/tox.ini"):
            whole = repo.tree.text(path) or ""
            if re.search(r"\bpy\.?test\b", whole):
                yield from ((path, number, line) for number, line in enumerate(whole.splitlines(), 1))


def _hooks(repo: Repository) -> Iterator[Finding]:
    for path in repo.tree.named("**/conftest.py"):
        text = repo.tree.text(path) or ""
        found = _PYTHON.search(text)
        if found and re.search(r"exitstatus\s*=\s*(?:0|[\w.]*ExitCode\.OK|pytest\.OK)\b", text):
            yield _told(
                "pytest_sessionfinish makes a run that collected no test a success",
                path,
                text.count("\n", 0, found.start()) + 1,
            )


def _told(message: str, path: str, line: int) -> Finding:
    return Finding(
        ID,
        Level.ERROR,
        message,
        path,
        line,
        fix="let exit code 5 fail",
        reproduce="pytest -k no_test_is_called_so; echo $?",
    )
