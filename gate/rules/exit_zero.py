"""A checker is told to succeed whatever it finds."""

from collections.abc import Iterator, Sequence

from gate.integrity.configs import PYTHON
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import settings
from gate.repository.shell_files import place

ID = "exit-zero"
SUMMARY = (
    "an option lets a checker exit 0 with findings: `--exit-zero` (ruff, flake8, pylint, bandit), `--issues-exit-code 0`, "
    "`--soft-fail`, `--no-fail`, `--exit-code 0`, `--fail-level fatal`.\n"
    "Next: take it away; give a report a step of its own that is not a check."
)
# program: options (with their value, where they need one) by which it exits 0
OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("flake8", "pylint", "bandit", "xenon"), ("--exit-zero",)), "ruff": ("--exit-zero", "-e"), "golangci-lint": ("--issues-exit-code 0",),
    "checkov": ("--soft-fail", "-s"), "tfsec": ("--soft-fail", "-s"), "hadolint": ("--no-fail",), "trivy": ("--exit-code 0",),
    "tflint": ("--force",), "gosec": ("-no-fail",), "standardrb": ("--no-fail",), "rubocop": ("--fail-level fatal", "--fail-level F"),
    "stylelint": ("--no-fail",), "phpmd": ("--ignore-errors-on-exit", "--ignore-violations-on-exit"), "phpcs": ("--runtime-set ignore_errors_on_exit 1",),
    "pmd": ("--no-fail-on-violation",), "brakeman": ("--no-exit-on-warn",), "pip-audit": (), "cppcheck": ("--error-exitcode 0",),
    "detekt": ("--max-issues -1",), "credo": ("--mute-exit-status",), "mix": ("--mute-exit-status",), "grype": ("--fail-on never",),
}  # fmt: skip


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each checker with such an option, and flake8's settings that hold it."""
    told = set[tuple[str, int | None]]()
    for at in repo.checks:
        for command in at.commands:
            option = exits_zero(command.argv)
            if option:
                where = place(repo.tree, at, command, option.split()[0])
                if where not in told:
                    told.add(where)
                    yield _told(
                        f"{at.name}: `{command.argv[0]} {option}` succeeds whatever it finds",
                        *where,
                        words=command.argv,
                        option=option,
                    )
            elif command.argv[0] == "flake8":
                own = settings(repo.tree, PYTHON["flake8"], "")
                key = next((k for k in ("exit-zero", "exit_zero") if own and own.is_on(k)), "")
                if own and key:
                    yield _told(
                        f"{at.name}: flake8 is set to succeed whatever it finds",
                        own.path,
                        repo.tree.line_of(own.path, key),
                        words=("flake8",),
                        option=key,
                    )


def exits_zero(argv: Sequence[str]) -> str:
    """Return the option by which a checker exits 0 with findings, nothing where it has none."""
    text = f" {' '.join(argv[1:])} ".replace("=", " ")
    return next((o for o in OPTIONS.get(argv[0], ()) if f" {o} " in text), "")


def _told(message: str, path: str, line: int | None, *, words: Sequence[str], option: str) -> Finding:
    return Finding(
        ID, Level.ERROR, message, path, line, fix=f"take {option} away", reproduce=f"{' '.join(words)[:80]}; echo $?"
    )
