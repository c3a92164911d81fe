"""A linter of JavaScript is configured to look for nothing."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.javascript.linters import strictness
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "lint-no-rules"
SUMMARY = (
    "ESLint with `export default []` or parts without rules, Biome with `recommended: false` and no rule, oxlint without a category,\n"
    "stylelint with `rules: {}`: they read every file and can find nothing.\n"
    "Next: switch rules on (`js.configs.recommended` of ESLint)."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each configuration without a rule, once."""
    told = set[tuple[str, int | None]]()
    for at, command, found in strictness(repo):
        where = (found.path, found.line) if found.path else place(repo.tree, at, command)
        if not found.rules and where not in told:
            told.add(where)
            yield Finding(
                ID, Level.ERROR, f"{at.name}: {found.linter} has no rule that is on", *where, fix="switch rules on",
                reproduce=f"echo 'debugger; undefined_(' > x.js; {' '.join(command.argv[:2])} x.js; rm x.js" if found.linter != "stylelint" else "npx stylelint --print-config a.css",
            )  # fmt: skip
