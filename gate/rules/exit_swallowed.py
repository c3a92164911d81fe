"""A check whose failure is not the failure of its step."""

from collections.abc import Iterator

from gate.commands.idle import does_nothing
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.swallowed import swallowed, turns_five

ID = "exit-swallowed"
SUMMARY = (
    "a check may fail and its step is green: `|| true`, another command behind it in a shell without `set -e`, `&`, an "
    "`if` that does not fail, a trap that exits 0.\n"
    "Next: let the check be the last command, or `set -e`, or keep `$?` and exit with it."
)
_WHY = {
    "||": "`{}` makes that a success", ";": "the text goes on with `{}`", "&": "nobody waits for what `&` starts",
    "&&": "in the middle of `&&` it stops nothing", "if": "the `if` that asks it goes on", "trap": "the trap exits 0",
}  # fmt: skip


def check(repo: Repository) -> Iterator[Finding]:
    """Yield what no other rule names, and steps of the policy none of whose commands can fail the step."""
    places = set[tuple[str, int | None]]()
    for found in swallowed(repo):
        places.add((found.path, found.line))
        word = found.by.split()[0]
        if word not in _WHY or found.by.startswith(("|| echo", "|| printf")) or turns_five(found.at.text):
            continue
        why = _WHY[word].format(found.by if word == "||" else found.by[2:])
        level = Level.WARNING if word in ("if", "&") else Level.ERROR
        yield Finding(
            ID, level, f"{found.at.name}: `{found.words}` may fail, and {why}", found.path, found.line,
            fix="let its failure be that of the step", reproduce=_reproduce(word),
        )  # fmt: skip
    for at in repo.gate:
        last = [c for c in at.commands if c.argv[0] not in ("set", "trap", "true", ":", "echo", "printf")]
        if at.is_policy and last and not any(c.binds for c in last) and (at.source, at.line) not in places:
            if any((s.at.name, s.at.source) == (at.name, at.source) for s in swallowed(repo)) or does_nothing(at.text):
                continue
            if all(c.lost.startswith("|| ") for c in last if not c.binds):
                yield Finding(
                    ID, Level.ERROR, f"{at.name}: no command of this step can make it fail ({last[0].lost})",
                    at.source, at.line, fix="let its failure be that of the step", reproduce="sh -c 'false || true'; echo $?",
                )  # fmt: skip


def _reproduce(word: str) -> str:
    """Return a command that shows what hides the failure, with nothing in it that the repository would do."""
    shown = {"||": "false || true", ";": "false; true", "&": "false & true", "&&": "set -e; false && true; true"}
    shown |= {"if": "if false; then :; fi", "trap": "trap 'exit 0' EXIT; false"}
    return f"sh -c {shown[word]!r}; echo $?" if "'" not in shown[word] else f'sh -c "{shown[word]}"; echo $?'
