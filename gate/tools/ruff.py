"""ruff check and ruff format: asked with `--show-files` (20 ms), which lints nothing; it warns when it found none.

A configuration that selects no rule passes everything, so `ruff check` is asked for its settings, too.
"""

from collections.abc import Sequence

from gate.tools.tool import Counts, Invocation, Ran, asked, closing_line, hidden, per_line

NAME = "ruff"
KIND = "lint"

_NONE = closing_line(r"warning: No (?:Python )?files found under the given path")
_FORMATTED = per_line(r"(\d+) files? (?:already formatted|left unchanged|reformatted|would be reformatted)")
_ERRORS = closing_line(
    r"(?:Found (\d+) errors?\.$|Found \d+ errors? \(\d+ fixed|All checks passed!"
    r"|\d+ files? (?:already formatted|left unchanged))"
)
_NO_RULES = per_line(r"^linter\.rules\.enabled = \[\]$")
_COMMANDS = {"check", "format"}
_NOT_FOR_ASKING = {"--check", "--diff", "-q", "--quiet", "-s", "--silent", "--watch", "-w"}


def matches(argv: Sequence[str]) -> bool:
    """Return whether ruff looks at files."""
    return argv[0] == "ruff" and bool(_COMMANDS & set(argv[1:]))


def read(ran: Ran) -> Counts:
    """Return how many files ruff looked at."""
    if ran.exit_code != 0 and not _NONE.search(ran.output):
        return Counts()
    files = asked([_files(invocation, ran) for invocation in ran.invocations])
    if files == 0 or (files is None and _NONE.search(ran.output)):
        return Counts(files=0, hollow="ruff looked at no file")
    if files and any(
        "check" in i.argv and _NO_RULES.search(_ask(i, ran, "--show-settings") or "") for i in ran.invocations
    ):
        return Counts(files=0, hollow="ruff selects no rule")
    return Counts(files=files, failed=hidden(ran, _ERRORS))


def _files(invocation: Invocation, ran: Ran) -> int | None:
    if "format" in invocation.argv and len(ran.invocations) == 1:
        found = _FORMATTED.findall(ran.output)
        if found:
            return sum(int(n) for n in found)
    answer = _ask(invocation, ran, "--show-files")
    return None if answer is None else len(answer.split("\n")) - 1


def _ask(invocation: Invocation, ran: Ran, question: str) -> str | None:
    words = [w for w in invocation.words if w not in _NOT_FOR_ASKING and not w.startswith(("--fix", "--output"))]
    words = ["check" if w == "format" else w for w in words]
    return ran.asker.ask(invocation.starting(*words, question), cwd=invocation.cwd, limit_s=10)
