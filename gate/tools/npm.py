"""npm, pnpm, yarn, bun and what runs their scripts: here only that nothing ran, and why."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, per_line

NAME = "npm"
KIND = "runner"

_NOTHING = per_line(
    r"No projects matched the filters|None of the selected packages has a \"[^\"\n]+\" script"
    r"|No workspaces found|No packages matched the filter|Missing script: \"?[\w:.-]+\"?"
    r"|could not find any staged files|No staged files (?:found|match any configured task)"
)
_SIDE_BY_SIDE = {"concurrently", "run-p", "npm-run-all", "npm-run-all2"}
_IN_TURN = {"run-s", "lint-staged"}
_MANAGERS = {"npm", "pnpm", "yarn", "bun"}
_NO_SCRIPTS = {"ci", "install", "i", "add", "audit", "exec", "x", "dlx"}


def matches(argv: Sequence[str]) -> bool:
    """Return whether a package manager runs a script."""
    if argv[0] in _SIDE_BY_SIDE | _IN_TURN:
        return True
    if tuple(argv[:2]) == ("bun", "test"):
        return False
    return argv[0] in _MANAGERS and len(argv) > 1 and argv[1] not in _NO_SCRIPTS


def read(ran: Ran) -> Counts:
    """Return why nothing ran."""
    nothing = _NOTHING.search(ran.output)
    if nothing:
        return Counts(hollow=f"{ran.invocations[0].argv[0]} ran nothing: {nothing[0]}")
    optional = next((i for i in ran.invocations if "--if-present" in i.argv), None)
    if optional is not None:
        return Counts(hollow=f"`{' '.join(optional.argv)}` ran nothing that is known: is there such a script?")
    return Counts()
