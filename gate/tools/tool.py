"""What every tool of the family says of itself, and what it is told of a run."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from gate.patterns import later
from gate.tools.ask import Asker

_HEAD_BYTES = 1 << 20
_TAIL_BYTES = 4 << 20
# what may stand before a closing line: `app:test: `, `[0] `, `packages/app test: `
PREFIX = r"^(?:[^\n]{0,200}?[>|:│\]] ?)?[ \t]*"
_LABEL = later(r"(?:[\w@./-]+ [\w:.-]+: |[\w@./#-]+:[\w:.-]+: |\[[^\]\n]{1,60}\] )")
_ESCAPES = later(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


class Tool(Protocol):
    """One module of this folder."""

    __name__: str
    __file__: str | None

    @property
    def NAME(self) -> str:
        """Name in reports: `pytest`."""

    @property
    def KIND(self) -> str:
        """Kind of step: test, build, typecheck, lint; `runner` when it only starts other tools."""

    def matches(self, argv: Sequence[str], /) -> bool:
        """Return whether this command line runs the tool; argv[0] is a bare name, wrappers are gone."""

    def read(self, ran: "Ran", /) -> "Counts":
        """Return what the tool did, from its own words."""


class Invocation(NamedTuple):
    """One run of a known tool inside a step; `sure` unless it stands behind `||`, in a condition or in a loop.

    It `binds` when its failure makes the step fail; `env` is what the command line sets for it.
    """

    tool: Tool
    argv: tuple[str, ...]
    cwd: Path
    launcher: tuple[str, ...] = ()
    program: str = ""
    sure: bool = True
    binds: bool = True
    env: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The command line without the tool's name."""
        return self.argv[1:]

    def starting(self, *words: str) -> tuple[str, ...]:
        """Return a command line that starts the same tool in the same way with other words."""
        return (*self.launcher, self.program or self.argv[0], *words)


class Counts(NamedTuple):
    """What a tool did; None is "not known". `hollow` says in one sentence why nothing was verified."""

    tests: int | None = None
    files: int | None = None
    skipped: int | None = None
    failed: int | None = None
    hollow: str = ""
    note: str = ""


class Ran(NamedTuple):
    """A step after it ended: all invocations of one tool in it, and what they left behind."""

    invocations: tuple[Invocation, ...]
    output: str
    scratch: Path
    exit_code: int
    since: float = 0.0
    asker: Asker = Asker({}, until=0.0)

    def closing(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Return the tool's closing lines: the last one for each invocation, all when their number is not known."""
        found = list(pattern.finditer(self.output))
        if all(invocation.sure for invocation in self.invocations):
            return found[-len(self.invocations) :]
        return found


def per_line(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a line."""
    return later(pattern, re.MULTILINE)


def closing_line(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a line that a tool writes, whatever a runner of several tools puts before it."""
    return per_line(f"{PREFIX}(?:{pattern})")


def load_output(log: Path) -> str:
    """Return a step's output without colours and carriage returns; the middle of a huge one is left out."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            if size <= _HEAD_BYTES + _TAIL_BYTES:
                data = file.read()
            else:
                data = file.read(_HEAD_BYTES)
                file.seek(size - _TAIL_BYTES)
                data += b"\n" + file.read(_TAIL_BYTES)
    except FileNotFoundError:
        return ""
    return clean(data.decode("utf-8", "replace"))


def clean(text: str) -> str:
    """Return terminal output as plain lines."""
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    return plain.replace("\r\n", "\n").replace("\r", "\n")


def unweave(text: str) -> str:
    """Return output with the lines of each package together: runners of several write them as they come.

    A line belongs to the label before it: `packages/app test: `, `app:test: `, `[app] `; the others come first.
    """
    groups: dict[str, list[str]] = {"": []}
    for line in text.split("\n"):
        label = _LABEL.match(line)
        groups.setdefault(label[0] if label else "", []).append(line)
    return "\n".join(line for lines in groups.values() for line in lines)


def numbers(text: str) -> dict[str, int]:
    """Return the numbers in a closing line by the words behind them: `2 passed | 1 skipped`."""
    return {word: int(count) for count, word in re.findall(r"(\d+) ([a-z]+(?: [a-z]+)*)", text)}


def tally(tool: str, tests: int, *, skipped: int = 0, failed: int = 0) -> Counts:
    """Return the counts of a test run; one that executed nothing says so."""
    if tests > 0:
        return Counts(tests=tests, skipped=skipped, failed=failed)
    reason = f"{tool} executed no test: {skipped} skipped" if skipped else f"{tool} executed no test"
    return Counts(tests=0, skipped=skipped, failed=failed, hollow=reason)


def hidden(ran: Ran, pattern: re.Pattern[str]) -> int | None:
    """Return how many errors a linter's closing lines (group 1) tell although the step exits 0; None without any."""
    found = 0 if ran.exit_code else sum(int(line[1] or 0) for line in ran.closing(pattern))
    return found or None


def asked(values: Sequence[int | None]) -> int | None:
    """Return the sum of what tools answered; nothing found is only known when all of them answered."""
    found = total(values)
    return None if not found and None in values else found


def total(values: Sequence[int | None]) -> int | None:
    """Return the sum of what is known, None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
