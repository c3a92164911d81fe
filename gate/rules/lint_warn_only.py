"""A linter only warns, and a warning fails nothing."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.javascript.linters import strictness
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "lint-warn-only"
SUMMARY = (
    "every rule that is on is set to `warn`, so the linter prints what it finds and exits 0: ESLint's rules, eslint-plugin-only-warn,\n"
    "oxlint as it is without a configuration, Biome's rules, stylelint's `defaultSeverity`.\n"
    "Next: `--max-warnings 0` (oxlint `--deny-warnings`, Biome `--error-on-warnings`), or `error` for rules that matter."
)
_MENDS = {"oxlint": "--deny-warnings", "biome": "--error-on-warnings"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each run whose findings cannot fail it, once for each configuration."""
    told = set[tuple[str, int | None]]()
    for at, command, found in strictness(repo):
        strict = "--deny-warnings" in command.argv
        where = (found.path, found.line) if found.path else place(repo.tree, at, command)
        if found.rules and not found.fails and not strict and where not in told:
            told.add(where)
            option = _MENDS.get(found.linter, "--max-warnings 0")
            why = found.why or "no rule is set to fail"
            yield Finding(
                ID, Level.WARNING, f"{at.name}: {found.linter} only warns: {why}", *where, fix=f"{option}, or `error` for rules that matter",
                reproduce=f"{' '.join(command.argv)}; echo $?",
            )  # fmt: skip
