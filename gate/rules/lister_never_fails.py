"""A check only lists what is wrong, and exits 0 whatever the list holds."""

import re
from collections.abc import Iterator, Sequence

from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.shell_files import place
from gate.repository.tree import Tree

ID = "lister-never-fails"
SUMMARY = (
    "the command prints what is wrong and exits 0, and nothing reads what it prints: `gofmt -l`, `goimports -l`, `golint`, "
    "`terraform fmt -write=false`,\n`clang-format --dry-run`, `cppcheck`, `black --diff`, `isort --diff`, and their like. "
    "A warning where only older versions do so (`shfmt -l`).\n"
    'Next: let the list decide (`test -z "$(gofmt -l .)"`), or use the option that fails (`-check`, `-Werror`, `--check`).'
)
# program: (options of which one makes it list; none where it always does), (options by which it can fail or write after all), the mend
LISTERS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "gofmt": (("-l", "-d"), ("-w",), 'test -z "$(gofmt -l .)"'),
    "goimports": (("-l", "-d"), ("-w",), 'test -z "$(goimports -l .)"'),
    "gofumpt": (("-l",), ("-d", "-w"), 'test -z "$(gofumpt -l .)"'),
    "golint": ((), ("-set_exit_status", "--set_exit_status"), "golint -set_exit_status"),
    "misspell": ((), ("-error", "--error", "-w"), "misspell -error"),
    "shfmt": (("-l", "--list"), ("-d", "--diff", "-w", "--write", "-f", "--find"), "shfmt -d"),
    "terraform": (("-write=false", "--write=false"), ("-check", "--check"), "terraform fmt -check -recursive"),
    "tofu": (("-write=false", "--write=false"), ("-check", "--check"), "tofu fmt -check -recursive"),
    "clang-format": (("--dry-run", "-n"), ("--Werror", "-Werror", "-i"), "clang-format --dry-run --Werror"),
    "cppcheck": ((), ("--error-exitcode", "--version", "--help", "--doc", "--errorlist"), "cppcheck --error-exitcode=1"),
    "flawfinder": ((), ("--error-level", "--version", "--help"), "flawfinder --error-level=1"),
    "black": (("--diff",), ("--check",), "black --check --diff"),
    "isort": (("--diff", "--df"), ("--check", "--check-only", "-c"), "isort --check --diff"),
    "autopep8": (("--diff", "-d"), ("--exit-code", "-i", "--in-place"), "autopep8 --diff --exit-code"),
    "autoflake": ((), ("--check", "-c", "--check-diff", "-cd", "-i", "--in-place", "--version"), "autoflake --check"),
    "docformatter": ((), ("--check", "-c", "-i", "--in-place", "--version"), "docformatter --check"),
    "dart": (("-onone", "--output=none", "none"), ("--set-exit-if-changed",), "dart format --output=none --set-exit-if-changed"),
    "google-java-format": (("--dry-run", "-n"), ("--set-exit-if-changed",), "google-java-format --dry-run --set-exit-if-changed"),
    "swift-format": (("lint",), ("--strict", "-s"), "swift-format lint --strict"),
}  # fmt: skip
_SUBCOMMAND = {"terraform": "fmt", "tofu": "fmt", "dart": "format"}
# (program, option): since when it fails after all
_OLDER = {("shfmt", "-l"): "shfmt 3.13", ("shfmt", "--list"): "shfmt 3.13", ("gofmt", "-d"): "Go 1.26"}
_SKIPPED = re.compile(r"['\"][^'\"\n]*['\"]")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each command that lists, where it stands alone: nothing takes its output or its text."""
    told = set[tuple[str, int | None]]()
    for at in repo.gate:
        for command in at.commands:
            if not lists(command.argv) or (command.lost and not command.lost.startswith("; ")):
                continue
            name = command.argv[0]
            where = place(repo.tree, at, command, next((w for w in command.argv if w in LISTERS[name][0]), ""))
            if where in told or _is_read(repo.tree, at, where, name):
                continue
            told.add(where)
            words = " ".join(command.argv)[:80]
            since = next((_OLDER[name, w] for w in command.argv if (name, w) in _OLDER), "")
            yield Finding(
                ID, Level.WARNING if since else Level.ERROR,
                f"{at.name}: `{words}` lists what is wrong and exits 0{since and f' before {since}'}", *where,
                fix=LISTERS[name][2], reproduce=f"{words}; echo $?",
            )  # fmt: skip


def lists(argv: Sequence[str]) -> bool:
    """Return whether a command line prints what is wrong and succeeds all the same."""
    if argv[0] not in LISTERS:
        return False
    listing, failing, _ = LISTERS[argv[0]]
    words = [w for w in argv[1:] if w.startswith("-") or w in listing]
    if argv[0] in _SUBCOMMAND and _SUBCOMMAND[argv[0]] not in argv[1:3]:
        return False
    if any(w == f or w.startswith(f"{f}=") for w in words for f in failing):
        return False
    return not listing or any(w in listing for w in words)


def _is_read(tree: Tree, at: Check, where: tuple[str, int | None], name: str) -> bool:
    """Return whether the text around a command takes what it prints: a substitution, a pipe, a redirection.

    A test of the checkout behind it (`git diff --exit-code`) reads nothing of a list.
    """
    path, line = where
    text = tree.text(path) or ""
    lines = text.splitlines() if line else at.text.splitlines()
    number = (line or 1) - 1
    start = number
    while start and number - start < 5 and re.search(r"(?:\$\(|`|\||\\|\(|&&)\s*$", lines[start - 1]):
        start -= 1
    end = number
    while end < len(lines) - 1 and end - number < 5 and re.search(r"(?:\\|\|)\s*$", lines[end]):
        end += 1
    shown = "\n".join(lines[start : end + 1])
    before, _, behind = shown.partition(name)
    taken = re.search(r"\$\$?\([^()]*$|`[^`]*$|<\([^()]*$|\bxargs\b|\$\{\{[^}]*$", before)
    return (
        taken is not None
        or re.search(r"(?<!\|)\|(?!\|)|(?<![\d&])>(?!&)|\btee\b", _SKIPPED.sub("", behind)) is not None
    )
