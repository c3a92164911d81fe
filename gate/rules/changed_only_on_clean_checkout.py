"""A check looks at uncommitted or staged files, and a checkout has none."""

import re
from collections.abc import Iterator

from gate.commands.resolve import Command
from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.javascript.script_texts import script_texts
from gate.repository.opening import Repository
from gate.repository.shell_files import ShellText, place

ID = "changed-only-on-clean-checkout"
SUMMARY = (
    "`jest --onlyChanged`, `vitest --changed`, lint-staged, pretty-quick, or a linter over `git diff --name-only` look at what is not\n"
    "committed yet. In a fresh checkout that is nothing, and they succeed.\n"
    "Next: look at everything, or at the difference to the branch that is merged into (`--changedSince=origin/main`, `lint-staged --diff`)."
)
_LINTER = r"\b(?:eslint|prettier|stylelint|oxlint|biome|jest|vitest|tslint|standard|xo|ruff|black|flake8|mypy|pylint|isort|rubocop|shellcheck|markdownlint|gofmt|phpcs|pytest|rspec)\b"
_DIFF = later(r"\bgit\s+(?:-\S+\s+)*(diff|ls-files|status)\b([^|;&\n)`]*)")
_OPTIONS = later(r"--(?:name-only|name-status|cached|staged|diff-filter=\S+|porcelain(?:=\S+)?|short|modified|others|no-renames|relative|exclude-standard|no-color|full-name)$|-[smoz]+$")  # fmt: skip
_LINTS = later(_LINTER)
_QUIET = later(r"\bxargs\b[^|;]{0,500}(?:\s-r\b|--no-run-if-empty)|\bprettier\b")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such check."""
    told = set[tuple[str, int | None]]()
    for at in repo.gate:
        for command in at.commands:
            found = _by_option(command)
            if found and (where := place(repo.tree, at, command, found[0])) not in told:
                told.add(where)
                yield _told(f"{at.name}: `{command.argv[0]}{' ' if found[0] else ''}{found[0]}` looks at {found[1]}", *where, found[2], " ".join(command.argv))  # fmt: skip
        for text in script_texts(repo.tree, at):
            for number, line in _by_git(text):
                if (text.path, number) not in told:
                    told.add((text.path, number))
                    level = Level.ERROR if _QUIET.search(line) else Level.WARNING
                    shown = line if len(line) <= 80 else f"{line[:79]}…"
                    yield _told(f"{at.name}: `{shown}` looks at files that are not committed", text.path, number, level, line)  # fmt: skip


def _by_option(command: Command) -> tuple[str, str, Level] | None:
    """Return the option, what is looked at by it, and the level."""
    name, words = command.argv[0], command.argv[1:]
    names = {w.partition("=")[0] for w in words}
    if name in ("jest", "react-scripts") and {"-o", "--onlyChanged"} & names and "--changedSince" not in names:
        return ("-o" if "-o" in names else "--onlyChanged"), "files that are not committed", Level.ERROR
    if name == "vitest" and "--changed" in words:
        following = words[words.index("--changed") + 1 :][:1]
        return None if following and not following[0].startswith("-") else ("--changed", "files that are not committed", Level.ERROR)  # fmt: skip
    if name == "lint-staged" and not {"--diff", "--version", "--help"} & names:
        return "", "staged files", Level.ERROR
    if name == "pretty-quick" and not {"--branch", "--since"} & names:
        return ("--staged" if "--staged" in names else ""), "files that are not committed", Level.ERROR
    if name == "biome" and "--staged" in names:
        return "--staged", "staged files", Level.ERROR if "--no-errors-on-unmatched" in names else Level.WARNING
    return None


def _by_git(text: ShellText) -> Iterator[tuple[int, str]]:
    """Yield the lines in which a linter is given what git says of the checkout, and no base to compare with."""
    lines = text.text.replace("\\\n", "  ").split("\n")
    kept = dict[str, str]()
    for offset, line in enumerate(lines):
        found = _DIFF.search(line)
        if found is None:
            given = next((n for n in kept if re.search(rf"\$\{{?{n}\b", line)), "")
            if given and _LINTS.search(line):
                yield text.line + offset, line.strip()
            continue
        if not _asks_the_checkout(found[1], found[2]):
            continue
        variable = re.match(r"\s*(?:export\s+)?(\w+)=[\"']?(?:\$\(|`)", line)
        if variable:
            kept[variable[1]] = line
        elif (_LINTS.search(line[: found.start()]) and re.search(r"\$\(|`", line[: found.start()])) or re.search(
            rf"\|.*\bxargs\b.*{_LINTER}", line[found.end() :]
        ):
            yield text.line + offset, line.strip()


def _asks_the_checkout(command: str, rest: str) -> bool:
    """Return whether git is asked for changed files of the checkout by itself."""
    words = rest.split(" -- ")[0].split()
    words = [w for w in words if w not in ("HEAD", "--")]
    options = set(words)
    names = {
        "diff": {"--name-only", "--name-status"},
        "ls-files": {"-m", "--modified", "-mo", "-om"},
        "status": {"--porcelain", "-s", "--short"},
    }[command]
    return bool(names & options) and all(_OPTIONS.match(w) or w.startswith(("'*", '"*', "*.")) for w in words)


def _told(message: str, path: str, line: int | None, level: Level, words: str) -> Finding:
    fix = "look at everything, or at the difference to the branch that is merged into"
    return Finding(
        ID,
        level,
        f"{message}: none in a fresh checkout",
        path,
        line,
        fix=fix,
        reproduce=f"git clone -q . /tmp/clean && cd /tmp/clean && {words}; echo $?",
    )
