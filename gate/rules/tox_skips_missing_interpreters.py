"""tox skips an environment whose Python is not installed, and succeeds."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository

ID = "tox-skips-missing-interpreters"
SUMMARY = (
    "`skip_missing_interpreters` lets tox succeed without having run an environment whose Python is not there.\n"
    "Next: take it away, or run tox with `--skip-missing-interpreters=false` in the gate."
)
_KEYS = ("skip_missing_interpreters", "skip-missing-interpreters")
_NOT_HERE = {"--notest", "-n", "list", "l", "config", "c", "devenv", "--listenvs", "--showconfig"}  # runs no tests


def check(repo: Repository) -> Iterator[Finding]:
    """Yield the setting where a check runs tox, and the option on its command line."""
    for at in repo.checks:
        for command in at.commands:
            options = command.argv[: command.argv.index("--")] if "--" in command.argv else command.argv
            if command.argv[0] != "tox" or _NOT_HERE.intersection(options) or _told_not_to(options):
                continue
            if {"-s", "--skip-missing-interpreters", "--skip-missing-interpreters=true"} & set(command.argv):
                yield _told(at.name, at.source, at.line)
                return
            folder = repo.tree.relative(command.cwd)
            for name in ("tox.ini", "tox.toml", "setup.cfg", "pyproject.toml"):
                path = name if folder == "." else f"{folder}/{name}"
                for key in _KEYS:
                    line = repo.tree.line_of(path, key)
                    said = (repo.tree.text(path) or "").splitlines()[line - 1].partition("=")[2] if line else ""
                    if line and said.strip().lower() in ("true", "yes", "1"):
                        yield _told(at.name, path, line)
                        return


def _told_not_to(options: tuple[str, ...]) -> bool:
    text = " ".join(options).lower().replace("=", " ")
    return "interpreters false" in text or " -s false" in text


def _told(name: str, path: str, line: int | None) -> Finding:
    return Finding(
        ID, Level.ERROR, f"{name}: tox succeeds without the environments whose Python is not installed", path, line,
        fix="take skip_missing_interpreters away", reproduce="tox --skip-missing-interpreters=false",
    )  # fmt: skip
