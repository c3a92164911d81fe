"""Where a run's words go: lines of steps while they run, and the report at the end."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from gate import visible
from gate.errors import GateError
from gate.report import Report, Verdict, write_atomically

ON_RUNNER = "GITHUB_ACTIONS"


class Live:
    """Shows the steps' lines on the standard error while they run: a prefix each, coloured on a terminal."""

    def __init__(self, steps: Sequence[str]) -> None:
        width = max((len(name) for name in steps), default=0)
        self._colours = colours(sys.stderr)
        start, end = ("\x1b[3{}m", "\x1b[0m") if self._colours else ("", "")
        self._prefixes = {name: f"{start.format(n % 6 + 1)}{name:<{width}} │{end} " for n, name in enumerate(steps)}

    def __call__(self, step: str, lines: Sequence[str]) -> None:
        """Show lines of a step, together."""
        prefix = self._prefixes[step]
        shown = visible.lines("\n".join(lines), colours=self._colours)
        say(prefix + shown.replace("\n", f"\n{prefix}"))


def is_watched() -> bool:
    """Return whether somebody reads the standard error while it comes: a terminal, or the log of a CI service."""
    if sys.stderr is None:
        return False
    return sys.stderr.isatty() or os.environ.get("CI", "").lower() not in ("", "0", "false") or ON_RUNNER in os.environ


def say(lines: str) -> None:
    """Write lines to the standard error, where there is one: a report is worth more than who watches it come."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{lines}\n")
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def check_target(output: Path | None) -> None:
    """Raise GateError where the report could not be written later: better now than after the steps."""
    if output is not None and (not output.parent.is_dir() or output.is_dir()):
        raise GateError(f"--output: expected a file in a folder that is there, got {output}")


def write(report: Report, *, form: str, output: Path | None, repo: Path) -> None:
    """Write a report in a format to a file or to the standard output."""
    from gate.render import render  # noqa: PLC0415 nothing of it is needed while steps run

    root = root_of(repo.resolve())
    text = render(
        report, form, root=root, colour=output is None and colours(sys.stdout), proposal=_proposal(report, form, repo)
    )
    put(text, form=form, output=output)


def put(text: str, *, form: str, output: Path | None) -> None:
    """Write text of a format to a file or to the standard output, where a runner finds no command in it."""
    if output is not None:
        _to_file(output, text)
    elif os.environ.get(ON_RUNNER) == "true":
        from gate.render.github import unspoken  # noqa: PLC0415 on a runner only

        _to_stdout(unspoken(text, form))
    else:
        _to_stdout(text)


def root_of(folder: Path) -> Path:
    """Return the worktree that holds a folder, without asking git."""
    return next((f for f in (folder, *folder.parents) if (f / ".git").exists()), folder)


def _proposal(report: Report, form: str, repo: Path) -> str:
    """Return the policy that would fit a repository without one, for people to copy."""
    if report.verdict is not Verdict.UNGATED or form not in ("markdown", "comment") or not repo.is_dir():
        return ""
    from gate.init import propose  # noqa: PLC0415 rare

    return propose(repo).render()


def colours(stream: IO[str] | None) -> bool:
    """Return whether a stream is a terminal that wants colours."""
    return stream is not None and stream.isatty() and "NO_COLOR" not in os.environ


def _to_file(path: Path, text: str) -> None:
    try:
        write_atomically(path, text)
    except OSError as error:
        raise GateError(f"--output: expected a file that can be written, got {path}: {error.strerror}") from error


def _to_stdout(text: str) -> None:
    if sys.stdout is None:
        raise GateError("the report: expected a standard output, found it closed. Mend: use --output FILE")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # what is still buffered cannot be written either
        raise GateError(f"the report: it could not be written to the standard output: {error.strerror}") from error


def _drop(stream: IO[str]) -> None:
    """Let a stream lead nowhere: what it still holds cannot be written either, and would end Python in an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
