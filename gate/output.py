"""Where a run's words go: lines of steps while they run, and the report at the end."""

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from gate.errors import GateError
from gate.report import Report, Verdict, write_atomically


class Live:
    """Shows the steps' lines on the standard error while they run: a prefix each, coloured on a terminal."""

    def __init__(self, steps: Sequence[str]) -> None:
        width = max((len(name) for name in steps), default=0)
        start, end = ("\x1b[3{}m", "\x1b[0m") if colours(sys.stderr) else ("", "")
        self._prefixes = {name: f"{start.format(n % 6 + 1)}{name:<{width}} │{end} " for n, name in enumerate(steps)}

    def __call__(self, step: str, line: str) -> None:
        """Show a line of a step."""
        say(f"{self._prefixes[step]}{line}")


def say(line: str) -> None:
    """Write a line to the standard error, where there is one: a report is worth more than who watches it come."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()


def check_target(output: Path | None) -> None:
    """Raise GateError where the report could not be written later: better now than after the steps."""
    if output is not None and (not output.parent.is_dir() or output.is_dir()):
        raise GateError(f"--output: expected a file in a folder that is there, got {output}")


def write(report: Report, *, form: str, output: Path | None, repo: Path) -> None:
    """Write a report in a format to a file or to the standard output."""
    from gate import render  # noqa: PLC0415 nothing of it is needed while steps run

    if form == "text":
        text = render.render_text(report, colour=output is None and colours(sys.stdout))
    elif form == "markdown" and report.verdict is Verdict.UNGATED:
        from gate.init import propose  # noqa: PLC0415 rare

        text = render.render_markdown(report, proposal=propose(repo).render())
    else:
        text = render.FORMATS[form](report)
    if output is not None:
        _to_file(output, text)
    else:
        _to_stdout(render.unspoken(text, form) if os.environ.get("GITHUB_ACTIONS") == "true" else text)


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
