"""What every canary of the family says of itself, and the ways to put a line into a file."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol


class Level(StrEnum):
    """What a deliberate break goes wrong with; each is seen by fewer kinds of checks than the one before."""

    SYNTAX = "syntax"  # the file does not parse any more
    NAME = "name"  # it parses, and refers to a name that nobody defines, where it is loaded
    TYPE = "type"  # names are right, a type is not, in code that nobody calls
    RUN = "run"  # all that can be told without running is right; loading the file fails
    BEHAVIOUR = "behaviour"  # loading works; calling any function of the file fails


Break = Callable[[str, str], str | None]  # (text, mark) -> text with the mark in it; None: nothing there to break so


class Canary(Protocol):
    """One module of this folder: how a file of a language is broken at each level."""

    @property
    def NAME(self) -> str:
        """The language: `Python`."""

    @property
    def FILES(self) -> str:
        """Ends of file names, with a dot, and whole file names, separated by blanks: `.mk Makefile`."""

    @property
    def PROGRAMS(self) -> str:
        """Names of programs in a first line `#!`, for files whose name does not tell; often none."""

    @property
    def BREAKS(self) -> Mapping[Level, Break]:
        """The levels at which files of the language can be broken, and how."""


def at_end(lines: str) -> Break:
    """Return what puts lines at the end of a text; MARK in them stands for the mark."""

    def broken(text: str, mark: str) -> str:
        return f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{lines.replace('MARK', mark)}\n"

    return broken


def at_start(lines: str, *, after: str = "") -> Break:
    """Return what puts lines at the start of a text, behind lines that fit a pattern, such as comments."""
    head = re.compile(rf"(?:{after}[^\n]*\n)*+") if after else re.compile("")

    def broken(text: str, mark: str) -> str:
        found = head.match(text)
        at = found.end() if found else 0
        return f"{text[:at]}{lines.replace('MARK', mark)}\n{text[at:]}"

    return broken


def in_bodies(start: str, line: str) -> Break:
    """Return what puts a line at the start of each function; a line that fits the pattern `start` opens one."""
    opens = re.compile(rf"^([ \t]*)(?:{start})[ \t]*\r?$")

    def broken(text: str, mark: str) -> str | None:
        lines, found = list[str](), False
        for one in text.split("\n"):
            lines.append(one)
            if match := opens.match(one):
                step = "\t" if match[1].startswith("\t") or "\n\t" in text else "  "
                lines.append(f"{match[1]}{step}{line.replace('MARK', mark)}")
                found = True
        return "\n".join(lines) if found else None

    return broken
