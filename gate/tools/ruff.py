"""ruff check and ruff format: asked with `--show-files` (20 ms), which lints nothing; it warns when it found none."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Invocation, Line, Ran, asked, closing_line

NAME = "ruff"
KIND = "lint"

_NONE = closing_line(r"warning: No (?:Python )?files found under the given path")
_FORMATTED = Line(r"(\d+) files? (?:already formatted|left unchanged|reformatted|would be reformatted)")
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
    return Counts(files=files)


def _files(invocation: Invocation, ran: Ran) -> int | None:
    if "format" in invocation.argv and len(ran.invocations) == 1:
        found = _FORMATTED.findall(ran.output)
        if found:
            return sum(int(n) for n in found)
    words = [w for w in invocation.words if w not in _NOT_FOR_ASKING and not w.startswith(("--fix", "--output"))]
    words = ["check" if w == "format" else w for w in words]
    answer = ran.asker.ask(invocation.starting(*words, "--show-files"), cwd=invocation.cwd, limit_s=10)
    return None if answer is None else len(answer.split("\n")) - 1
