"""Components of Vue and Svelte: their script is broken as JavaScript is; one without a script cannot be."""

import re
from collections.abc import Callable

from gate.canaries.canary import Level

NAME = "components"
FILES = ".vue .svelte"
PROGRAMS = ""

_SCRIPT = re.compile(r"<script\b[^>]*[^/>]?>[ \t]*\n")


def _in_script(line: str) -> Callable[[str, str], str | None]:
    def broken(text: str, mark: str) -> str | None:
        found = _SCRIPT.search(text)
        return f"{text[: found.end()]}{line.replace('MARK', mark)}\n{text[found.end() :]}" if found else None

    return broken


BREAKS = {
    Level.SYNTAX: _in_script("MARK MARK"),
    Level.NAME: _in_script("MARK;"),
    Level.RUN: _in_script('JSON.parse("MARK");'),
}
