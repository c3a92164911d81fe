"""Find `file:line` places in what tools print."""

import re

# path:line[:column]: message, as ruff, mypy, go, cargo and compilers print it; path(line,col): of tsc
_PLAIN = re.compile(r"^\s*(?:-->\s*)?([A-Za-z0-9_@][^\s:()]*\.[A-Za-z0-9]{1,6}):(\d+)(?::\d+)?:?\s*(.*)$")
_PAREN = re.compile(r"^\s*([A-Za-z0-9_@][^\s:()]*\.[A-Za-z0-9]{1,6})\((\d+),\d+\):\s*(.*)$")
_PYTHON = re.compile(r'^\s*File "([^"]+)", line (\d+)')
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def find(output: str) -> list[tuple[str, int, str]]:
    """Return (path, line, message) of each place named in an output, each place once, in order."""
    seen: dict[tuple[str, int], str] = {}
    for raw in output.splitlines():
        line = _ESCAPES.sub("", raw)
        match = _PLAIN.match(line) or _PAREN.match(line) or _PYTHON.match(line)
        if match and not match[1].startswith("/"):
            message = match[3] if match.re is not _PYTHON and match[3] else line.strip()
            seen.setdefault((match[1], int(match[2])), message[:500])
    return [(path, line, message) for (path, line), message in seen.items()]
