"""A test runner is told to succeed when it finds no test."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "pass-with-no-tests"
SUMMARY = (
    "a runner succeeds when it finds no test: a renamed folder then looks like success.\nNext: take the option away."
)
FLAGS = ("--passWithNoTests", "--pass-with-no-tests")
CONFIGS = ("**/jest.config*.*", "**/vitest.config.*", "**/vitest.workspace.*", "**/vite.config.*")
_RUNNERS = {"jest", "vitest", "playwright", "react-scripts", "craco", "mocha"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each command with the option, and each configuration that sets it."""
    yield from _in_commands(repo)
    yield from _in_configurations(repo)


def _in_commands(repo: Repository) -> Iterator[Finding]:
    seen = set[tuple[str, int | None]]()
    for at in repo.gate:
        for command in at.commands:
            flag = next((w for w in command.argv if w in FLAGS or w.startswith(tuple(f"{f}=true" for f in FLAGS))), "")
            if flag and command.argv[0] in _RUNNERS and (where := place(repo.tree, at, command, flag)) not in seen:
                seen.add(where)
                message = f"{at.name}: {command.argv[0]} succeeds without any test ({flag})"
                yield Finding(
                    ID, Level.ERROR, message, *where, fix=f"take {flag} away",
                    reproduce=f"{command.argv[0]} {flag} -t 'no test is called so'",
                )  # fmt: skip


def _in_configurations(repo: Repository) -> Iterator[Finding]:
    for path in repo.tree.named(*CONFIGS, "**/package.json"):
        for number, line in enumerate((repo.tree.text(path) or "").splitlines(), 1):
            code = line.partition("//")[0].replace('"', "").replace("'", "").replace(" ", "")
            if "passWithNoTests:true" in code:
                yield Finding(
                    ID, Level.ERROR, "the runner is configured to succeed without any test", path, number,
                    fix="take passWithNoTests away", reproduce=f"grep -n passWithNoTests {path}",
                )  # fmt: skip
