"""A check mends the checkout and succeeds, so what was wrong is never told."""

from collections.abc import Iterator, Sequence

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "fixer-in-gate"
SUMMARY = (
    "a check repairs the files that it should judge and exits 0; the repair is thrown away with the checkout.\n"
    "Next: use the form that only reports (`eslint .`, `prettier --check`, `gofmt -l` with a test, `ruff check`)."
)
# program: options that mend; all of them in one word of the command line
FIXES = {
    "eslint": ("--fix",), "prettier": ("--write", "-w"), "gofmt": ("-w",), "goimports": ("-w",),
    "stylelint": ("--fix",),
    "biome": ("--write", "--apply", "--fix"), "rubocop": ("-a", "-A", "--autocorrect", "--autocorrect-all"),
    "standardrb": ("--fix",), "oxlint": ("--fix",), "xo": ("--fix",), "golangci-lint": ("--fix",), "tslint": ("--fix",),
    "markdownlint": ("--fix", "-f"), "shfmt": ("-w",), "php-cs-fixer": (), "phpcbf": (),
}  # fmt: skip
# (program, subcommand): options by which it only reports
_SUBCOMMANDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("cargo", "fmt"): (), ("cargo", "fix"): (), ("dotnet", "format"): ("--verify-no-changes",), ("go", "fmt"): ("-n",),
    ("terraform", "fmt"): ("-check", "-write=false", "--write=false"), ("tofu", "fmt"): ("-check", "-write=false", "--write=false"),
    ("mix", "format"): ("--check-formatted",), ("zig", "fmt"): (), ("dart", "format"): ("-onone", "--output=none", "none", "--set-exit-if-changed"),
    ("mvn", "spotless:apply"): (), ("mvnw", "spotless:apply"): (), ("gradle", "spotlessApply"): (), ("gradlew", "spotlessApply"): (),
}  # fmt: skip
_COMPARES = later(r"(?:\[\[? |\btest |if ).{0,300}\$\(\s*git (?:diff|status)")
_KEEPS = later(r"\bgit (?:commit|push|add)\b|\bgit diff\b[^\n|;&]*>")
_KEEPS_USES = later(r"commit|pull-request|patch|autofix|suggester")
_DRY = {"--dry-run", "--check", "--diff", "--exit-non-zero-on-fix", "--fix-dry-run", "-l", "--list-different"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each command that mends, unless the same check, or its job, compares the checkout afterwards."""
    for at in repo.gate:
        beside = list(_beside(repo, at))
        if any(_compares(c.argv) for other in beside for c in other.commands) or _keeps(repo, at):
            continue
        if any(_COMPARES.search(other.text) for other in beside):
            continue
        for command in at.commands:
            option = fixes(command.argv)
            if option is not None:
                path, line = place(repo.tree, at, command, option)
                words = " ".join(w for w in (command.argv[0], option) if w)
                yield Finding(
                    ID, Level.ERROR, f"{at.name}: `{words}` mends the checkout and succeeds", path, line,
                    fix=f"let {command.argv[0]} report only: without {option}" if option else "use its dry run",
                    reproduce=f"{' '.join(command.argv)}; echo $?; git diff --stat",
                )  # fmt: skip


def _beside(repo: Repository, at: Check) -> list[Check]:
    """Return the check itself, and the steps of its job where it is one of a workflow: they share a checkout."""
    job = at.name.partition(" / ")[0]
    return (
        [at] if at.is_policy else [c for c in repo.checks if c.source == at.source and c.name.startswith(f"{job} / ")]
    )


def _keeps(repo: Repository, at: Check) -> bool:
    """Return whether a job of a workflow keeps what was mended: it commits, or makes a patch or a pull request of it."""
    return not at.is_policy and any(
        _KEEPS.search(step.run) or _KEEPS_USES.search(step.uses)
        for w in repo.workflows
        for job in w.jobs
        for step in job.steps
        if w.path == at.source and at.name.startswith(f"{job.label} / ")
    )


def _compares(argv: Sequence[str]) -> bool:
    """Return whether a command fails where the checkout changed: `git diff` alone only prints."""
    if argv[:2] == ("git", "diff"):
        return bool({"--exit-code", "--quiet", "--check"} & set(argv))
    return argv[:2] == ("git", "diff-index") or any("git diff" in word or "git status" in word for word in argv)


def fixes(argv: Sequence[str]) -> str | None:
    """Return the option by which a command mends and still succeeds, empty where it always does, None where not."""
    name, words = argv[0], set(argv[1:])
    if words & _DRY:
        return None
    if name == "ruff":
        return _ruff(argv)
    if name == "black" or name == "isort":
        return "" if not words & {"--check-only", "-c", "--version", "--help"} else None
    for (program, word), reporting in _SUBCOMMANDS.items():
        if program == name and word in (argv[1:] if "spotless" in word else argv[1:2]):
            return None if words.intersection(reporting) else word
    if name not in FIXES:
        return None
    if name == "php-cs-fixer":
        return "fix" if "fix" in words else None
    return next((o for o in FIXES[name] if o in words), None if FIXES[name] else "")


def _ruff(argv: Sequence[str]) -> str | None:
    if "format" in argv[1:2]:
        return "format"
    return next((o for o in ("--fix-only", "--fix") if o in argv), None)
